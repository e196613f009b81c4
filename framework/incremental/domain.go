package incremental

// A DomainTracker is a bound filter or scorer whose answers depend on sums over
// topology domains, such as the pods of an app in each zone. It is bound in every
// decision, and then says for which nodes the answer may differ from an earlier
// decision on the same snapshot. It must name a node for every reason but a change of
// the node itself: a sum has changed, other objects have, or, for a scorer, other
// nodes are feasible.
//
// The state of all sums that answers depend on has a version, which is a number of
// the tracker's choice: a counter that every change of a sum advances will do.
//
// Which sums answers depend on may change from one decision to the next, for instance
// if services say which pods count. Then no version of the earlier sums may equal a
// version of the present ones, and Changed must return false for each of them, even if
// answers depended on the same sums some time before.
//
// A tracker of a plugin that has no scope, or one with [framework.ReadsCluster], is not asked: all answers of such a
// plugin count as changed.
type DomainTracker interface {
	// Version identifies the sums that answers depend on, and their state.
	Version() uint64
	// Changed calls dirty with the slot of each node whose answer may differ between
	// the version since and now. A slot of no node does no harm. If it cannot tell, it
	// returns false, and every answer counts as changed.
	Changed(since uint64, dirty func(slot int)) bool
}
