package scheduling_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// ghosts changes a snapshot at random. Some changes are rolled back, and in the middle of these, questions are asked.
type ghosts struct {
	*rapid.T
	s     *framework.Snapshot
	sched *scheduling.Scheduler
	made  int
}

func (g *ghosts) pod() *framework.PodInfo {
	g.made++
	p := drawHeldPod(g.T, fmt.Sprint("p-", g.made))
	p.Spec.Volumes = nil // several pods with one claim of one pod count in the order in which they came
	if rapid.Bool().Draw(g.T, "owned") {
		p.OwnerReferences = []api.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", Controller: new(true)}}
	}
	return made(g.s.NewPodInfo(p))
}

func (g *ghosts) change() {
	app := func() map[string]string { return map[string]string{"app": drawApp(g.T)} }
	namespace := rapid.SampledFrom([]string{"default", "default", "unused"}).Draw(g.T, "namespace")
	node := fmt.Sprint("n", rapid.IntRange(0, 3).Draw(g.T, "node"))
	switch rapid.IntRange(0, 7).Draw(g.T, "change") {
	case 0:
		put(framework.Put(g.s, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: "s"}, Spec: api.ServiceSpec{Selector: app()}}))
	case 1:
		framework.Delete[api.Service](g.s, namespace+"/s")
	case 2:
		put(framework.Put(g.s, &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: "r"}, Spec: api.ReplicaSetSpec{Selector: &api.LabelSelector{MatchLabels: app()}}}))
	case 3:
		put(framework.Put(g.s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: namespace, Labels: app()}}))
	case 4:
		if pods := g.s.Node(node).Pods; len(pods) > 0 {
			put(g.s.RemovePod(pods[0], node))
		}
	default:
		put(g.s.AddPod(g.pod(), node))
	}
}

func (g *ghosts) ask() {
	if rapid.Bool().Draw(g.T, "asked") {
		_, _ = g.sched.Schedule(g.s, g.pod())
	}
}

// rebuilt is a snapshot of the same objects that has never seen others.
func (g *ghosts) rebuilt() *framework.Snapshot {
	s := heldCluster()
	for _, o := range framework.List[api.Namespace](g.s) {
		put(framework.Put(s, o))
	}
	for _, o := range framework.List[api.Service](g.s) {
		put(framework.Put(s, o))
	}
	for _, o := range framework.List[api.ReplicaSet](g.s) {
		put(framework.Put(s, o))
	}
	for _, n := range g.s.All() {
		for _, p := range n.Pods {
			put(s.AddPod(made(s.NewPodInfo(p.Pod)), n.Name()))
		}
	}
	return s
}

// TestRolledBackChangesLeaveNothing: whatever was tried, and asked meanwhile, decisions and a Filtering that is held are
// those of a snapshot that has not seen it.
func TestRolledBackChangesLeaveNothing(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.TieRule = scheduling.ByName
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"placed": 100, "rejected": 100}, func(t *rapid.T) {
		g := &ghosts{T: t, s: heldCluster(), sched: made(scheduling.New(profile))}
		if rapid.Bool().Draw(t, "hardly any counts are kept") {
			topo.Lower(g.s)
		}
		var held *scheduling.Filtering
		var asks *framework.PodInfo
		for step := range 15 {
			if held == nil || rapid.IntRange(0, 4).Draw(t, "another question") == 0 {
				asks = g.pod()
				held = made(g.sched.Filtering(g.s, asks))
			}
			if rapid.Bool().Draw(t, "tried") {
				outer := g.s.Begin()
				g.change()
				inner := g.s.Begin()
				g.ask()
				g.change()
				g.ask()
				g.s.Rollback(inner)
				g.ask()
				g.s.Rollback(outer)
			} else {
				g.change()
			}
			if rapid.IntRange(0, 2).Draw(t, "compared") > 0 {
				continue
			}
			put(g.s.Check())
			fresh := g.rebuilt()
			other := made(scheduling.New(profile))
			f := made(other.Filtering(fresh, made(fresh.NewPodInfo(asks.Pod))))
			for _, n := range g.s.All() {
				got, want := made(held.Node(n)), made(f.Node(fresh.Node(n.Name())))
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("step %d: node %s for the held pod: %v, want %v", step, n.Name(), got, want)
				}
			}
			p := g.pod()
			got, errGot := g.sched.Schedule(g.s, p)
			want, errWant := other.Schedule(fresh, made(fresh.NewPodInfo(p.Pod)))
			if got.Node != want.Node || got.Score != want.Score || fmt.Sprint(errGot) != fmt.Sprint(errWant) {
				t.Fatalf("step %d: %s with %d (%v), want %s with %d (%v)", step, got.Node, got.Score, errGot, want.Node, want.Score, errWant)
			}
			if errGot == nil {
				seen["placed"]++
			} else {
				seen["rejected"]++
			}
		}
	})
}
