// Bench places the same pods on the same nodes with berth and with the real
// kube-scheduler, in one process, and prints how many pods each places in a
// second.
//
//	go run ./cmd/bench -nodes 5000
//	go run ./cmd/bench -nodes 1000 -workloads basic,spread-hard -o json
//	go run ./cmd/bench -nodes 100000 -berth-only
//	go run ./cmd/bench -nodes 5000 -workloads preemption
//
// Timed is, for each pod, from the refresh of the snapshot over PreFilter, Filter
// and Score to the choice and the assumption of the pod on its node. Making the
// objects, deriving from them what does not depend on the cluster, and the queue
// are outside.
//
// The columns of kube-scheduler are: "sampled", its default, which stops looking
// when it has found enough nodes; "all", with every node scored, as berth does it;
// and "batched", sampled, with the one configuration that lets it reuse the
// answers for equal pods. "berth" takes the road for pods of a known class (the
// first pods of a run are not timed), "plain" asks every plugin for every node.
//
// "differ" counts the pods for which berth and kube-scheduler, the latter with one
// worker, choose different nodes: with all nodes scored and with sampling, both
// from the same empty start. It must be 0.
//
// The workload preemption, which is measured only when it is named, has a table of
// its own: 10 pods of low priority fill each node, and a pod of high priority fits
// nowhere. Timed are the search for a node, which fails, and the choice of a node
// and its victims, as medians of attempts on both sides in turn, after forty that
// are not timed; the victims leave, and the pod is placed, outside the time. The
// first attempts of all, when berth knows nothing of the class, are told apart.
// "differ" counts the attempts that do not choose the same node and the same
// victims, in the same order, with every node tried.
//
// Slow columns are timed over fewer pods than -pods: each stops after the time of
// -budget. The JSON form says how many pods were timed.
package main
