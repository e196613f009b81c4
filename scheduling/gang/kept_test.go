//go:build full

package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A group keeps to one domain of a Preferred level if that is possible, although more than
// one would be as good for its pods.
func TestPreferredIsTried(t *testing.T) {
	for _, choice := range []gang.Choice{gang.BestFit, gang.MostPacked, gang.LeastFree} {
		for _, unequal := range []bool{false, true} {
			s := racks(1, 1, 2)
			pods := workers(s, 6, "1")
			if unequal {
				pods[5] = info(s, api.MakePod("other").Requests("2", "1Gi").Obj())
			}
			out, err := placer(gang.Rules{Choice: choice}).Try(s, &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: rack, Mode: gang.Preferred}}})
			if err != nil || out.Status != gang.Placed || len(out.Domain) != 1 || out.Domain[0].Value != "r2" {
				t.Errorf("%v, unequal %t: Try = %v in %v, %v, want rack r2", choice, unequal, out.Status, out.Domain, err)
			}
		}
	}
}

// Domains of one snapshot are not those of another, which has as many nodes in other racks.
func TestDomainsOfTwoOrigins(t *testing.T) {
	p := placer(gang.Rules{Choice: gang.BestFit})
	for k := range 2 {
		var nodes []*api.Node
		for i := range 8 { // first the two halves, then odd and even
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "1", "8Gi").Labels(rack, fmt.Sprint("r", []int{i / 4, i % 2}[k])).Obj())
		}
		s := cluster(nodes)
		out, err := p.Place(s, &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Topology: []gang.Level{{Key: rack}}})
		if err != nil || out.Status != gang.Placed {
			t.Fatalf("snapshot %d: Place = %v, %v", k, out.Status, err)
		}
		for _, x := range out.Placed {
			if in := s.Node(x.Node).Node.Labels[rack]; in != out.Domain[0].Value {
				t.Errorf("snapshot %d: node %s is in rack %s, the group in %s", k, x.Node, in, out.Domain[0].Value)
			}
		}
	}
}

// LeastFree fills small domains first, for unequal pods, too; the others large ones.
func TestLeastFreeOfUnequalPods(t *testing.T) {
	for choice, want := range map[gang.Choice]string{gang.LeastFree: "r0-0", gang.BestFit: "r1-0"} {
		s := racks(1, 2)
		pods := append(workers(s, 1, "2"), info(s, api.MakePod("other").Requests("1", "1Gi").Obj()))
		out, err := placer(gang.Rules{Choice: choice}).Try(s, &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: rack, Mode: gang.Counted}}})
		if err != nil || out.Status != gang.Placed || out.Placed[0].Node[:2] != want[:2] {
			t.Errorf("%v: Try = %+v, %v, want the first pod in the rack of %s", choice, out.Placed, err, want)
		}
	}
}

// A domain with just as many places as pods is not ruled out.
func TestPlacesJustSuffice(t *testing.T) {
	small := api.MakeNode("n0", "8", "16Gi").Labels(rack, "r0").Allocatable("pods", "2").Resource("pods", "2").Obj()
	for n, want := range map[int]gang.Status{2: gang.Placed, 3: gang.Short} {
		s := cluster([]*api.Node{small})
		var pods []*framework.PodInfo
		for i := range n {
			pods = append(pods, info(s, api.MakePod(fmt.Sprint("p-", i)).Requests(fmt.Sprint(i+1), "1Gi").Obj()))
		}
		out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: rack}}})
		if err != nil || out.Status != want {
			t.Errorf("%d pods for 2 places: %v, %v, want %v", n, out.Status, err, want)
		}
		if bound := out.Best().Bound; want == gang.Short && bound != "has places for 2 of 3 pods" {
			t.Errorf("bound %q", bound)
		}
	}
}

// A limit stops the count, by counts and pod by pod. AtMost is what the resources bound.
func TestCountIsStopped(t *testing.T) {
	s := racks(2) // 8 CPUs
	leader := func(name string) []*framework.PodInfo {
		return []*framework.PodInfo{info(s, api.MakePod(name+"-leader").Requests("2", "1Gi").Obj()), info(s, api.MakePod(name+"-worker").Requests("1", "1Gi").Obj())}
	}
	for _, tt := range []struct {
		pods  []*framework.PodInfo
		limit int
		want  gang.Count
	}{
		{workers(s, 2, "1"), 0, gang.Count{Fits: 4, AtMost: 4, Exact: true, Anywhere: 4}},
		{workers(s, 2, "1"), 3, gang.Count{Fits: 3, AtMost: 3, Exact: true, Anywhere: 3, Stopped: true}},
		{workers(s, 2, "1"), 4, gang.Count{Fits: 4, AtMost: 4, Exact: true, Anywhere: 4}},
		{leader("a"), 0, gang.Count{Fits: 2, AtMost: 2, Exact: true, Anywhere: 2}},
		{leader("b"), 1, gang.Count{Fits: 1, AtMost: 2, Anywhere: 1, Stopped: true}},
	} {
		got, err := placer(gang.Rules{Choice: gang.BestFit}).Capacity(s, &gang.Group{Name: "g", Pods: tt.pods}, tt.limit)
		if err != nil || got != tt.want {
			t.Errorf("%s, limit %d: Capacity = %+v, %v, want %+v", tt.pods[0].Pod.Name, tt.limit, got, err, tt.want)
		}
	}
}

// Each copy of a node has a hostname of its own, whatever the node says.
func TestCopiesHaveHostnames(t *testing.T) {
	s := racks(1)
	node := api.MakeNode("new", "4", "16Gi").Labels(rack, "r0", api.LabelHostname, "new").Obj()
	shape := &gang.Group{Name: "g", Pods: workers(s, 8, "1"), Topology: []gang.Level{{Key: api.LabelHostname}}}
	got, err := placer(gang.Rules{Choice: gang.BestFit}).CapacityWith(s, shape, 0, node, 2)
	if err != nil || got.Fits != 0 {
		t.Errorf("CapacityWith = %+v, %v: 8 CPUs are on no node", got, err)
	}
}

// Explanations speak of room only if room was refused.
func TestMissingRoom(t *testing.T) {
	for _, tt := range []struct {
		cpu      string
		cordoned bool
		nodes    int
	}{{"1", false, 1}, {"1", true, 0}, {"5", false, 0}} {
		n := api.MakeNode("n0", "4", "16Gi").Labels(rack, "r0").Obj()
		n.Spec.Unschedulable = tt.cordoned
		s := cluster([]*api.Node{n})
		out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: workers(s, 5, tt.cpu), Topology: []gang.Level{{Key: rack}}})
		if err != nil || out.Status != gang.Short {
			t.Fatal(out, err)
		}
		if m := out.Best().Missing; strings.Contains(out.Text, "Missing room") != (tt.nodes > 0) || m.Nodes > 0 != (tt.nodes > 0) {
			t.Errorf("cordoned %t, %s CPUs: %+v, %s", tt.cordoned, tt.cpu, m, out.Text)
		}
	}
}

// NodesFor names what is wrong with a question, even if the answer needs no node.
func TestNodesForRefuses(t *testing.T) {
	s := racks(1)
	shape := &gang.Group{Name: "g", Pods: workers(s, 2, "1")}
	node := api.MakeNode("new", "4", "16Gi").Obj()
	for _, tt := range []struct {
		shape       *gang.Group
		gangs, most int
		node        *api.Node
		want        string
	}{
		{shape, -1, 10, node, `gangs: "-1": must not be negative`},
		{shape, 1, -2, node, `most: "-2": must not be negative`},
		{nil, 0, 10, node, "group: is nil"},
		{nil, 1, 10, node, "group: is nil"},
		{shape, 0, 10, nil, "node: is nil"},
	} {
		_, _, err := placer(gang.Rules{Choice: gang.BestFit}).NodesFor(s, tt.shape, tt.gangs, tt.node, tt.most)
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NodesFor: %v, want an InvalidError with %s", err, tt.want)
		}
	}
	if _, err := placer(gang.Rules{}).PlaceSet(s, &gang.Set{Name: "e"}); err == nil || err.Error() != "set e: children: must not be empty" {
		t.Errorf("PlaceSet of an empty set: %v", err)
	}
}

// Annotations of Kueue about slices have their meaning, or are errors.
func TestKueueSlices(t *testing.T) {
	const prefix = "kueue.x-k8s.io/podset-"
	const many, single, size = prefix + "slice-required-topology-constraints", prefix + "slice-required-topology", prefix + "slice-size"
	labels := []string{block, rack, api.LabelHostname}
	for _, tt := range []struct {
		annotations map[string]string
		want        string // of the error
	}{
		{map[string]string{size: "2"}, `slice-size]: "2": may only be set together with`},
		{map[string]string{prefix + "required-topology": block, size: "2"}, `slice-size]: "2": may only be set together with`},
		{map[string]string{many: `[{"topology":"example.com/rack","size":2}]`, size: "2"}, `slice-size]: "2": may only be set together with`},
		{map[string]string{many: `[{"topology":"example.com/rack","size":4},{"topology":"kubernetes.io/hostname","size":3}]`}, "do not divide the slices of 4"},
		{map[string]string{many: `[{"topology":"example.com/rack","size":2},{"topology":"kubernetes.io/hostname","size":4}]`}, "do not divide the slices of 2"},
		{map[string]string{many: `[{"topology":"example.com/rack","size":2},{"topology":"example.com/rack","size":4}]`}, `two layers have the label "example.com/rack"`},
		{map[string]string{many: `[]`}, "must have 1 to 3 layers"},
		{map[string]string{many: `null`}, "must have 1 to 3 layers"},
		{map[string]string{prefix + "required-topology": rack, single: block, size: "2"}, `slice-required-topology]: "example.com/block": slices of "example.com/block" do not fit`},
	} {
		_, _, err := gang.KueueLevels(tt.annotations, labels)
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("KueueLevels(%v): %v, want an InvalidError with %q", tt.annotations, err, tt.want)
		}
	}
	one, _, err1 := gang.KueueLevels(map[string]string{single: rack, size: "2"}, labels)
	same, choice, err2 := gang.KueueLevels(map[string]string{many: `[{"topology":"example.com/rack","size":2}]`}, labels)
	if err := errors.Join(err1, err2); err != nil || fmt.Sprint(one) != fmt.Sprint(same) || len(same) != 3 || same[1] != (gang.Level{Key: rack, Mode: gang.Counted, Slice: 2}) || choice != gang.LeastFree {
		t.Errorf("slices alone: %v and %v, %v, %v", one, same, choice, err)
	}
}

// The pods of a gang of Koordinator agree, or the error names who does not.
func TestKoordinatorPodsAgree(t *testing.T) {
	const prefix = "gang.scheduling.koordinator.sh/"
	s := racks(1)
	pod := func(name string, kv ...string) *framework.PodInfo {
		b := api.MakePod(name).Annotations(prefix+"name", "g").Requests("1", "1Gi")
		for i := 0; i < len(kv); i += 2 {
			b = b.Annotations(prefix+kv[i], kv[i+1])
		}
		return info(s, b.Obj())
	}
	first := pod("a", "min-available", "2", "waiting-time", "60s")
	layers := []gang.KoordinatorLayer{{"blockLayer", block}, {"rackLayer", rack}}
	for _, tt := range []struct {
		pods []*framework.PodInfo
		want string
	}{
		{[]*framework.PodInfo{first, pod("b", "min-available", "junk")}, `pod default/b: metadata.annotations[` + prefix + `min-available]: "junk": must be a number`},
		{[]*framework.PodInfo{first, pod("b", "min-available", "1")}, `pod default/b: metadata.annotations[` + prefix + `min-available]: "1": pod default/a of the gang has "2"`},
		{[]*framework.PodInfo{first, pod("b", "waiting-time", "2m")}, `pod default/b: metadata.annotations[` + prefix + `waiting-time]: "2m": pod default/a of the gang has "60s"`},
		{[]*framework.PodInfo{first, pod("b", "mode", "bogus")}, `mode]: "bogus": must be Strict or NonStrict`},
		{[]*framework.PodInfo{first, pod("b", "match-policy", "bogus")}, `match-policy]: "bogus": must be`},
		{[]*framework.PodInfo{first, pod("b", "groups", `["x"]`)}, `"x" is not "namespace/name"`},
		{[]*framework.PodInfo{pod("a")}, `pod default/a: metadata.annotations[` + prefix + `min-available]: neither a pod`},
	} {
		_, err := gang.KoordinatorGangs(tt.pods, nil, layers)
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("KoordinatorGangs: %v\nwant an InvalidError with %s", err, tt.want)
		}
	}
	list, err := gang.KoordinatorGangs([]*framework.PodInfo{pod("c"), first, pod("b", "waiting-time", "1m", "min-available", "02")}, nil, nil)
	if err != nil || len(list) != 1 || list[0].Min != 2 || list[0].Waiting != time.Minute || len(list[0].Pods) != 3 {
		t.Errorf("KoordinatorGangs of pods that agree = %+v, %v", list, err)
	}
	list, err = gang.KoordinatorGangs([]*framework.PodInfo{pod("a", "min-available", "0"), pod("b")}, nil, nil)
	if err != nil || list[0].Min != 0 || !list[0].Ready() || list[0].Group(false).Min != 1 {
		t.Errorf("a minimum of 0: %+v, %v", list, err)
	}
	// Layers come in their own order, and what is above one that must gather gathers.
	list, err = gang.KoordinatorGangs([]*framework.PodInfo{pod("a", "min-available", "1", "network-topology-spec", `{"gatherStrategy":[{"layer":"blockLayer","strategy":"PreferGather"},{"layer":"rackLayer","strategy":"MustGather"}]}`)}, nil, layers)
	if err != nil || fmt.Sprint(list[0].Levels) != "[{example.com/block Required 0} {example.com/rack Required 0}]" {
		t.Errorf("levels %v, %v", list, err)
	}
}
