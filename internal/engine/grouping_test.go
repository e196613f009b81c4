package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/tree"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// TestExceptions lets nodes become exceptions and cease to be, zones change and shut, pods
// come and go, while two classes share trees by zone. The machine compares
// each view with what the plugins say.
func TestExceptions(t *testing.T) {
	steps := effort.Of(300, 1200)
	if testing.Short() {
		steps = 300
	}
	for _, live := range []int{oddScorer, oddScorer | zoneGate, oddScorer | zoneScorer, oddScorer | nodeGate} {
		t.Run(fmt.Sprint(live), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(live), 1))
			m := newMachine(60)
			m.live = live
			m.snap.SetNow(m.snap.Now().Add(time.Hour)) // no node is tired
			shared, raised := 0, 0
			for range steps {
				n := m.snap.At(r.IntN(m.snap.Len()))
				switch k := r.IntN(20); {
				case k < 8:
					m.odd[n.Name()] = 0
					if r.IntN(8) == 0 { // with more exceptions, nodes are asked one by one
						m.odd[n.Name()] = r.Int64N(15) - 10
					}
					m.oddLog = append(m.oddLog, n.Name())
				case k < 10:
					zone := n.Node.Labels[api.LabelTopologyZone]
					m.odd[zone] = r.Int64N(5)
					m.oddLog = append(m.oddLog, zone)
				case k == 10:
					m.zone = []string{"", "", "z1"}[r.IntN(3)]
					m.flips++
				case k < 14 && len(n.Pods) > 0:
					m.check(m.snap.RemovePodAt(n.Pods[0], n))
				case k == 14 && r.IntN(8) == 0:
					m.check(m.snap.UpdateNode(m.node(n.Name(), r.IntN(35))))
				}
				if n := m.ask(t, 2+r.IntN(2), r.IntN(m.snap.Len()), []int{1000, 1000, 1000, 5}[r.IntN(4)]); n != nil && r.IntN(15) > 0 {
					n = m.snap.AtSlot(n.Slot())
					m.check(m.snap.RemovePodAt(n.Pods[len(n.Pods)-1], n))
				}
				if c := m.engine.view.class; c != nil && c.grouping != nil && c.grouping.headroom > 0 {
					shared++
					raised += len(c.grouping.list)
				}
			}
			if live&nodeGate == 0 && (shared < steps/4 || raised < steps/4) {
				t.Errorf("%d of %d decisions in a tree with exceptions, %d of these written: the test tests too little", shared, steps, raised)
			}
		})
	}
}

// TestGroupingsMakeRoom: a base has more divisions than groupings, and its rows do not
// change. Whichever grouping makes room for which, it is by the division that was asked for.
func TestGroupingsMakeRoom(t *testing.T) {
	const n, groups = 60, 3
	o := &nodelog.Order{Slots: make([]int32, n), Place: make([]int32, n)}
	var b base
	for slot := range int32(n) {
		o.Slots[slot], o.Place[slot] = slot, slot
	}
	b.rows.nodes = make([]nodeRow, n)
	b.rows.reset(o)
	for slot := range b.rows.tree.Leaves[:n] {
		b.rows.tree.Leaves[slot] = int32(slot % 7)
		if slot%4 == 0 {
			b.rows.tree.Leaves[slot] = int32(rejected(1))
		}
	}
	b.rows.index()
	b.epoch++
	var divisions []*division
	for k := range groupingsMost + 2 {
		of := make([]int32, n)
		for slot := range of {
			of[slot] = int32((slot / (k + 1)) % groups)
		}
		d := divide(o, []incremental.Groups{{Of: of, Count: groups}})
		if d.count != groups {
			t.Fatalf("division %d has %d groups, want %d", k, d.count, groups)
		}
		divisions = append(divisions, d)
	}
	for round := range 2 {
		for k, d := range divisions {
			g := b.grouped.find(&b, d, 0)
			if g.division != d {
				t.Fatalf("round %d: find() returns a grouping by another division than %d", round, k)
			}
			if err := g.check(&b); err != nil {
				t.Errorf("round %d, division %d: %v", round, k, err)
			}
			for shut := range groups {
				g.tree.Shut[shut] = true
				want := tree.Summary{Best: tree.None}
				for slot, x := range b.rows.tree.Leaves[:n] {
					if x < 0 || int(d.of[slot]) == shut {
						continue
					}
					want.Feasible++
					if x > want.Best {
						want.Best, want.Count = x, 0
					}
					if x == want.Best {
						want.Count++
					}
				}
				if got := g.tree.Root(); got != want {
					t.Errorf("round %d, division %d, without group %d: Root() = %+v, want %+v", round, k, shut, got, want)
				}
				g.tree.Shut[shut] = false
			}
		}
	}
	if len(b.grouped.list) != groupingsMost {
		t.Errorf("the base has %d groupings, want %d", len(b.grouped.list), groupingsMost)
	}
}
