// Package scheduling is the door of berth: give it a profile of plugins and a
// snapshot of a cluster, and it says where each pod goes, and why.
//
//	sched, err := scheduling.New(scheduling.Kubernetes137())
//	...
//	d, err := sched.Place(snapshot, pod) // choose, count the pod, reserve
//	fmt.Println(d.Node, d.Score)
//
// # A decision
//
// The PreFilter plugins of the [Profile] prepare, the filters leave the
// feasible nodes, the scorers rank them, every score is normalized to [0,100],
// checked and multiplied by its weight, and among the nodes with the highest
// total the [TieRule] chooses. [Scheduler.Schedule] stops there and changes
// nothing; [Scheduler.Place] goes on to count the pod on its node and to run
// the Reserve plugins, all or nothing.
//
// When no node is feasible the error is a [*FitError] with the text that
// kube-scheduler's users know: "0/3 nodes are available: ...".
//
// # Why
//
// [Scheduler.Explain] answers for every node: which plugin rejected it and with
// which words, or its raw, normalized and weighted scores, its rank, and how the
// tie was broken; as data, as JSON, or as a table.
//
// # Two roads, one answer
//
// The plain road asks every plugin about every node (plain.go); it is short,
// and it is the definition of the right answer. The fast road keeps answers
// from pod to pod (internal/engine) and is taken whenever it can be. It agrees
// with the plain road in every decision and score; [Fast] can switch it off,
// or have both taken and compared.
//
// # Determinism
//
// Equal profiles, seeds, snapshots and sequences of calls give equal decisions
// on any machine and at any parallelism. Every decision has a number, and the
// only random word is a function of the seed and that number.
//
// # What it leaves to you
//
// It does not watch a cluster, bind pods or read a clock. What else a scheduler
// needs is in rooms of their own below this one:
//
//	queue         which pod is next, and when a pod is worth another attempt
//	preemption    room for a pod of high priority
//	lifecycle     a whole scheduler: events in, bindings out
//	virtualclock  a day of a simulated cluster in the time of its decisions
//	config, args  KubeSchedulerConfiguration files and the arguments of plugins
//	extender      kube-scheduler's HTTP extenders, both sides
//	multicluster  which clusters take how many replicas, then which nodes
//	observe       slog and expvar
//
// # Concurrency
//
// A [Scheduler] is used by one goroutine at a time, like the snapshot it is
// given; make one per goroutine from the same profile, and fork the snapshot.
//
// Source: kube-scheduler 1.37.1, schedule_one.go and framework/runtime, with
// one worker. Each deviation is documented where it is made, under "Differs:".
package scheduling
