// Package shapes has the shapes of real clusters: how pods differ from each other, what
// else is in the cluster, and who leaves when somebody comes.
//
// Package workload has the eight classic workloads, whose pods differ in their names
// only. The pods of a shape differ as controllers make them differ: a StatefulSet labels
// each pod with its own name, an indexed Job with its index, a Deployment each revision
// with a hash. Every pod is a pure function of its index and is made anew each time.
//
// [Measure] brings the pods of a shape to a cluster on both paths in one run, and
// compares a sample of the decisions, outside of the time. Timed are a pod's departures, its
// [framework.PodInfo] with the class key, the decision, counting the pod on its node,
// and the question to PostFilter if it fits nowhere. Not timed is the making of the
// object, which stands for decoding it and filling its defaults.
//
// The package is for tests and benchmarks. A [World] must be used by one goroutine.
package shapes
