package whatif

// Decisions is how many decisions the Planner's scheduler made.
func (p *Planner) Decisions() uint64 {
	s := p.sched.Stats()
	return s.Hits + s.Misses + s.Bypassed
}

// PlaceNoneToKnowNodes makes Headroom leave open which nodes of a domain get replicas, as
// it does if there are many.
func (p *Planner) PlaceNoneToKnowNodes() { p.affordable = 0 }

// DrainCordoned is Drain with nodes that are cordoned, and whether Drain does so too.
func (p *Planner) DrainCordoned(names ...string) (d *Drain, same bool, err error) {
	d, pods, err := p.newDrain(names)
	if err != nil {
		return nil, false, err
	}
	return d, !p.likeCordon(pods), p.drainCordoned(d, pods)
}
