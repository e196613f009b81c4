// Package devices compares berth's devices with the real ones: the allocator of
// k8s.io/dynamic-resource-allocation on random clusters, and its compiler of selectors on
// random expressions.
//
// [Allocations] asks both allocators for devices on every node of a case, one claim list
// after the other, and compares what each claim gets, or the error. What a case has given
// counts for its next claims. [Selectors] compiles random expressions on both sides and
// evaluates them for random devices; what the built-in compiler refuses is counted, and
// not compared.
package devices
