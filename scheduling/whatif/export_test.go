package whatif

import "github.com/berth-sched/berth/framework"

// Decisions is how many decisions the Planner's scheduler made.
func (p *Planner) Decisions() uint64 {
	s := p.sched.Stats()
	return s.Hits + s.Misses + s.Bypassed
}

// PlaceNoneToKnowNodes makes Headroom leave open which nodes of a domain get replicas, as
// it does if there are many.
func (p *Planner) PlaceNoneToKnowNodes() { p.affordable = 0 }

// BringAtMost bounds the nodes of a choice in NodesNeeded, and what comes with them.
func (p *Planner) BringAtMost(n int) { p.comeMost = n }

// DrainCordoned is Drain with nodes that are cordoned, and whether Drain does so too.
func (p *Planner) DrainCordoned(names ...string) (d *Drain, same bool, err error) {
	d, pods, err := p.newDrain(names)
	if err != nil {
		return nil, false, err
	}
	return d, !p.likeCordon(pods), p.drainCordoned(d, pods)
}

// NodesNeededSpent is the search of NodesNeeded for one type, with nothing left to spend: the
// number of nodes, and how many pods the search wants to place.
func (p *Planner) NodesNeededSpent(pods []*framework.PodInfo, typ NodeType) (nodes, goal int, err error) {
	x := &nodeSearch{planner: p, pods: pods, types: []NodeType{typ}, tried: map[string]int{}, spent: maxSpent}
	counts, err := x.search()
	if err != nil {
		return 0, 0, err
	}
	return counts[0], x.goal, nil
}
