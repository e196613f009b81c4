// Package simulate runs a cluster on a virtual clock, day after day, with the real
// scheduler in it: pods arrive, wait, run, end and are evicted; controllers make them
// again; nodes come, fail and are bought.
//
//	trace, err := simulate.FromObjects(objects)
//	result, err := simulate.Run(ctx, simulate.Config{
//		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
//		Trace:    trace,
//	})
//	fmt.Println(result.Waits[0].P95)
//	err = result.WritePods(file) // CSV: the history of every pod
//
// # Time
//
// A [Trace] is what happens from outside: objects that come, change and go. Two
// annotations say when a pod of a dump arrives, and how long it runs once it is bound:
// berth-sched.github.io/arrival and berth-sched.github.io/run-time. A run ends at
// Config.Until, or six minutes (Config.MaxUnschedulable and one more) after the last event, arrival or
// end of a pod. By then every pod that waits has been tried once more. Bindings and evictions do not
// count, so pods that preempt one another may still do so.
//
// # What happens inside
//
// Package lifecycle schedules: queue, backoff, preemption and all. Workloads of the trace
// (Deployment, ReplicaSet, ReplicationController, StatefulSet, Job, DaemonSet) keep their
// number of pods: a pod that is evicted, ends or loses its node is made again under a new
// name. The pods of a StatefulSet come in the order of their numbers, each a second after all those before it have got
// their nodes, and go in the opposite order once all others run, unless its podManagementPolicy is Parallel. Of the pods
// with replicas that run, those end first that have the least deletion cost, then those on nodes with most of their like,
// then the youngest. A new template is that of later pods only, so nothing is rolled out; and nobody renews the status of a PodDisruptionBudget. A pod without a controller
// that is evicted, or loses its node, waits again, unless it belongs
// to its node, as those of DaemonSets do. Pods that are being deleted go when they must. A
// DaemonSet's pod stays on a node whose labels or taints no longer admit it, and a taint with the
// effect NoExecute evicts nobody. An
// [Autoscaler] adds and removes nodes. Reports of use for load-aware plugins come from
// Config.Usage.
//
// Controllers of claims work at once. The claims of ephemeral volumes come with their pod, and go with it. A claim for
// a volume is bound when its first pod is, or when it comes if its class says Immediate: to the free volume that was
// found for it, or to a new one of the provisioner, as in package whatif. A claim for devices lists its pods as long as
// they are there. Without pods it gives its devices back; one that a pod owns goes with the pod.
//
// # Traces of real days
//
// [ReadTrace] and [Trace.Write] read and write JSON lines; a [Recorder] writes them from
// a scheduler that works, or from a run (Config.Recorder). [Replay] runs a trace again and
// compares the decisions with the recorded ones, one by one; package simulatetest does so
// in your tests.
//
//	{"trace":"berth/1","start":"2030-01-01T00:00:00Z"}
//	{"at":"0s","apply":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}, ...}}
//	{"at":"1m30s","apply":{"kind":"Pod", ...}}
//	{"at":"1m30s","decision":{"pod":"default/web","node":"n1"}}
//	{"at":"2h0m0s","delete":{"kind":"Node","name":"n1"}}
//
// A recorded trace has "recorded":true in its first line: it holds every pod that came and
// went, and a run of it makes none; see Trace.Recorded. Its lines may also say how many
// attempts and evictions at the same time an event follows ("after"), that a pod went so
// long after it was evicted ("evicted"), and that the scheduler looked for a pod to try
// although nothing had happened ("wake").
//
// # What it leaves to you
//
// There is no network, no file and no randomness of its own: arrivals and run times are
// in the trace. Containers do not start, pull images or fail.
//
// # Determinism and concurrency
//
// The same configuration gives the same result, byte for byte. Everything of a run
// happens in one goroutine; RunAll runs several at once.
//
// Differs: which of several pods ends that run, and whose deletion cost and nodes tell nothing apart.
// Original: kube-controller-manager compares their ages on a logarithmic scale, and then UIDs.
// Here: the youngest ends.
// Why: the UIDs of pods that a simulation makes mean nothing.
//
// Differs: what becomes of a volume whose claim has gone with its pod.
// Original: it is deleted, or stays Released until somebody frees it, as its reclaim policy says.
// Here: a volume that the simulation made is deleted; others stay, and no other claim gets them.
// Why: objects of package api have no reclaim policy, and neither kind can be used again.
//
// Differs: claims of a class that binds at once, and has free volumes.
// Original: the volume controller binds a claim to the smallest free volume that matches.
// Here: such a claim stays unbound, so its pods wait; without free volumes of its class it gets a new one.
// Why: a dump has such claims only while they are being bound.
//
// # Cost
//
// About twenty microseconds for a pod that comes, runs and ends.
package simulate
