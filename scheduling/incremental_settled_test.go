package scheduling

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// settledMix is a random run of pods: most are alike, some are like no other, have long keys, fit nowhere
// or are asked about in a set of nodes; nodes come, or change.
type settledMix struct {
	*rand.Rand
	w      *longWorld
	serial int
}

// step makes the next pod, and may change the snapshot before. within may be nil.
func (m *settledMix) step() (pod *framework.PodInfo, within *NodeSet) {
	m.serial++
	switch m.IntN(200) {
	case 0:
		m.add()
	case 2:
		if nodes := m.nodes(); len(nodes) > 2 {
			if err := m.w.snap.RemoveNode(nodes[m.IntN(len(nodes))].Name()); err != nil {
				m.w.t.Fatal(err)
			}
		}
	case 1:
		nodes := m.nodes()
		for _, n := range nodes[:m.IntN(len(nodes)+1)] {
			m.w.snap.Touch(n)
		}
	}
	b := api.MakePod(fmt.Sprint("p", m.serial)).Requests("1", "1Mi")
	switch m.IntN(300) {
	case 0:
		b = longPod(m.serial, 3)
	case 1:
		b = longPod(m.serial, 80)
	case 2:
		b = b.Requests(fmt.Sprint(m.serial, "m"), "1Mi")
	case 3:
		b = b.Requests("1000", "1Mi")
	case 4:
		nodes := m.nodes()
		var err error
		if within, err = NewNodeSet(m.w.snap, nodes[:1+m.IntN(len(nodes))]); err != nil {
			m.w.t.Fatal(err)
		}
	case 5:
		b = longPod(1, 60)
	case 6, 7:
		b = longPod(1, 20)
	}
	return m.w.info(b), within
}

func (m *settledMix) nodes() (list []*framework.NodeInfo) {
	for _, n := range m.w.snap.All() {
		list = append(list, n)
	}
	return list
}

func (m *settledMix) add() {
	m.serial++
	if err := m.w.snap.AddNode(api.MakeNode(fmt.Sprint("more", m.serial), "64", "256Gi").Obj()); err != nil {
		m.w.t.Fatal(err)
	}
}

// TestSettledBalance: a balance that is not looked at while it is settled is the same after every
// decision as one that always is.
func TestSettledBalance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	for _, nodes := range []int{2, 20, 290, 310, 1000} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(nodes, late), func(t *testing.T) {
				w := lateWorld(t, nodes)
				beginsLate = late
				a, err := New(Kubernetes137())
				if err != nil {
					t.Fatal(err)
				}
				b, err := New(Kubernetes137())
				if err != nil {
					t.Fatal(err)
				}
				m := settledMix{rand.New(rand.NewPCG(uint64(nodes), 1)), w, 0}
				settled, left := 0, 0
				for range 20_000 {
					pod, within := m.step()
					b.incremental.settled = extent{}
					before := a.incremental.settled
					for _, s := range []*Scheduler{a, b} { // some pods fit nowhere
						if within == nil {
							_, _ = s.Schedule(w.snap, pod)
						} else {
							_, _ = s.ScheduleWithin(w.snap, pod, within)
						}
					}
					if got, want := a.incremental.balances, b.incremental.balances; got != want {
						t.Fatalf("pod %d: the balances are\n%+v, want\n%+v", m.serial, got, want)
					}
					switch after := a.incremental.settled; {
					case after.nodes > 0:
						settled++
					case before.nodes > 0:
						left++
					}
				}
				if settled < 5000 || left < 10 {
					t.Errorf("the balance was settled after %d decisions, and left that %d times", settled, left)
				}
			})
		}
	}
}
