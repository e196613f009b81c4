package gang_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// Annotations of Kueue that contradict each other or cannot be read are refused with the
// annotation and its value.
func TestKueueMalformed(t *testing.T) {
	const prefix = "kueue.x-k8s.io/podset-"
	labels := []string{block, rack, api.LabelHostname}
	for _, tt := range []struct {
		annotations map[string]string
		want        string
	}{
		{map[string]string{prefix + "required-topology": "zone"}, "required-topology]: \"zone\": is none of the labels"},
		{map[string]string{prefix + "required-topology": rack, prefix + "preferred-topology": rack}, "only one of required"},
		{map[string]string{prefix + "unconstrained-topology": "yes"}, "must be true or false"},
		{map[string]string{prefix + "required-topology": block, prefix + "slice-required-topology": rack}, "slice-size]: must be a number above 0"},
		{map[string]string{prefix + "required-topology": block, prefix + "slice-required-topology": "zone", prefix + "slice-size": "2"}, "is none of the labels"},
		{map[string]string{prefix + "required-topology": block, prefix + "slice-required-topology-constraints": "{"}, "cannot be read"},
	} {
		_, _, err := gang.KueueLevels(tt.annotations, labels)
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("KueueLevels(%v): %v, want an InvalidError with %q", tt.annotations, err, tt.want)
		}
	}
	levels, choice, err := gang.KueueLevels(map[string]string{
		prefix + "required-topology": block, prefix + "slice-required-topology-constraints": `[{"topology":"` + rack + `","size":4},{"topology":"` + api.LabelHostname + `","size":2}]`,
	}, labels)
	if err != nil || choice != gang.BestFit || levels[0] != (gang.Level{Key: block}) || levels[1].Slice != 4 || levels[2].Slice != 2 || levels[2].Mode != gang.Counted {
		t.Errorf("KueueLevels = %v, %v, %v", levels, choice, err)
	}
	if levels, _, err := gang.KueueLevels(nil, labels); levels != nil || err != nil {
		t.Errorf("KueueLevels without annotations = %v, %v", levels, err)
	}
	for text, want := range map[string]gang.Choice{"true": gang.LeastFree, "1": gang.LeastFree, "True": gang.LeastFree, "F": gang.BestFit} {
		_, choice, err := gang.KueueLevels(map[string]string{prefix + "unconstrained-topology": text}, labels)
		if err != nil || choice != want {
			t.Errorf("unconstrained %q: %v, %v, want %v", text, choice, err, want)
		}
	}
}

// Gangs of Koordinator: what cannot be read is refused, policies say which members count.
func TestKoordinatorGangs(t *testing.T) {
	s := racks(1)
	const prefix = "gang.scheduling.koordinator.sh/"
	pod := func(name string, kv ...string) *framework.PodInfo {
		return info(s, api.MakePod(name).Namespace("ai").Annotations(append([]string{prefix + "name", "g"}, kv...)...).Requests("1", "1Gi").Obj())
	}
	for want, p := range map[string]*framework.PodInfo{
		`min-available]: "x"`:                     pod("a", prefix+"min-available", "x"),
		`waiting-time]: "-1s"`:                    pod("a", prefix+"waiting-time", "-1s"),
		`groups]: "a,b"`:                          pod("a", prefix+"groups", "a,b"),
		`layer "moon" is unknown`:                 pod("a", prefix+"network-topology-spec", `{"gatherStrategy":[{"layer":"moon","strategy":"MustGather"}]}`),
		`strategy "Perhaps" of layer "rackLayer"`: pod("a", prefix+"network-topology-spec", `{"gatherStrategy":[{"layer":"rackLayer","strategy":"Perhaps"}]}`),
	} {
		_, err := gang.KoordinatorGangs([]*framework.PodInfo{p}, nil, []gang.KoordinatorLayer{{"rackLayer", rack}})
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want an InvalidError with %s", err, want)
		}
	}
	running := api.MakePod("old").Namespace("ai").Annotations(prefix+"name", "g", prefix+"min-available", "3").Node("r0-0").Obj()
	list, err := gang.KoordinatorGangs([]*framework.PodInfo{info(s, running), pod("b"), pod("a"), info(s, api.MakePod("alone").Obj())}, nil, nil)
	if err != nil || len(list) != 1 {
		t.Fatalf("KoordinatorGangs = %v, %v", list, err)
	}
	k := list[0]
	if g := k.Group(false); g.Min != 1 {
		t.Errorf("a gang with a bound member asks for %d members, want 1", g.Min)
	}
	k.Policy = gang.WaitingAndRunning
	if g := k.Group(false); k.Min != 3 || !k.Ready() || len(g.Present) != 1 || len(g.Pods) != 2 || g.Min != 3 {
		t.Errorf("gang %+v, group %+v", k, g)
	}
	k.Policy = gang.OnceSatisfied
	if g := k.Group(true); g.Min != 1 {
		t.Errorf("a gang that has stood asks for %d members, want 1", g.Min)
	}
	k.Policy = gang.OnlyWaiting
	if g := k.Group(false); len(g.Present) != 0 {
		t.Errorf("only-waiting counts %d members on nodes", len(g.Present))
	}
	byLabel := info(s, api.MakePod("c").Namespace("ai").Labels("pod-group.scheduling.sigs.k8s.io", "h").Obj())
	object := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "ai", Name: "h"}, Spec: api.PodGroupSpec{MinMember: 4}}
	if list, err = gang.KoordinatorGangs([]*framework.PodInfo{byLabel}, []*api.PodGroup{object}, nil); err != nil || list[0].Min != 4 || list[0].Ready() {
		t.Errorf("by label: %+v, %v", list, err)
	}
}

// A gang that is not strict keeps the pods that fit.
func TestPlaceSome(t *testing.T) {
	s := racks(1)
	g := &gang.Group{Name: "g", Pods: workers(s, 6, "1")}
	out, err := placer(gang.Rules{}).PlaceSome(s, g)
	if err != nil || out.Status != gang.Short || len(out.Placed) != 4 || len(out.Left) != 2 || len(s.Node("r0-0").Pods) != 4 {
		t.Errorf("PlaceSome = %+v, %v, with %d pods on the node", out, err, len(s.Node("r0-0").Pods))
	}
}

// The JSON form of an outcome is stable.
func TestOutcomeJSON(t *testing.T) {
	s := racks(1)
	out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: workers(s, 5, "1"), Topology: []gang.Level{{Key: rack}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(struct {
		S any
		L any
		M any
	}{out.Status, out.Left[4:], out.Best().Missing})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"S":"Short","L":[{"pod":"default/worker-4","error":"0/1 nodes are available: 1 Insufficient cpu."}],` +
		`"M":{"pods":1,"nodes":1,"resources":{"cpu":{"least":1000,"nodes":1}},"blocked":{"Insufficient cpu":1},"exact":true}}`
	if string(text) != want {
		t.Errorf("JSON %s\nwant %s", text, want)
	}
}

// A node that makes a gang fit is found, and a hundred that do not help are not.
func TestNodesFor(t *testing.T) {
	s := racks(1, 2)
	p := placer(gang.Rules{Choice: gang.BestFit})
	shape := &gang.Group{Name: "shape", Pods: workers(s, 12, "1"), Topology: []gang.Level{{Key: rack}}}
	node := func(in string) *api.Node { return api.MakeNode("new", "4", "16Gi").Labels(rack, in).Obj() }
	for _, tt := range []struct {
		rack string
		n    int
		ok   bool
	}{{"r1", 1, true}, {"r0", 2, true}, {"r9", 3, true}} {
		n, ok, err := p.NodesFor(s, shape, 1, node(tt.rack), 100)
		if err != nil || n != tt.n || ok != tt.ok {
			t.Errorf("NodesFor in %s = %d, %t, %v, want %d, %t", tt.rack, n, ok, err, tt.n, tt.ok)
		}
	}
	for _, most := range []int{0, 1, 20, math.MaxInt} {
		if _, ok, err := p.NodesFor(s, shape, 1, api.MakeNode("bare", "4", "16Gi").Obj(), most); ok || err != nil {
			t.Errorf("at most %d nodes without a rack: %t, %v, want no", most, ok, err)
		}
	}
	// A node takes 4 pods, and so do those of the racks: gangs of 12 need 3 more each.
	for gangs := 1; gangs <= 6; gangs++ {
		want := 3*gangs - 2
		for _, most := range []int{want - 1, want, want + 1, 100, math.MaxInt - 1, math.MaxInt} {
			n, ok, err := p.NodesFor(s, shape, gangs, node("r1"), most)
			if err != nil || ok != (most >= want) || ok && n != want {
				t.Errorf("NodesFor(%d gangs, at most %d) = %d, %t, %v, want %d", gangs, most, n, ok, err, want)
			}
		}
	}
	// A copy that takes one pod of a gang: as many copies as the gangs have pods.
	one := api.MakeNode("new", "1", "16Gi").Labels(rack, "r9").Obj()
	for gangs := 1; gangs <= 3; gangs++ {
		if n, ok, err := p.NodesFor(s, shape, gangs, one, math.MaxInt); err != nil || !ok || n != 12*gangs {
			t.Errorf("NodesFor(%d gangs) of small nodes = %d, %t, %v, want %d", gangs, n, ok, err, 12*gangs)
		}
	}
	if _, err := p.Capacity(s, &gang.Group{Name: "empty"}, 0); err == nil {
		t.Error("Capacity accepts a shape without pods")
	}
	if _, err := p.CapacityWith(s, shape, 0, nil, 1); err == nil {
		t.Error("CapacityWith accepts a nil node")
	}
}
