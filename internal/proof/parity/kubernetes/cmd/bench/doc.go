// Bench places the same pods on the same nodes with berth and with the real
// kube-scheduler, in one process. It prints how many pods each places in a second.
//
//	go run ./cmd/bench -nodes 5000
//	go run ./cmd/bench -nodes 1000 -workloads basic,spread-hard -o json
//	go run ./cmd/bench -nodes 100000 -berth-only
//	go run ./cmd/bench -nodes 5000 -workloads preemption
//	go run ./cmd/bench -nodes 500 -workloads devices
//	go run ./cmd/bench -nodes 5000 -workloads statefulset,job,rollout,daemonset
//
// The timed part of each pod begins with the refresh of the snapshot and includes
// PreFilter, Filter and Score, the choice, and assuming the pod on its node. It
// excludes making the objects, deriving data that does not depend on the cluster,
// and the queue.
//
// The columns of kube-scheduler are: "sampled", its default, which stops when it has
// found enough nodes; "all", with every node scored, as berth does it; and
// "batched", sampled, with the one configuration that lets it reuse the answers for
// equal pods. The column "berth" takes the incremental path for pods of a known
// class (the first pods of a run are not timed). "plain" takes the reference path,
// where every plugin judges every node.
//
// "differ" counts the pods for which berth and kube-scheduler choose different
// nodes: with all nodes scored and with sampling, both from the same empty start.
// kube-scheduler has one worker here. The number must be 0.
//
// The workload preemption, which is measured only if you name it, has a table of its
// own. 10 pods of low priority fill each node, and a pod of high priority fits
// nowhere. The timed part is the search for a node, which fails, and the choice of a
// node and its victims. The figures are medians of attempts that alternate between
// the sides, after forty untimed ones. Evicting the victims and placing the pod is
// not timed. The first attempts, in which berth knows nothing of the class, are
// shown separately. "differ" counts the attempts that do not choose the same node
// and the same victims, in the same order, with every node tried.
//
// The workload devices has a table of its own, too. Each node has 8 devices, and each pod a
// claim of its own for one. The timed part is the cycle and Reserve, which gives the
// device; nothing is written. berth searches all nodes. "differ" counts as above, with
// sampling.
//
// A shape of package shapes (-workloads statefulset,job,rollout,daemonset) is measured
// with pods made fresh and the preset's own tie rule. berth's time includes the pods that
// leave for a new one, the pod's derived data with its class key, and PostFilter for a pod
// that fits nowhere. kube-scheduler's time is that of its cycle alone. "differ" counts as
// above. Shapes that need forks, another tie rule or an extender in the process are not
// measured here; the command internal/cmd/shapes has all of them.
//
// Slow columns time fewer pods than -pods: each stops after the time of -budget. The
// JSON form says how many pods were timed.
package main
