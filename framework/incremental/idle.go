package incremental

import "github.com/berth-sched/berth/framework"

// An Idler is a plugin that can tell, without being bound, that it has nothing to do
// for a pod. Scheduling asks it in place of PreFilter and PreScore while it knows from
// earlier decisions that they skipped the pods of a class.
//
// Idle must return true only if each of PreFilter and PreScore that the plugin has
// would return Skip for the cycle, whichever nodes are feasible, or PreFilter would bind a
// filter that no node fails. It may return false at
// any time, and should be much cheaper than they are. It matters only for plugins that
// read domains, the feasible nodes or the cluster: they are bound in every decision
// unless they are idle.
//
// It is found through wrappers, as by [framework.As]. A wrapper whose PreFilter or PreScore does
// more than that of the plugin it wraps must have an Idle of its own.
type Idler interface {
	Idle(c *framework.Cycle) bool
}
