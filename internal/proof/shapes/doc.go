// Package shapes has the shapes of real clusters: how pods differ from each other, what
// else is in the cluster, and who leaves when somebody comes.
//
// Package workload has the eight classic workloads, whose pods differ in their names
// only. The pods of a shape differ as controllers make them differ: a StatefulSet labels
// each pod with its own name, an indexed Job with its index, a Deployment each revision
// with a hash. Every pod is a pure function of its index and is made anew each time.
//
// [Measure] brings the pods of a shape to a cluster on both paths in one run, and
// compares a sample of the decisions, outside of the time. Timed are a pod's departures, its
// [framework.PodInfo] with the class key, the decision, counting the pod on its node,
// and the question to PostFilter if it fits nowhere. Not timed is the making of the
// object, which stands for decoding it and filling its defaults.
//
// # Figures
//
// How many times as many pods berth places per second as kube-scheduler 1.37.1 beside it, with
// 5,000 nodes, in one run of "go run ./cmd/bench -workloads
// statefulset,job,bare,rollout,rolloutspread,cron,terms,distinct" in
// internal/proof/parity/kubernetes. Under "sample" kube-scheduler looks at a sample of the
// nodes, its default; under "all" it scores all, as berth does:
//
//	shape                                              sample         all
//	StatefulSets; indexed Jobs                         875; 703       7767; 6509
//	bare pods; CronJobs                                808; 775       6663; 6143
//	rolling updates; half of them spread by revision   671; 1172      5413; 3864
//	thousands of selectors                             557            1142
//	requests of its own for each pod                   8              70
//	500 nodes with 8 GPUs each, a claim for every pod
//	(-workloads devices)                               1175 to 1270   1848 to 2633
//
// Beside berth's own reference path, in one run of "go run ./internal/cmd/shapes -nodes 5000":
//
//	shape                                                            us a pod       reference path
//	equal pods; rule First, Random, Heap                             1.2, 1.6, 1.4  124 to 141
//	StatefulSets, indexed Jobs, bare pods, CronJobs                  1.3, 1.5, 1.2, 1.6  133 to 144
//	50 Deployments; rolling updates                                  2.5; 1.5       140; 138
//	rolling updates, half of them spread by revision                 3.3            232
//	a fork for every 11 pods                                         3.2            139
//	DaemonSet pods                                                   1.5            19
//	ten tenants, a PreFilter names the tenant's 500 nodes            4.3            89
//	one pod nominated; a full cluster                                1.4; 1.8       211; 1030
//	100 nodes with a nominated pod each                              7.8            245
//	an extender in the process                                       47             1064
//	default spreading of 50 Deployments; of 1,000 in 500 namespaces  37; 14         400; 362
//	thousands of selectors; requests of its own for each pod         17; 144        194; 136
//	a pool of 40 nodes with GPUs; one pod in ten fits nowhere        2.8; 1.8       170; 185
//	OpenB, 1,213 nodes                                               8.6            56
//
// In a later run of these two alone, in which the fork shape took 5.8 us a pod:
//
//	one scheduler for two clusters in turn                           109            272
//	a fork for every pod, of one of the last 20 forks                375            340
//
// Where a plugin must be asked about all nodes for each pod, kept answers step aside. In three runs beside other work, the
// reference path took 0.6 to 0.9 times as long for a scorer whose answers run out every second (expiring), and 0.7 to 0.9
// times for a filter that does not say what it reads (unscoped).
//
// Machine: 2 cores of an AMD EPYC, Go 1.26.
//
// The package is for tests and benchmarks. A [World] must be used by one goroutine.
package shapes
