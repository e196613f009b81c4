package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// everySecond scores a node otherwise in each second.
type everySecond struct{ s *framework.Snapshot }

func (everySecond) Name() string { return "EverySecond" }

func (everySecond) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsTime}
}

func (everySecond) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return everySecondBound{everySecond{c.Snapshot}}, framework.Status{}
}

func (everySecond) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

type everySecondBound struct{ everySecond }

func (p everySecondBound) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return (p.s.Now().Unix() + int64(n.Slot())) % 101
}

func (p everySecondBound) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	return p.s.Now().Truncate(time.Second).Add(time.Second)
}

// anyNode is a filter that does not say what it reads.
type anyNode struct{}

func (anyNode) Name() string { return "AnyNode" }
func (anyNode) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// seven is a scorer that does not say what it reads.
type seven struct{}

func (seven) Name() string                                        { return "Seven" }
func (seven) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 7 }

// Where plugins have to be asked about all nodes for each pod, the reference path costs less: nearly all pods take it.
// A scorer among many plugins is no reason for that. Once time stands still, kept answers are used again.
func TestPluginsAskedAboutAllNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	scorer := func(p *scheduling.Profile, s framework.Plugin) {
		p.Score = append(p.Score, scheduling.Weighted{Plugin: s, Weight: 1})
	}
	for _, tt := range []struct {
		name    string
		profile func(p *scheduling.Profile)
		seconds int // from one pod to the next
		aside   bool
	}{
		{"time goes on", func(p *scheduling.Profile) { scorer(p, everySecond{}) }, 1, true},
		{"time goes back", func(p *scheduling.Profile) { scorer(p, everySecond{}) }, -1, true},
		{"time stands still", func(p *scheduling.Profile) { scorer(p, everySecond{}) }, 0, false},
		{"a filter without a scope", func(p *scheduling.Profile) { p.Filter = append(p.Filter, anyNode{}) }, 0, true},
		{"a scorer without a scope", func(p *scheduling.Profile) { scorer(p, seven{}) }, 0, false},
		{"a scorer without a scope among few plugins", func(p *scheduling.Profile) {
			p.Filter, p.PreFilter, p.PreScore, p.Score = p.Filter[:1], nil, nil, nil
			scorer(p, seven{})
		}, 0, true},
	} {
		snap := balanceCluster(t, 500)
		snap.SetNow(time.Unix(1_700_000_000, 0))
		profile := scheduling.Kubernetes137()
		tt.profile(&profile)
		s, serial := build(t, profile), 0
		decide := func(seconds int) {
			t.Helper()
			snap.SetNow(snap.Now().Add(time.Duration(seconds) * time.Second))
			serial++
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", "1Gi").Obj())); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 {
			decide(tt.seconds)
		}
		before := s.Stats().Hits
		const decisions = 1000
		for range decisions {
			decide(tt.seconds)
		}
		if hits := int(s.Stats().Hits - before); tt.aside != (hits < decisions/5) {
			t.Errorf("%s: %d of %d pods were answered from kept answers", tt.name, hits, decisions)
		}
		if tt.seconds == 0 {
			continue
		}
		before = s.Stats().Hits
		for range decisions {
			decide(0)
		}
		if hits := int(s.Stats().Hits - before); hits < decisions*8/10 {
			t.Errorf("%s, and stops: %d of %d pods were answered from kept answers", tt.name, hits, decisions)
		}
	}
}
