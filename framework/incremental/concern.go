package incremental

import "github.com/berth-sched/berth/framework"

// A Concerned is a plugin that only pods with certain parts concern, such as pods with
// claims. Scheduling asks it less about other pods: not for their scope, nor for their part
// of the class key, and not at PreFilter, PreScore, Reserve and Unreserve. So other pods cost
// nothing for it.
//
// For a pod that has none of the parts, Scope must return the zero Scope, AppendClassKey
// append nothing, PreFilter skip the pod or bind no filter, PreScore skip it, Reserve return
// success, and [framework.ReserveDetailer] say nothing. None of them, nor Unreserve, may
// change anything for it.
//
// A request for extended resources ([framework.PartExtended]) counts only in snapshots where a
// device class stands behind one of the resources; all other parts count everywhere. In other
// snapshots, the pod is as one without the part: AppendClassKey must append nothing, Reserve
// return success, and answers depend on nothing, whatever Scope says.
//
// Unlike other interfaces, it is not found through wrappers: a wrapper that serves a point
// itself is asked about all pods, unless it has a Concern of its own. A type that embeds a plugin
// has that plugin's: if it does more about pods, it needs its own.
type Concerned interface {
	// Concern returns parts of pods. A pod with at least one of them concerns the plugin.
	// It must always return the same; 0 means that every pod concerns the plugin.
	Concern() framework.PodParts
}
