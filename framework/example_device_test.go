package framework_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A part is what a pod holds of a GPU: percent of the GPU of that number.
type part struct {
	pod          string
	gpu, percent int
}

// gpuParts knows which parts are held on each node. Every pod that comes to a node
// gets its part here, so it does not matter who brought it.
var gpuParts = framework.NewNodeStateKey(framework.NodeHooks[[]part]{
	PodAdded: func(held []part, n *framework.NodeInfo, p *framework.PodInfo) ([]part, bool) {
		percent := number(p.Pod.Annotations["gpu-percent"])
		if percent == 0 {
			return held, false
		}
		gpu := number(p.Pod.Annotations["gpu"]) - 1 // a pod that is bound says which one it has
		if gpu < 0 {
			gpu = chooseGPU(held, n, percent)
		}
		if gpu < 0 {
			return held, false // it was put where it does not fit: it holds nothing
		}
		return append(slices.Clip(held), part{p.Pod.Key(), gpu, percent}), true // a new slice: forks share the old one
	},
	PodRemoved: func(held []part, _ *framework.NodeInfo, p *framework.PodInfo) ([]part, bool) {
		i := partOf(held, p)
		if i < 0 {
			return held, false
		}
		return slices.Delete(slices.Clone(held), i, i+1), true
	},
})

// chooseGPU returns the fullest GPU of the node that has so much left, the first of
// several, or -1. It is the one place where a GPU is chosen.
func chooseGPU(held []part, n *framework.NodeInfo, percent int) int {
	best, least := -1, 101
	for gpu := range number(n.Node.Labels["gpus"]) {
		left := 100
		for _, h := range held {
			if h.gpu == gpu {
				left -= h.percent
			}
		}
		if percent <= left && left < least {
			best, least = gpu, left
		}
	}
	return best
}

func partOf(held []part, p *framework.PodInfo) int {
	return slices.IndexFunc(held, func(h part) bool { return h.pod == p.Pod.Key() })
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // a real plugin reports what it cannot read
	return n
}

// GPUShare gives pods parts of GPUs.
type GPUShare struct{}

func (GPUShare) Name() string { return "GPUShare" }

// Scope makes it fast: what a NodeState holds for a node counts as ReadsPods.
func (GPUShare) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldAnnotations, Reads: framework.ReadsNode | framework.ReadsPods}
}

func (GPUShare) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	percent := number(c.Pod.Pod.Annotations["gpu-percent"])
	if percent == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: gpuFilter{gpuParts.Of(c.Snapshot), percent}}, framework.Status{}
}

type gpuFilter struct {
	parts   framework.NodeState[[]part]
	percent int
}

func (f gpuFilter) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if chooseGPU(f.parts.Get(n), n, f.percent) < 0 {
		return framework.UnschedulableStatus("node(s) had no GPU with enough left")
	}
	return framework.Status{}
}

// assignedGPU takes the choice to PreBind, which writes it to the pod.
var assignedGPU = framework.NewKey[int]("GPU of the pod")

// Reserve finds the choice made: the node counts the pod already.
func (GPUShare) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	if number(c.Pod.Pod.Annotations["gpu-percent"]) == 0 {
		return framework.Status{}
	}
	held := gpuParts.Of(c.Snapshot).Get(n)
	i := partOf(held, c.Pod)
	if i < 0 {
		return framework.UnschedulableStatus("node(s) had no GPU with enough left")
	}
	assignedGPU.Set(c, held[i].gpu)
	return framework.Status{}
}

// Unreserve has nothing to give back: the part goes with the pod.
func (GPUShare) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// Reserves says which GPU the pod has, or would get; decisions and explanations show it.
func (GPUShare) Reserves(s *framework.Snapshot, p *framework.PodInfo, n *framework.NodeInfo) string {
	held := gpuParts.Of(s).Get(n)
	percent := number(p.Pod.Annotations["gpu-percent"])
	if i := partOf(held, p); i >= 0 {
		return fmt.Sprintf("%d %% of gpu %d", held[i].percent, held[i].gpu+1)
	}
	gpu := number(p.Pod.Annotations["gpu"]) - 1
	if gpu < 0 {
		gpu = chooseGPU(held, n, percent)
	}
	if percent == 0 || gpu < 0 {
		return ""
	}
	return fmt.Sprintf("%d %% of gpu %d", percent, gpu+1)
}

func (GPUShare) PreBind(_ context.Context, c *framework.Cycle, _ string) framework.Status {
	if gpu, ok := assignedGPU.Get(c); ok {
		fmt.Println("annotate", c.Pod.Pod.Name, "with gpu", gpu+1)
	}
	return framework.Status{}
}

// A device plugin makes its choice in the hook of a NodeState, where pods come by
// however they came: running, placed, nominated, or put back by a preemption.
func ExampleNodeState() {
	s := framework.NewSnapshot(framework.Arrival)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	pod := func(name string, priority int32, annotations ...string) *framework.PodInfo {
		p, err := s.NewPodInfo(api.MakePod(name).Priority(priority).Annotations(annotations...).Obj())
		must(err)
		return p
	}
	must(s.AddNode(api.MakeNode("n", "8", "32Gi").Labels("gpus", "2").Obj()))
	running := pod("running", 0, "gpu-percent", "60", "gpu", "2")
	must(s.AddPod(running, "n"))

	sched, err := scheduling.New(scheduling.Profile{
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, GPUShare{}},
		Reserve: []framework.Plugin{GPUShare{}},
		PreBind: []framework.Plugin{GPUShare{}},
	})
	must(err)
	place := func(p *framework.PodInfo) {
		if _, err := sched.Place(s, p); err != nil {
			var fit *scheduling.FitError
			fmt.Println(p.Pod.Name, "does not fit:", errors.As(err, &fit))
			return
		}
		held := gpuParts.Of(s).Get(s.Node("n"))
		fmt.Println(p.Pod.Name, "has", held[partOf(held, p)].percent, "% of gpu", held[partOf(held, p)].gpu+1)
	}
	place(pod("small", 0, "gpu-percent", "30"))
	place(pod("half", 0, "gpu-percent", "50"))

	// A nominated pod counts, although nobody reserved anything for it.
	urgent := pod("urgent", 100, "gpu-percent", "50")
	must(s.Nominate(urgent, "n", ""))
	place(pod("late", 0, "gpu-percent", "40"))
	s.ClearNomination(urgent, "n")

	// A preemption takes pods off a node and puts some back; a rollback restores all.
	m := s.Begin()
	must(s.RemovePod(running, "n"))
	fmt.Println("without it:", gpuParts.Of(s).Get(s.Node("n")))
	must(s.AddPod(running, "n"))
	fmt.Println("put back:  ", gpuParts.Of(s).Get(s.Node("n")))
	s.Rollback(m)
	fmt.Println("rolled back:", gpuParts.Of(s).Get(s.Node("n")))
	// Output:
	// small has 30 % of gpu 2
	// half has 50 % of gpu 1
	// late does not fit: true
	// without it: [{default/small 1 30} {default/half 0 50}]
	// put back:   [{default/small 1 30} {default/half 0 50} {default/running 1 60}]
	// rolled back: [{default/running 1 60} {default/small 1 30} {default/half 0 50}]
}

// A Reserve plugin may say what a pod gets.
func ExampleReserveDetailer() {
	var plugin framework.ReserveDetailer = GPUShare{}
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "8", "32Gi").Labels("gpus", "2").Obj()); err != nil {
		fmt.Println(err)
		return
	}
	sched, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{plugin}, Reserve: []framework.Plugin{plugin}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, percent := range []string{"60", "30", "50"} {
		p, err := s.NewPodInfo(api.MakePod("needs-"+percent).Annotations("gpu-percent", percent).Obj())
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := sched.Place(s, p)
		fmt.Println(d.Node, d.Reserved, err)
	}
	// Output:
	// n 60 % of gpu 1 <nil>
	// n 30 % of gpu 1 <nil>
	// n 50 % of gpu 2 <nil>
}

// startsKey counts the starts on a node that a plugin wants to bound: state that
// follows from no pod, so Set changes it.
var startsKey = framework.NewNodeStateKey(framework.NodeHooks[int]{})

// A state without hooks changes by Set alone; forks and transactions cover it.
func ExampleNodeStateKey() {
	s, _ := twoNodes()
	n := s.Node("n1")
	starts := startsKey.Of(s)
	starts.Set(n, 1)
	m := s.Begin()
	starts.Set(n, starts.Get(n)+1)
	fmt.Println("in a transaction:", starts.Get(n))
	s.Rollback(m)
	fmt.Println("rolled back:", starts.Get(n))
	f := s.Fork()
	startsKey.Of(f).Set(f.Node("n1"), 7)
	fmt.Println("in a fork:", startsKey.Of(f).Get(f.Node("n1")), "and still", starts.Get(n))
	// Output:
	// in a transaction: 2
	// rolled back: 1
	// in a fork: 7 and still 1
}

// A hook says what a pod makes of the state of its node.
func ExampleNodeHooks() {
	ports := framework.NewNodeStateKey(framework.NodeHooks[int]{
		PodAdded: func(ports int, _ *framework.NodeInfo, p *framework.PodInfo) (int, bool) {
			return ports + len(p.HostPorts), len(p.HostPorts) > 0
		},
		PodRemoved: func(ports int, _ *framework.NodeInfo, p *framework.PodInfo) (int, bool) {
			return ports - len(p.HostPorts), len(p.HostPorts) > 0
		},
	})
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("proxy").HostPort(80).HostPort(443).Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	state := ports.Of(s)
	fmt.Println(s.AddPod(p, "n1"), state.Get(s.Node("n1")))
	fmt.Println(s.RemovePod(p, "n1"), state.Get(s.Node("n1")))
	// Output:
	// <nil> 2
	// <nil> 0
}
