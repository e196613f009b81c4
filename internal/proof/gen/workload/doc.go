// Package workload makes the clusters and pods of the project's benchmarks.
//
// Every object is a pure function of an index: node i of any cluster, its pod before
// the benchmark starts, and pod i of a workload. So every run, and every system in a
// comparison, sees the same objects.
//
// A cluster of n nodes has the nodes Node(0) to Node(n-1), each with two pods of its
// own: InitPod(j, n) for j from 0 to 2n-1 is placed on node j mod n. Then the pods
// of one workload arrive, one after the other.
//
//	for i := range n {
//		nodes = append(nodes, workload.Node(i))
//	}
//	for j := range 2 * n {
//		placed = append(placed, workload.InitPod(j, n))
//	}
//	for i := range m {
//		pods = append(pods, workload.Pod(workload.SpreadHard, i))
//	}
//
// The package is for tests and benchmarks. Objects share nothing with each other,
// and several goroutines may call all functions.
package workload
