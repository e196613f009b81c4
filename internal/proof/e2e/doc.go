// Package e2e proves berth in a real control plane: etcd and kube-apiserver, built from
// their modules, run as child processes beside berth-scheduler. It is a module of its own,
// so that users of berth do not link it.
//
// One command starts all of it, schedules 5,000 pods of seven shapes on 500 nodes, and
// prints what was bound where and how fast:
//
//	cd internal/proof/e2e && go run ./cmd/try
//
// Another measures berth-scheduler and the stock kube-scheduler on the same API server:
//
//	go run ./cmd/beside
//
// The tests are one scenario a file, in package scenarios. The second command makes each
// as large as the promise that it proves, and takes about ten minutes:
//
//	go test ./...
//	go test ./scenarios -long -timeout 60m -v
//
// With an empty build cache, the programs are built first, which takes 8 to 10 minutes on
// two cores. go run ./cmd/try -build does only that; later starts take 3 to 8 seconds.
//
// # The control plane
//
// Package controlplane starts the programs. They listen on the loopback, on ports that the
// kernel chose, and keep their data in a temporary folder. Each has a process group of its
// own and ends with this process, however that ends (on Linux). The API server is the
// real one, with role-based rights: berth-scheduler has those of its manifests. Its token
// file, certificates and keys are made for each run. Two admission plugins are off, as no
// node controller and no service accounts are there. etcd does not wait for the disk.
//
// Nodes are objects: nothing runs on them. A scenario that needs a kubelet's or a
// controller's work does it itself, except that of volumes: for these, the real
// kube-controller-manager runs with its binder of persistent volumes.
//
// # The guard
//
// Package guard follows etcd itself, so it sees every change in order, also while the API
// server is dead. In every scenario, it fails the test if a pod with a node gets another, a
// pod is bound to a node that never was, a binding overcommits a node, or a volume or
// claim changes hands.
//
// # The stock scheduler
//
// The flag -stock runs the scenarios with kube-scheduler: they ask nothing that it does not
// do. Two things have to be pinned before the nodes of all pods can be compared. Both
// schedulers score all nodes with one worker. And kube-scheduler begins with lists
// (WatchListClient off): by default it learns of the nodes that are there in another order
// after each start, as client-go takes them from a map.
//
// # What is measured
//
// The pods wait when the scheduler starts. Pods per second are counted from the first
// binding that the guard sees to the last; CPU and memory are the scheduler's, from its
// start until it is idle. Both have the same limit of requests, high enough not to
// matter. The API server and etcd share the machine with the scheduler. Events are counted
// at the API server, as writing them costs CPU: both schedulers write one for every pod.
//
// 5,000 pods, on a machine of two cores; kube-scheduler scores all nodes with one worker, and
// puts every pod on the same node:
//
//	nodes  scheduler        pods/s  CPU s  MiB  events
//	  500  berth-scheduler     792   1.24  161    5000
//	  500  kube-scheduler      178  17.42  159    5000   4.4 times the pods/s, 1/14 of the CPU
//	 2000  berth-scheduler     863   2.57  242    5000
//	 2000  kube-scheduler      106  49.14  176    5000   8.2 times the pods/s, 1/19 of the CPU
//
// The first two rows are from one run on a machine that did other work, too. The last two are
// from before berth-scheduler bound 64 pods at once and ran on one processor: waking a second
// thread for an answer costs more than that thread saves.
//
// What berth-scheduler takes are the requests. Of the CPU at 500
// nodes, about 60 % goes into sending two requests a pod and reading the answers (HTTP/2,
// TLS), 20 % into decoding and taking in the pods, twice each, 5 % into decisions. Events leave
// the API server to bindings for up to 5 s, so a part of them is written after the last binding.
package e2e
