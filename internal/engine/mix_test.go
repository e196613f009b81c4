package engine

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestZoneFlips shuts and opens zones beside each kind of live scorer, with another score
// for each zone.
func TestZoneFlips(t *testing.T) {
	for _, scorers := range []int{
		nodeScorer, zoneScorer, listScorer, objectScorer, zoneScorer | nodeScorer,
	} {
		for _, live := range []int{scorers, scorers | zoneGate} {
			m := newMachine(40)
			m.snap.SetNow(m.snap.Now().Add(time.Hour))
			m.bias["z0"], m.bias["z1"], m.bias["z2"] = 3, 5, 9
			m.live, m.zone = live, "z1"
			for i := range 40 {
				m.ask(t, 0, 0, 1000)
				if i%3 == 2 {
					m.zone = []string{"z0", "z1", "z2", ""}[i/3%4]
					m.flips++
				}
			}
		}
	}
}

// TestSampleLeavesOut: nodes that a scorer leaves out of its range score 0 in a sample,
// whatever their raw score.
func TestSampleLeavesOut(t *testing.T) {
	m := newMachine(40)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = nodeScorer
	for _, n := range m.snap.All() {
		m.bias[n.Name()] = int64(3 + n.Slot()%7)
		m.log = append(m.log, n.Name())
	}
	for i := range 20 {
		m.ask(t, 0, i, 9)
	}
}

// Version and Changed track the scores of the zones, so the scorer is asked again only if
// these or the feasible nodes have changed.
func (x groupedScorer) Version() uint64 {
	return 1 + uint64(x.m.bias["z0"]+100*x.m.bias["z1"]+10000*x.m.bias["z2"])
}

// Changed cannot tell which nodes.
func (x groupedScorer) Changed(uint64, func(int)) bool { return false }

// TestGroupGetsNode: a group without feasible nodes gets one while the scorer's version
// stays.
func TestGroupGetsNode(t *testing.T) {
	for _, live := range []int{zoneScorer, zoneScorer | zoneGate} {
		m := newMachine(12)
		m.snap.SetNow(m.snap.Now().Add(time.Hour))
		m.live = live
		m.bias["z0"], m.bias["z1"], m.bias["z2"] = 3, 5, 9
		m.zone = "z1"
		for i := range 40 {
			m.ask(t, 0, 0, 1000)
			if i%3 == 2 {
				m.zone = []string{"z0", "z1", "z2", ""}[i/3%4]
				m.flips++
			}
		}
	}
}

// TestManyNodesChange: classes of one base follow all rows that changed, also if they are
// too many to be looked at one by one.
func TestManyNodesChange(t *testing.T) {
	for _, live := range []int{0, nodeGate, nodeScorer, zoneScorer | oddScorer, allLive} {
		m, r := newMachine(40), rand.New(rand.NewPCG(uint64(live), 1))
		m.live = live
		for i := range 120 {
			for _, place := range r.Perm(m.snap.Len())[:r.IntN(4*few)] {
				n := m.snap.At(place)
				if len(n.Pods) > r.IntN(3) {
					m.check(m.snap.RemovePod(n.Pods[0], n.Name()))
					continue
				}
				m.serial++
				p, err := m.snap.NewPodInfo(m.pod(m.serial, 0))
				m.check(err)
				m.check(m.snap.AddPodAt(p, n))
			}
			m.ask(t, i%2, 0, 1000)
		}
		if hits := m.engine.stats.Hits; hits < 100 {
			t.Errorf("live %b: %d hits, want 100 or more", live, hits)
		}
	}
}
