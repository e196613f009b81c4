package incremental

import "github.com/berth-sched/berth/framework"

// A SelectiveGate is a [queueing.PreEnqueuePlugin] that keeps out only pods with certain
// parts, such as pods with claims. Other pods that wait because they fail alike can then
// return to the queue together, unless another gate may keep one of them out.
//
// Like [Concerned], it is not found through wrappers.
//
// [queueing.PreEnqueuePlugin]: https://pkg.go.dev/github.com/berth-sched/berth/framework/queueing#PreEnqueuePlugin
type SelectiveGate interface {
	// Gates returns parts of pods. PreEnqueue must return success for a pod that has none of
	// them. It must always return the same; 0 means that every pod may be kept out.
	Gates() framework.PodParts
}
