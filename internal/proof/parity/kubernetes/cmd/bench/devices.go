package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/scheduling"
)

// devicesName is the workload of pods that need devices.
const devicesName = "devices"

const devicesPerNode = 8

// devicePods makes a cluster of n nodes with eight devices each, and pods that each have a
// claim of their own for one device.
func devicePods(n, pods int) (*golden.DeviceCase, []*api.Pod) {
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	c := &golden.DeviceCase{Classes: []*api.DeviceClass{class}}
	for i := range n {
		name := fmt.Sprintf("node-%05d", i)
		c.Nodes = append(c.Nodes, api.MakeNode(name, "64", "512Gi").Obj())
		s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		s.Spec = api.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
		for k := range devicesPerNode {
			s.Spec.Devices = append(s.Spec.Devices, api.Device{
				Name: fmt.Sprint("gpu-", k), Attributes: map[string]api.DeviceAttribute{"model": {StringValue: new("a100")}},
			})
		}
		c.Slices = append(c.Slices, s)
	}
	list := make([]*api.Pod, pods)
	for i := range list {
		name := fmt.Sprintf("pod-%05d", i)
		p := api.MakePod(name).UID(api.UID("uid-"+name)).Requests("100m", "500Mi").Scheduler("default-scheduler").Obj()
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: p.Namespace, UID: api.UID("claim-" + name)}}
		claim.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
		}}}
		c.Claims, list[i] = append(c.Claims, claim), p
	}
	return c, list
}

// A deviceLine is the command's result for the workload devices.
type deviceLine struct {
	Workload  string  `json:"workload"`
	Nodes     int     `json:"nodes"`
	Berth     float64 `json:"berth_pods_per_s"` // all nodes are searched
	Sampled   float64 `json:"kube_sampled_pods_per_s"`
	All       float64 `json:"kube_all_pods_per_s"`
	BerthPods int     `json:"berth_timed_pods"`
	KubePods  int     `json:"kube_timed_pods"` // of the sampled run
	Differing int     `json:"differing_choices"`
	Compared  int     `json:"compared_choices"`
}

// devices measures both sides: the cycle with Reserve, which gives the devices. The first
// pods are not timed.
func (b bench) devices() (deviceLine, error) {
	most := b.nodes * devicesPerNode
	c, pods := devicePods(b.nodes, min(most, max(b.berthPods, b.pods)))
	l := deviceLine{Workload: devicesName, Nodes: b.nodes}
	ours, err := b.deviceRuns(c, pods)
	if err != nil {
		return l, fmt.Errorf("berth: %w", err)
	}
	l.Berth, l.BerthPods = ours.rate(), ours.pods
	fmt.Fprintf(b.stderr, "%s, %d nodes, berth: %d pods in %v\n", devicesName, b.nodes, ours.pods, ours.took)
	for percentage, rate := range map[int32]*float64{0: &l.Sampled, 100: &l.All} {
		_, theirs, err := b.kubeDevices(c, pods, rival.Options{Percentage: percentage}, b.budget)
		if err != nil {
			return l, fmt.Errorf("kube-scheduler: %w", err)
		}
		if *rate = theirs.rate(); percentage == 0 {
			l.KubePods = theirs.pods
		}
	}
	if b.compare == 0 {
		return l, nil
	}
	few := pods[:min(b.compare, len(pods))]
	want, _, err := b.kubeDevices(c, few, rival.Options{Parallelism: 1}, time.Hour)
	if err != nil {
		return l, fmt.Errorf("kube-scheduler: %w", err)
	}
	nodes, _, err := b.deviceRun(c, few, scheduling.Heap, scheduling.Adaptive)
	if err != nil {
		return l, fmt.Errorf("berth: %w", err)
	}
	l.Compared = len(want)
	for i := range want {
		if want[i] != nodes[i] {
			l.Differing++
		}
	}
	return l, nil
}

// deviceRuns places the pods with berth on new clusters, for as long as in the other workloads:
// a cluster is full after some 20 ms, which says little about a rate.
func (b bench) deviceRuns(c *golden.DeviceCase, list []*api.Pod) (sum figures, err error) {
	for sum.pods == 0 || sum.took < b.budget/4 {
		_, f, err := b.deviceRun(c, list, scheduling.Random, scheduling.AllNodes)
		if err != nil {
			return sum, err
		}
		sum.pods, sum.took = sum.pods+f.pods, sum.took+f.took
	}
	return sum, nil
}

// deviceRun places pods with berth.
func (b bench) deviceRun(c *golden.DeviceCase, list []*api.Pod, tie scheduling.TieRule, percentage int) (nodes []string, f figures, err error) {
	p := scheduling.Kubernetes137()
	p.TieRule, p.Seed, p.Percentage = tie, b.seed, percentage
	sched, err := scheduling.New(p)
	if err != nil {
		return nil, f, err
	}
	s, _, err := framework.SnapshotOf(&api.Objects{Nodes: c.Nodes, DeviceClasses: c.Classes, ResourceSlices: c.Slices, ResourceClaims: c.Claims}, framework.ZoneInterleaved)
	if err != nil {
		return nil, f, err
	}
	pods := make([]*framework.PodInfo, len(list))
	for i := range pods {
		if pods[i], err = s.NewPodInfo(list[i]); err != nil {
			return nil, f, err
		}
	}
	runtime.GC()
	skip := min(leastPods, len(list)/2)
	start := time.Now()
	for i, pod := range pods {
		if i == skip {
			start = time.Now()
		}
		d, err := sched.Place(s, pod)
		if err != nil {
			return nil, f, fmt.Errorf("pod %d: %w", i, err)
		}
		nodes = append(nodes, d.Node)
	}
	return nodes, figures{pods: len(list) - skip, took: time.Since(start)}, nil
}

// kubeDevices places pods with kube-scheduler until the budget is spent.
func (b bench) kubeDevices(c *golden.DeviceCase, list []*api.Pod, o rival.Options, budget time.Duration) (nodes []string, f figures, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := rival.New(ctx, o)
	if err == nil {
		err = s.FillDevices(c)
	}
	if err != nil {
		return nil, f, err
	}
	runtime.GC()
	skip := min(leastPods, len(list)/2)
	for i, p := range list {
		pod, err := workload.Convert[v1.Pod](p)
		if err != nil {
			return nil, f, err
		}
		pending, err := s.Prepare(pod)
		if err != nil {
			return nil, f, err
		}
		start := time.Now()
		placed, err := s.Place(pending)
		if err != nil {
			return nil, f, errors.Join(fmt.Errorf("pod %d", i), err)
		}
		if i >= skip {
			f.took += time.Since(start)
			f.pods++
		}
		nodes = append(nodes, placed.Node)
		if f.took > budget && f.pods >= leastPods {
			break
		}
	}
	return nodes, f, nil
}

// writeDevices prints the result.
func (b bench) writeDevices(w io.Writer, l deviceLine) error {
	if b.json {
		return json.NewEncoder(w).Encode(l)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tnodes\tberth\tkube sampled\tkube all\tberth/sampled\tberth/all\tdiffer\t")
	fmt.Fprintf(t, "%s\t%d\t%.0f\t%.1f\t%.1f\t%.0fx\t%.0fx\t%d of %d\t\n",
		l.Workload, l.Nodes, l.Berth, l.Sampled, l.All, l.Berth/l.Sampled, l.Berth/l.All, l.Differing, l.Compared)
	return t.Flush()
}
