// Package scheduling is the entry point of berth. Give it a profile of plugins and a
// snapshot of a cluster, and it says where each pod goes, and why.
//
//	sched, err := scheduling.New(scheduling.Kubernetes137())
//	...
//	d, err := sched.Place(snapshot, pod) // choose, count the pod, reserve
//	fmt.Println(d.Node, d.Score)
//
// # A decision
//
// The PreFilter plugins of the [Profile] prepare, the filters select the feasible
// nodes, and the scorers rank them. Every score is normalized to [0,100], checked,
// and multiplied by its weight. The [TieRule] chooses among the nodes with the
// highest total. [Scheduler.Schedule] stops there and changes nothing.
// [Scheduler.Place] also counts the pod on its node and runs the Reserve plugins,
// all or nothing.
//
// If no node is feasible, the error is a [*FitError] with kube-scheduler's familiar
// text: "0/3 nodes are available: ...".
//
// # Why
//
// [Scheduler.Explain] gives an answer for every node: the plugin that rejected it
// and the reasons, or its raw, normalized and weighted scores, its rank, and how the
// tie was broken. The answer is data, JSON or a table.
// Scheduler.ExplainAll adds every other plugin that rejects a node, and the numbers
// behind its answer.
//
// # Two paths, one answer
//
// The reference path asks every plugin about every node. It is short, and it defines
// the right answer. The incremental path keeps answers from pod to pod
// (internal/engine); the scheduler takes it whenever it can. It agrees with the
// reference path in every decision and score. [CacheConfig] can switch it off, or
// run both paths and compare them.
//
// # Why did a decision take the reference path?
//
// It always does with [CacheConfig].Off, with very large weights, without nodes, and for a
// pod whose class has a key of more than 16 KiB. [Stats].Bypassed counts what the engine
// finds out when it is asked: the pod is the first of a new base, the budget is too small
// ([CacheConfig].Budget), a PreFilter or PreScore says no, or a plugin panicked, left its
// bounds, or broke what its scope declares. Where kept answers have cost more than they
// saved, it also counts most pods until they pay again: for pods that are like none before
// them, that come only twice, that have keys of more than 1 KiB, or between changes of
// nodes. These are also a scheduler's first pods, 25 to 100 of them, or more if plugins are few
// or searches end after a few nodes: what few decisions save is less than it costs to begin. Reasons found
// before or after that are not counted. A nominated pod has a PreFilter that says no, a filter
// fails for a node with its nominated pods, or an extender refuses a whole sample or wants nodes
// scored as if they were empty. Or the cluster is so small that nothing can be saved: one node,
// 5 nodes for a profile of few plugins, 20 for one of a few filters alone. The page of
// internal/engine lists them all, each with its place in the code.
//
// # A thousand what-ifs
//
// "Where would these pods go if that node were gone?" To ask many such questions of one
// snapshot, open a transaction for each, or fork the snapshot for each if nodes come, go
// or change:
//
//	for _, victim := range running {
//		mark := snapshot.Begin()
//		err := snapshot.RemovePod(victim, node)
//		d, err := sched.Place(snapshot, pending)
//		...
//		snapshot.Rollback(mark)
//	}
//
// One scheduler answers for the snapshot and all its forks. A question costs what it
// changes: nodes that are the same in two forks keep their verdicts and scores. A plugin that
// counts other pods is asked about the nodes whose counts differ, if it is an
// [incremental.ForkTracker], as the plugins of Kubernetes about affinity and spreading are, and
// otherwise about every node once. Decide about one pod on the snapshot before you fork it. Then
// its forks share what plugins keep in it, such as counts of pods.
//
// To ask in several goroutines, give each a fork of the snapshot and a fork of the
// scheduler ([Scheduler.Fork]), which starts from the kept answers.
//
// # Determinism
//
// Equal profiles, seeds, snapshots and sequences of calls give equal decisions on
// any machine and at any parallelism. Every decision has a number. The only random
// word is a function of the seed and that number.
//
// # What it leaves to you
//
// The package does not watch a cluster, bind pods or read a clock. The packages
// below it hold the other parts of a scheduler:
//
//	queue         which pod is next, and when a pod is worth another attempt
//	preemption    room for a pod of high priority
//	lifecycle     a whole scheduler: events in, bindings out
//	virtualclock  a day of a simulated cluster in the time of its decisions
//	config, args  KubeSchedulerConfiguration files and the arguments of plugins
//	extender      kube-scheduler's HTTP extenders, both sides
//	gang          many pods together or not at all, and where
//	multicluster  which clusters take how many replicas, then which nodes
//	workload      the pods that Deployments and their like stand for
//	whatif        what fits, why not, what would help, what if
//	simulate      a cluster on a virtual clock, day after day
//	observe       slog and expvar
//	kube          a real cluster through client-go, a module of its own
//
// # Words
//
//	reference path    asks every plugin about every node; defines the right answer
//	incremental path  decides from kept answers, and gives the same answer
//	class             pods whose parts that plugins read are equal (equivalence class)
//	base              kept answers of the plugins that read one node only; classes share it
//	row               a base's answer for one node: its score, or why it is rejected
//	place             the position of a node in the snapshot's order
//	slot              the index of a node in the snapshot; stays while the node does
//	generation        number of a node's content; equal numbers in any fork mean equal content
//	scope             what a plugin declares its answers depend on
//	snapshot          the cluster at one moment, with the pods counted on its nodes
//	fork              a cheap copy of a snapshot that changes on its own
//	transaction       changes to a snapshot that are committed or rolled back together
//	extension         state of a plugin in the snapshot; forks and transactions cover it
//	ledger            Koordinator's assign cache: assigned pods that no metric shows yet
//	verdict           the answer of the filters for one node
//	rejection         a verdict of no, with the plugin and its reasons
//	score             raw from a plugin, then normalized to [0,100], then weighted
//	tie rule          how one of several nodes with the highest total is chosen
//	decision          the chosen node, its score and its number
//	nomination        a node that preemption reserves for a pod that does not fit yet
//	binding           a pod's steps from its chosen node to PostBind
//
// # Concurrency
//
// One goroutine at a time may use a [Scheduler], as with the snapshot that it is
// given. Give each goroutine a [Scheduler.Fork] and a fork of the snapshot.
//
// Source: kube-scheduler 1.37.1, schedule_one.go and framework/runtime, with one
// worker. Each deviation is documented in its place, under "Differs:".
package scheduling
