// Package rival runs the scheduling cycle of the real kube-scheduler in process.
//
// A [Scheduler] is kube-scheduler's own, with its plugins, its profile and its
// cache, but without an API server: nodes and pods are put into the cache
// directly, and what a decision needs besides them comes from a fake client.
// Schedule does what kube-scheduler does with one pod from the moment it leaves
// the queue to the moment it is assumed on a node: refresh the snapshot, PreFilter
// to Score, choose the node, assume the pod in the cache. Place runs Reserve and
// Permit, too, Release takes that back, and MakeRoom is preemption. Binding is
// left out.
//
//	s, err := rival.New(ctx, rival.Options{Percentage: 100})
//	...
//	s.AddNode(node)
//	p, err := s.Prepare(pod)
//	...
//	result, err := s.Schedule(p)
//
// [Scheduler.Answer] fills a cluster from a case and asks everything that a recorded
// answer holds.
//
// Results are those of a real kube-scheduler with the same configuration; at
// Parallelism 1 they are the same on every run, above it the feasible nodes that
// sampling finds, and the order of equals, depend on the race of its workers. A
// Scheduler is used by one goroutine at a time. The library's own logs are turned
// off for the whole process.
package rival
