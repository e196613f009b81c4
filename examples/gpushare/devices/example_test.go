//go:build full

package devices_test

import (
	"context"
	"fmt"
	"os"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// twoNodes is a cluster of two nodes with two GPUs each.
func twoNodes() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(name, "32", "128Gi").Resource(devices.Vendor+"/gpu-count", "2").Obj()); err != nil {
			panic(err)
		}
	}
	return s
}

// asking makes a pod that asks for thousandths of a GPU.
func asking(s *framework.Snapshot, name, milli string) *framework.PodInfo {
	p, err := s.NewPodInfo(api.MakePod(name).Requests("1", "1Gi").Annotations(devices.Vendor+"/gpu-milli", milli).Obj())
	if err != nil {
		panic(err)
	}
	return p
}

// profile shares GPUs and ranks nodes by a scorer.
func profile(gpus *devices.GPUs, scorer framework.Plugin) scheduling.Profile {
	share := devices.GPUShare{GPUs: gpus}
	return scheduling.Profile{
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, share},
		Score:   []scheduling.Weighted{{Plugin: scorer}},
		Reserve: []framework.Plugin{share},
		TieRule: scheduling.First,
	}
}

// annotator is a PreBind plugin of your own: it writes the choice to the pod.
type annotator struct{}

func (annotator) Name() string { return "annotator" }

func (annotator) PreBind(_ context.Context, c *framework.Cycle, node string) framework.Status {
	if gpus, ok := devices.Assigned.Get(c); ok {
		fmt.Printf("annotate %s on %s: gpu-index=%v\n", c.Pod.Pod.Name, node, gpus)
	}
	return framework.Status{}
}

// Shares of GPUs are placed by fragmentation, and decisions name the GPU.
func Example() {
	workload, err := devices.NewWorkload([]devices.Typical{
		{Demand: devices.Demand{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 500}}, Weight: 0.7},
		{Demand: devices.Demand{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 1000}}, Weight: 0.3},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gpus := devices.New(devices.Config{Choose: devices.LeastFragmentation{Workload: workload}})
	sched, err := scheduling.New(profile(gpus, devices.FGD{GPUs: gpus, Workload: workload}))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := twoNodes()
	for i, milli := range []string{"500", "1000", "700"} {
		d, err := sched.Place(s, asking(s, fmt.Sprint("pod-", i), milli))
		fmt.Println(milli, d.Node, d.Reserved, err)
	}
	if err := sched.Explain(s, asking(s, "next", "300")).WriteTable(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 500 n1 gpu 0 <nil>
	// 1000 n1 gpu 1 <nil>
	// 700 n2 gpu 0 <nil>
	// pod default/next goes to n2, the best of 2 feasible nodes among 2
	// it gets gpu 0
	// RANK  NODE  TOTAL  FGD   RESERVED
	// 1*    n2    57     57*1  gpu 0
	// 2     n1    48     48*1  gpu 0
}

// GPUs answers questions about a snapshot; its state follows every pod.
func ExampleGPUs() {
	gpus := devices.New(devices.Config{Vendor: "example.com"})
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "32", "128Gi").Resource("example.com/gpu", "2").Obj()); err != nil {
		fmt.Println(err)
		return
	}
	running, err := s.NewPodInfo(api.MakePod("running").Node("n").Annotations("example.com/gpu-milli", "300", "example.com/gpu-index", "1").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.AddPod(running, "n"))
	free := gpus.Free(s, s.Node("n"))
	var set devices.Set = gpus.Held(s, s.Node("n"), running)
	fmt.Println("held:", set, "left:", free.Left[:free.GPUs], "whole:", free.Whole())

	m := s.Begin()
	fmt.Println(s.RemovePod(running, "n"), gpus.Held(s, s.Node("n"), running) == 0)
	s.Rollback(m)
	fmt.Println("rolled back:", gpus.Held(s, s.Node("n"), running))
	// Output:
	// <nil>
	// held: 1 left: [1000 700] whole: 1
	// <nil> true
	// rolled back: 1
}

// GPUShare gives pods the tightest GPU, and hands the choice to PreBind.
func ExampleGPUShare() {
	p := profile(nil, devices.BestFit{})
	p.PreBind = []framework.Plugin{annotator{}}
	sched, err := scheduling.New(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := twoNodes()
	for _, milli := range []string{"400", "700", "300", "600"} {
		d, err := sched.Place(s, asking(s, "asks-"+milli, milli))
		fmt.Println(milli, d.Node, d.Reserved, err)
	}
	_, err = sched.Place(s, asking(s, "bad", "1500"))
	fmt.Println(err)
	// Output:
	// 400 n1 gpu 0 <nil>
	// 700 n1 gpu 1 <nil>
	// 300 n1 gpu 1 <nil>
	// 600 n1 gpu 0 <nil>
	// 0/2 nodes are available: pod default/bad: metadata.annotations[alibabacloud.com/gpu-milli]: "1500": want a whole number from 0 to 1000.
}

// The measure needs no scheduler.
func ExampleFragmentation() {
	free := devices.Free{CPU: 8000, GPUs: 2, Left: [devices.MaxGPUs]int32{300, 1000}}
	workload := devices.TypicalPods([]devices.Demand{
		{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 500}},
		{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 500}},
		{CPU: 1000, GPU: devices.Request{Count: 2, Milli: 1000}},
		{CPU: 1000},
	}, 1)
	// Half of the pods cannot use 300, the others can use nothing of 1300.
	fmt.Println(devices.Fragmentation(free, workload))
	// Output: 800
}

// Formulas are functions of what is free and what is asked.
func ExampleFree() {
	free := devices.Free{CPU: 16000, GPUs: 4, Left: [devices.MaxGPUs]int32{200, 1000, 1000, 500}}
	share := devices.Demand{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 400}}
	fmt.Println("best fit:", devices.BestFitScore(free, share), "of GPU", devices.Tightest{}.Choose(devices.Spot{Free: free, Demand: share}))
	fmt.Println("dot product:", devices.DotProdScore(free, share))
	fmt.Println("packing:", devices.GpuPackingScore(free, share))
	free.Tags = devices.TagOf(share.GPU)
	fmt.Println("clustering:", devices.GpuClusteringScore(free, share))
	// Output:
	// best fit: 79 of GPU 3
	// dot product: 99
	// packing: 95
	// clustering: 91
}

// A Choice of your own may pick any GPU.
func ExampleChoice() {
	var last devices.Choice = lastGPU{}
	gpus := devices.New(devices.Config{Choose: last})
	s := twoNodes()
	sched, err := scheduling.New(profile(gpus, devices.GpuPacking{GPUs: gpus}))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := sched.Place(s, asking(s, "p", "100"))
	fmt.Println(d.Node, d.Reserved, err)
	// Output: n1 gpu 1 <nil>
}

// lastGPU picks the last GPU with enough left.
type lastGPU struct{}

func (lastGPU) Choose(at devices.Spot) int {
	for i := at.Free.GPUs - 1; i >= 0; i-- {
		if int64(at.Free.Left[i]) >= at.Demand.GPU.Milli {
			return i
		}
	}
	return -1
}

// A Workload is made of typical pods, or of all pods of a history.
func ExampleWorkload() {
	var w *devices.Workload
	w, err := devices.NewWorkload(devices.TypicalPods([]devices.Demand{
		{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 500}},
		{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 1000}},
	}, 0.95))
	if err != nil {
		fmt.Println(err)
		return
	}
	half := devices.Demand{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 500}}
	used := devices.Free{CPU: 8000, GPUs: 2, Left: [devices.MaxGPUs]int32{500, 1000}}
	idle := devices.Free{CPU: 8000, GPUs: 2, Left: [devices.MaxGPUs]int32{1000, 1000}}
	fmt.Println("a node in use:", devices.FGDScore(used, half, w), "an idle one:", devices.FGDScore(idle, half, w))
	_, err = devices.NewWorkload([]devices.Typical{{Weight: 2}})
	fmt.Println(err)
	// Output:
	// a node in use: 56 an idle one: 43
	// typical[0].Weight: 2: want 0 to 1
}

// The other scorers are used in the same way.
func ExampleTags() {
	s := twoNodes()
	drawn := devices.New(devices.Config{Choose: devices.AnyGPU{Seed: 7}})
	for _, scorer := range []framework.Plugin{
		devices.DotProd{GPUs: drawn}, devices.GpuClustering{GPUs: drawn}, devices.Random{}, devices.FirstFit{},
	} {
		sched, err := scheduling.New(profile(drawn, scorer))
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := sched.Place(s.Fork(), asking(s, "p", "100")); err != nil {
			fmt.Println(scorer.Name(), err)
		}
	}
	var tags devices.Tags = devices.TagOf(devices.Request{Count: 1, Milli: 500}) | devices.TagOf(devices.Request{Count: 2, Milli: 1000})
	fmt.Printf("%b\n", tags)
	// Output: 101
}
