// Package devices compares berth's devices with the real ones: the plugin DynamicResources
// in its scheduler, its allocator alone, and its compiler of selectors.
//
// [Plugin] takes series of pods through the plugin on random clusters: claims of their own,
// shared claims, claims in use, claims made from templates, extended resources. It compares
// PreEnqueue, PreFilter, Filter with what each node would give, PostFilter, Score,
// NormalizeScore, Reserve and what PreBind writes. What a pod has got counts for the next.
// The original frees one of several claims at random; then berth's must be among those that
// 48 tries returned.
// A third of the cases have what clusters have seldom: odd taints and operators, pools of several
// generations, amounts that cannot be represented.
//
// [Allocations] asks both allocators for devices on every node of a case, one claim list
// after the other, and compares what each claim gets, or the error. What a case has given
// counts for its next claims. [Selectors] compiles random expressions on both sides and
// evaluates them for random devices; what the built-in compiler refuses is counted, and
// not compared.
//
// # What is not compared
//
// Searches that take too long for one side are counted and left out. If binding has to wait
// for conditions, the devices stay in flight instead. The same holds for what berth does
// otherwise on purpose: extended resources that the node offers beside claims. Of several bad
// things, the order of a map decides which one the original names first, so no case has two of
// one kind. No pod names a claim twice. Scores by devices of extended resources are compared
// with the recorded cases only.
package devices
