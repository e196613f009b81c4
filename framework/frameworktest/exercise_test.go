package frameworktest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// What a plugin never does is fine with a reason, and only with one.
func TestUnexercised(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		unexercised map[frameworktest.Exercise]string
		want        string // "" for no failure
	}{
		{nil, "nodes that it rejected = 0"},
		{map[frameworktest.Exercise]string{frameworktest.Rejects: "it is a stub"}, ""},
		{map[frameworktest.Exercise]string{frameworktest.Ranks: "it is a stub"}, "nodes that it rejected = 0"},
		{map[frameworktest.Exercise]string{frameworktest.Rejects: " "}, "Config.Unexercised[Rejects] = \"\", want a reason"},
		{map[frameworktest.Exercise]string{"Sings": "it is a stub"}, `a key of Config.Unexercised = "Sings", want an Exercise`},
	} {
		err := frameworktest.Check(filterFunc(yes), frameworktest.Config{Clusters: 2, Unexercised: test.unexercised})
		if test.want == "" {
			if err != nil {
				t.Errorf("Unexercised %v: %v", test.unexercised, err)
			}
			continue
		}
		var f *frameworktest.Failure
		if !errors.As(err, &f) || f.Check != "exercise" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Unexercised %v: %v, want %s", test.unexercised, err, test.want)
		}
	}
}

// The author's labels and annotations are on nodes and pods, in every value,
// also on those that come later.
func TestSprinkled(t *testing.T) {
	t.Parallel()
	quays := filterFunc(func(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
		if p.Pod.Labels["quay"] != n.Node.Labels["quay"] || p.Pod.Annotations["berth"] != n.Node.Annotations["berth"] {
			return framework.UnschedulableStatus("another quay")
		}
		return framework.Status{}
	})
	full := framework.FieldLabels | framework.FieldAnnotations
	words := map[string][]string{"quay": {"north", "south"}}
	berths := map[string][]string{"berth": {"1", "2"}}
	c := frameworktest.Config{Clusters: effort.Of(4, 8), Labels: words, Annotations: berths}
	if err := frameworktest.Check(declare(quays, full, framework.ReadsNode), frameworktest.Config{Clusters: effort.Of(6, 24)}); err == nil {
		t.Error("without its labels, the filter was exercised")
	}
	if err := frameworktest.Check(declare(quays, full, framework.ReadsNode), c); err != nil {
		t.Error(err)
	}
	for _, fields := range []framework.PodFields{framework.FieldLabels, framework.FieldAnnotations} {
		if f := checkOnly(t, "scope", declare(quays, fields, framework.ReadsNode), c); f == nil {
			t.Errorf("a Scope with only the parts %b passes", fields)
		}
	}
	if f := checkOnly(t, "scope", declare(quays, full, 0), c); f == nil {
		t.Error("a Scope without the node passes")
	}
}

// Parts are also swapped between pods: a part that says nothing by itself, and
// nothing where it is absent, matters on another pod.
func TestSwappedParts(t *testing.T) {
	t.Parallel()
	config := frameworktest.Config{Clusters: effort.Of(3, 6), Generate: func(seed uint64) *api.Objects {
		o := frameworktest.Cluster(seed)
		for _, p := range o.Pods {
			p.Annotations = map[string]string{"self": p.Name}
			p.Labels = map[string]string{"self": p.Name}
			p.Spec.NodeSelector = map[string]string{"self": p.Name}
		}
		return o
	}}
	for field, of := range map[framework.PodFields]func(p *api.Pod) string{
		framework.FieldLabels:      func(p *api.Pod) string { return p.Labels["self"] },
		framework.FieldAnnotations: func(p *api.Pod) string { return p.Annotations["self"] },
		framework.FieldNodeChoice:  func(p *api.Pod) string { return p.Spec.NodeSelector["self"] },
	} {
		stolen := filterFunc(func(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
			name := strings.TrimSuffix(strings.TrimPrefix(p.Pod.Name, "again-"), "-2")
			if self := of(p.Pod); self != "" && self != name {
				return framework.UnschedulableStatus("stolen")
			}
			return framework.Status{}
		})
		f := checkOnly(t, "scope", declare(stolen, framework.FieldIdentity, 0), config)
		if f == nil || !strings.Contains(f.What, "of another pod, which Scope leaves out") {
			t.Errorf("a filter that reads part %b beside the name fails with %v", field, f)
		}
		if f := checkOnly(t, "scope", declare(stolen, framework.FieldIdentity|field, 0), config); f != nil {
			t.Errorf("the true scope fails: %v", f)
		}
	}
}

// A panic is reported once, by the method that panicked, however many checks
// meet it.
func TestPanicsOnce(t *testing.T) {
	t.Parallel()
	score := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return min(100, pods(n)) })
	for method, p := range map[string]framework.Plugin{
		"NormalizeScore":  ranged{score, func(_, _, _ int64) int64 { panic("range") }},
		"NormalizeScores": listed{score, func([]*framework.NodeInfo, []int64) { panic("list") }},
		"Score":           scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { panic("score") }),
		"Filter":          filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status { panic("filter") }),
		"PreFilter": preFilterFunc(func(*framework.Cycle) (framework.PreFiltered, framework.Status) {
			panic("prefilter")
		}),
		"PreScore": preScoreFunc(func(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
			panic("prescore")
		}),
		"Scope":   scopedBy{score, func(*framework.PodInfo) framework.Scope { panic("scope") }},
		"Reserve": panicsInReserve{},
	} {
		err := frameworktest.Check(p, frameworktest.Config{Clusters: 3})
		list, ok := err.(interface{ Unwrap() []error })
		if !ok || len(list.Unwrap()) != 1 {
			t.Errorf("a panic in %s is reported as\n%v\nwant one failure", method, err)
			continue
		}
		var f *frameworktest.Failure
		if want := "a call of " + method; !errors.As(err, &f) || f.What != want || !strings.HasPrefix(f.Got, "a panic: ") {
			t.Errorf("a panic in %s is reported as %v, want %s", method, err, want)
		}
	}
}

type panicsInReserve struct{ reservesNothing }

func (panicsInReserve) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	panic("reserve")
}
