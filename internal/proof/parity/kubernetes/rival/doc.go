// Package rival runs the scheduling cycle of the real kube-scheduler in process.
//
// A [Scheduler] is kube-scheduler's own, with its plugins, its profile and its
// cache, but without an API server. Nodes and pods go directly into the cache, and
// all other objects come from a fake client. Schedule does the work of
// kube-scheduler for one pod from the moment it leaves the queue to the moment it is
// assumed on a node: refresh the snapshot, PreFilter to Score, choose the node,
// assume the pod in the cache. Place also runs Reserve and Permit, Release undoes
// that, and MakeRoom is preemption. Binding is left out.
//
//	s, err := rival.New(ctx, rival.Options{Percentage: 100})
//	...
//	s.AddNode(node)
//	p, err := s.Prepare(pod)
//	...
//	result, err := s.Schedule(p)
//
// [Scheduler.Answer] fills a cluster from a case and computes every part of a
// recorded answer.
//
// Results equal those of a real kube-scheduler with the same configuration. At
// Parallelism 1 they are the same on every run. Above it, the feasible nodes that
// sampling finds, and the order of equals, depend on the race of its workers. Only
// one goroutine at a time may use a Scheduler. The library's own logs are turned off
// for the whole process.
package rival
