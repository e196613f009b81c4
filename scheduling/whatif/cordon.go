package whatif

import "slices"

// likeCordon reports whether these pods see no difference between a node with a cordon and
// one that [cordons] holds. A change of a node costs much more: what is known of every other
// node has to be looked at again.
func (p *Planner) likeCordon(pods []running) bool {
	sched, err := p.plain()
	return err == nil && !slices.ContainsFunc(pods, func(x running) bool { return !sched.CordonRejectsOnly(x.pod) })
}
