package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// mine is an extension that panics at its n-th call, but not in a rollback.
type mine struct {
	at   string
	left *int
}

func (m mine) Fork(*framework.Snapshot) framework.Extension { return m }
func (m mine) hit(s *framework.Snapshot, at string) {
	if m.at == at && !s.RollingBack() {
		if *m.left--; *m.left == 0 {
			panic("mine")
		}
	}
}

func (m mine) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	m.hit(s, "PodAdded")
}

func (m mine) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	m.hit(s, "PodRemoved")
}

// TestExtensionPanicsInAttempt: an extension panics in the middle of an attempt for a group;
// afterwards the snapshot is as before, and takes everything.
func TestExtensionPanicsInAttempt(t *testing.T) {
	for _, at := range []string{"PodAdded", "PodRemoved"} {
		for _, what := range []string{"Place", "Try", "Attempt", "Propose", "PlaceSet", "PlaceSome", "Preempt", "PreemptSet", "Capacity", "NodesFor"} {
			for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit} {
				for when := 1; when < 12; when++ {
					s := racks(2, 2)
					left := 0
					x := mine{at, &left}
					key := framework.NewExtensionKey(func(*framework.Snapshot) mine { return x })
					key.Of(s)
					for i, n := range s.All() {
						for k := range 2 {
							p := info(s, api.MakePod(fmt.Sprint("low", i, "-", k)).Requests("1500m", "1Gi").Priority(-5).Obj())
							if err := s.AddPod(p, n.Name()); err != nil {
								t.Fatal(err)
							}
						}
					}
					dump := func() string {
						var b strings.Builder
						for _, n := range s.All() {
							fmt.Fprint(&b, n.Name(), n.Requested, len(n.Pods), "\n")
						}
						return b.String()
					}
					before := dump()
					p := placer(gang.Rules{Choice: choice, Search: 50})
					g := &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Min: 4, Topology: []gang.Level{{Key: rack}}}
					if what == "Preempt" || what == "PreemptSet" || what == "Attempt" && when%2 == 0 {
						g.Pods = workers(s, 4, "3")
					}
					kept := false
					var err error
					func() {
						defer func() {
							if v := recover(); v != nil {
								t.Errorf("%s %s %v %d: panic: %v", at, what, choice, when, v)
							}
						}()
						left = when
						var out *gang.Outcome
						switch what {
						case "Place":
							out, err = p.Place(s, g)
						case "Try":
							_, err = p.Try(s, g)
						case "Attempt":
							var c *gang.Cycle
							if c, err = p.Attempt(s, g); err == nil {
								kept = c.Condition.Status == api.ConditionTrue
							}
						case "Propose":
							_, err = p.Propose(s, g)
						case "PlaceSet":
							var o *gang.SetOutcome
							o, err = p.PlaceSet(s, &gang.Set{Name: "s", Children: []gang.Child{g}})
							kept = err == nil && o.Status == gang.Placed
						case "PlaceSome":
							out, err = p.PlaceSome(s, g)
							kept = err == nil
						case "Preempt":
							_, err = p.Preempt(s, g)
						case "PreemptSet":
							_, err = p.PreemptSet(s, &gang.Set{Name: "s", Children: []gang.Child{g}})
						case "Capacity":
							_, err = p.Capacity(s, g, 5)
						case "NodesFor":
							_, _, err = p.NodesFor(s, g, 5, api.MakeNode("new", "4", "8Gi").Obj(), 10)
						}
						left = 0
						kept = kept || out != nil && out.Status == gang.Placed
					}()
					if !kept && dump() != before {
						t.Errorf("%s %s %v %d: the snapshot has changed (%v):\n%s\nbefore:\n%s", at, what, choice, when, err, dump(), before)
					}
					if err := s.AddNode(api.MakeNode("new", "4", "8Gi").Obj()); err != nil && !errors.Is(err, framework.ErrBroken) {
						t.Errorf("%s %s %v %d: the snapshot afterwards: %v", at, what, choice, when, err)
					} else if err != nil {
						t.Errorf("%s %s %v %d: broken: %v", at, what, choice, when, err)
					}
				}
			}
		}
	}
}

// A fickle filter rejects all nodes from one of its questions on, although it has let counts stand.
type fickle struct{ asked, from *int }

func (fickle) Name() string { return "Fickle" }

func (fickle) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (f fickle) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if *f.asked++; *f.asked >= *f.from {
		return framework.UnschedulableStatus("changed its mind")
	}
	return framework.Status{}
}

// TestRefusedWhileSlicesAreCut: of the last slice some pods find no node, so the others must leave again, and an extension
// refuses that. No pod counts that the outcome does not name.
func TestRefusedWhileSlicesAreCut(t *testing.T) {
	refused := 0
	for from := range 60 {
		s, asked, left := racks(2, 2), 0, 1
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, fickle{&asked, &from})
		sched, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		p, err := gang.New(sched, gang.Rules{Choice: gang.BestFit})
		if err != nil {
			t.Fatal(err)
		}
		framework.NewExtensionKey(func(*framework.Snapshot) mine { return mine{"PodRemoved", &left} }).Of(s)
		o, err := p.Place(s, &gang.Group{Name: "g", Min: 2, Pods: workers(s, 8, "1"), Topology: []gang.Level{{Key: rack, Mode: gang.Counted, Slice: 2}}})
		counting, want := 0, 0
		for _, n := range s.All() {
			counting += len(n.Pods)
		}
		switch {
		case err != nil:
			refused++
		case o.Status == gang.Placed:
			want = len(o.Placed)
		}
		if counting != want {
			t.Errorf("from question %d on: %d pods count, the outcome places %d (%v)", from, counting, want, err)
		}
	}
	if refused == 0 {
		t.Error("no slice was cut: the test tests nothing")
	}
}
