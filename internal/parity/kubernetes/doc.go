// Package kubernetes compares berth with the real kube-scheduler, which it
// imports: a module of its own, so that whoever uses berth does not link it.
//
//   - rival runs the real scheduling cycle in process, without an API server.
//
//   - workload gives the benchmarks' objects to both sides.
//
//   - cmd/bench measures both side by side:
//
//     go run ./cmd/bench -nodes 5000
package kubernetes
