package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// TestExceptions lets nodes become exceptions and cease to be, zones change and shut, pods
// come and go, while two classes share trees by zone. The machine compares
// each view with what the plugins say.
func TestExceptions(t *testing.T) {
	steps := 1200
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
					m.turns++
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
