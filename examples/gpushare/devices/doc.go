// Package devices is a family of plugins that share GPUs among pods. It stands outside of
// the library and uses only what everybody can import, so it is a model for plugins of
// your own that hold state.
//
//	typical := devices.TypicalPods(demands, 0.95)
//	workload, err := devices.NewWorkload(typical)
//	gpus := devices.New(devices.Config{Choose: devices.LeastFragmentation{Workload: workload}})
//	sched, err := scheduling.New(scheduling.Profile{
//		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, devices.GPUShare{GPUs: gpus}},
//		Score:   []scheduling.Weighted{{Plugin: devices.FGD{GPUs: gpus, Workload: workload}}},
//		Reserve: []framework.Plugin{devices.GPUShare{GPUs: gpus}},
//	})
//	d, err := sched.Place(snapshot, pod)
//	d.Reserved // "gpu 3"
//
// # Parts
//
//	GPUs            knows which pods hold which GPUs; its state is in the snapshot
//	GPUShare        filters nodes, and tells which GPUs a pod has got
//	Choice          picks the GPU for a share: Tightest, AnyGPU, LeastFragmentation
//	FGD             fragmentation gradient descent: the node where placing hurts least
//	BestFit         the node that has least left afterwards
//	DotProd         the node whose free resources point away from the pod's
//	GpuPacking      GPUs in use before free GPUs, free GPUs before idle nodes
//	GpuClustering   nodes whose pods ask for as many GPUs
//	Random          any feasible node
//	FirstFit        all nodes alike, so the tie rule decides
//	Fragmentation   the measure itself, a plain function
//
// Each scorer has its formula as a function: give it what is free and what is asked, and
// no scheduler is needed.
//
// # What pods and nodes say
//
// A pod asks for GPUs by annotations, as in the simulator of the OpenB trace: gpu-count
// and, of each GPU, gpu-milli in thousandths; gpu-card-model lists accepted models, such
// as "V100M16|V100M32". Without these annotations the extended resources gpu-count, or gpu,
// and gpu-milli count, as with device plugins: gpu-count is a number of GPUs, and gpu-milli
// is the sum of all their thousandths, so gpu-milli: 460 alone is a share of one GPU.
//
// A pod that is bound to a node says in gpu-index which GPUs it has there, such as "0-2",
// and counts as it says. The gpu-index of a pending pod is checked and otherwise ignored.
//
// A node says how many GPUs it has in the allocatable resource gpu-count or gpu, or by
// gpu-milli, a thousand for each GPU. All names begin with [Config].Vendor.
//
// # FGD
//
// A GPU with 300 thousandths left is of no use if pods ask for 500. Fragmentation gradient
// descent (FGD) measures this, and places each pod where it grows least.
//
// Let the typical pods m of a workload come with the frequencies p(m). The fragmentation
// of a node n is what a typical pod is expected to be unable to use of its free GPUs:
//
//	F(n) = sum over m of  p(m) * unusable(n, m)
//
//	unusable(n, m) = all that is free on the GPUs of n   if m does not fit n, or asks for no GPU
//	                 what is free on GPUs with too little  if m fits n
//
// The pod q goes to the node and the GPU with the highest score
//
//	score(n, q) = 100 / (1 + exp((F(n with q) - F(n)) / 1000)),  rounded down
//
// so 50 is "no change", and pods are drawn to the holes that nothing else fits. Many nodes
// have equal scores, and the rule that breaks the ties matters as much as the score: run
// with -ties. If the first node in a fixed order is taken, FGD gives out 95.2 % of the GPUs
// once as much has been asked for as there is. If one of the best nodes is drawn, it gives
// out 89.9 %, less than best fit. First fit in a fixed order, without any score, gives out
// 94.3 %.
//
// # What it leaves to you
//
// Writing the annotation gpu-index to the pod that is bound: [Assigned] hands the choice
// to your PreBind plugin. The scheduler and its tie rule; see package scheduling.
//
// # Determinism
//
// A GPU is chosen where a pod comes to a node, for whatever reason, by a function of the
// pod and the node as they are then. A pod that left and is put back before another pod
// comes gets the GPUs that it had, so preemption can try nodes without some pods. Random
// choices depend on seeds and names alone.
//
// # Concurrency
//
// Plugins, GPUs and Workloads are read only once made, and goroutines may share them.
//
// # Cost
//
// Placing a pod copies what is known of its node, some hundred bytes. A score takes less
// than a microsecond, also for FGD, and allocates nothing. FGD has keys of nodes
// ([incremental.NodeKeyer]), because its score is a sum over all typical pods and many nodes
// of a cluster are equal.
//
// Source: the policies of "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent" (USENIX ATC 2023) and its published simulator.
package devices
