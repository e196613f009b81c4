package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// list reads name, text, name, text, ... as a resource list.
func list(pairs ...string) resource.List {
	l := resource.List{}
	for i := 0; i < len(pairs); i += 2 {
		l[resource.Name(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// failer is the common interface of tests, benchmarks and property checks.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func podInfo(tb failer, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	tb.Helper()
	info, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// snapshotOf returns a snapshot of the nodes and of the pods assigned to one.
func snapshotOf(tb failer, nodes []*api.Node, pods ...*api.Pod) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range nodes {
		if err := s.AddNode(n); err != nil {
			tb.Fatal(err)
		}
	}
	for _, p := range pods {
		if err := s.AddPod(podInfo(tb, s, p), p.Spec.NodeName); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// verdicts runs a filter plugin over all nodes, as a profile would. If PreFilter
// does not succeed, there are none.
func verdicts(c *framework.Cycle, p framework.Plugin) ([]framework.Status, framework.PreFiltered, framework.Status) {
	var bound framework.PreFiltered
	if pre, ok := p.(framework.PreFilterPlugin); ok {
		var status framework.Status
		if bound, status = pre.PreFilter(c); !status.IsSuccess() {
			return nil, bound, status
		}
	} else {
		bound.Filter = p.(framework.FilterPlugin)
	}
	var list []framework.Status
	for _, n := range c.Snapshot.All() {
		if bound.Filter == nil {
			list = append(list, framework.Status{})
			continue
		}
		list = append(list, bound.Filter.Filter(c.Pod, n))
	}
	return list, bound, framework.Status{}
}

// texts returns statuses as "Code: reason, reason".
func texts(statuses []framework.Status) []string {
	list := make([]string, len(statuses))
	for i, s := range statuses {
		list[i] = s.String()
	}
	return list
}

// wantVerdicts compares the verdicts for all nodes, as text.
func wantVerdicts(t *testing.T, s *framework.Snapshot, p framework.Plugin, pod *api.Pod, want ...string) {
	t.Helper()
	info := podInfo(t, s, pod)
	var c framework.Cycle
	c.Reset(info, s, 0, 0)
	got, _, status := verdicts(&c, p)
	if !status.IsSuccess() {
		t.Fatalf("PreFilter of %s = %v, want Success", p.Name(), status)
	}
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Errorf("verdicts of %s (-want +got):\n%s", p.Name(), diff)
	}
	if alone, ok := p.(framework.FilterPlugin); ok { // without preparation
		i := 0
		for _, n := range s.All() {
			if verdict := alone.Filter(info, n).String(); verdict != want[i] {
				t.Errorf("%s.Filter(pod, %s) = %s, want %s", p.Name(), n.Name(), verdict, want[i])
			}
			i++
		}
	}
}

// wantPreFilter compares the status and the restriction of PreFilter.
func wantPreFilter(t *testing.T, s *framework.Snapshot, p framework.PreFilterPlugin, pod *api.Pod, want string, restrict bool, nodes ...string) {
	t.Helper()
	var c framework.Cycle
	c.Reset(podInfo(t, s, pod), s, 0, 0)
	bound, status := p.PreFilter(&c)
	if got := status.String(); got != want {
		t.Errorf("PreFilter of %s = %s, want %s", p.Name(), got, want)
	}
	if diff := cmp.Diff(nodes, bound.NodeNames); diff != "" || (bound.NodeNames != nil) != restrict {
		t.Errorf("PreFilter of %s restricts: %v, want %v (-want +got):\n%s", p.Name(), bound.NodeNames != nil, restrict, diff)
	}
}
