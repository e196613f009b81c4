package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// gpuNode returns a node and the slice of its eight devices, four in each half.
func gpuNode(name string) (*api.Node, *api.ResourceSlice) {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
	s.Spec = api.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
	}
	for i := range 8 {
		s.Spec.Devices = append(s.Spec.Devices, api.Device{
			Name: fmt.Sprint("gpu-", i), Attributes: map[string]api.DeviceAttribute{"model": {StringValue: new("a100")}, "half": {IntValue: new(int64(i / 4))}},
			Capacity: map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		})
	}
	return api.MakeNode(name, "64", "512Gi").Obj(), s
}

// gpuCluster returns a cluster of nodes with devices, a class, and templates: one device,
// eight, and eight of one model.
func gpuCluster(tb testing.TB, nodes int) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	must := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			tb.Fatal(err)
		}
	}
	c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	c.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	must(framework.Put(s, c))
	for name, count := range map[string]int64{"one": 1, "eight": 8, "eight-alike": 8} {
		t := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
		t.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: count,
		}}}
		if name == "eight-alike" {
			t.Spec.Spec.Devices.Constraints = []api.DeviceConstraint{{MatchAttribute: new("gpu.example.com/model")}}
		}
		must(framework.Put(s, t))
	}
	for i := range nodes {
		n, slice := gpuNode(fmt.Sprint("n", i))
		must(s.AddNode(n), framework.Put(s, slice))
	}
	return s
}

// claiming returns a pod that names a template; "" for none.
func claiming(name, template string) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").Obj()
	if template != "" {
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
	}
	return p
}

// Both paths place pods with devices alike until the cluster is full, and a pod that
// leaves makes room for the next.
func TestPlaceDevices(t *testing.T) {
	s := gpuCluster(t, 5)
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	var last *framework.PodInfo
	var at string
	for i := range 5 * 8 {
		last = info(t, s, claiming(fmt.Sprint("p", i), "one"))
		d, err := sched.Place(s, last)
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		at = d.Node
		if got := filter.DeviceClaimsOf(s, last); len(got) != 1 {
			t.Fatalf("pod %d holds %v", i, got)
		}
	}
	next := info(t, s, claiming("next", "one"))
	var fit *scheduling.FitError
	if _, err := sched.Place(s, next); !errors.As(err, &fit) {
		t.Fatalf("one pod too many: %v", err)
	}
	if err := sched.Release(s, last, at); err != nil {
		t.Fatal(err)
	}
	if d, err := sched.Place(s, next); err != nil || d.Node != at {
		t.Errorf("after a pod has left %s: %v, %v", at, d.Node, err)
	}
	if n := sched.Stats().Hits; n < 30 {
		t.Errorf("%d of 42 decisions from kept answers, want at least 30", n)
	}
}

func info(tb testing.TB, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	tb.Helper()
	i, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

// A pod names a template, and no node has devices. The fork asks: would it fit on a node
// of a type that does not exist yet? The node brings its devices as a slice.
func ExampleScheduler_devices() {
	s := framework.NewSnapshot(framework.Arrival)
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "two", Namespace: "default"}}
	template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 2,
	}}}
	scheduler, err := scheduling.New(scheduling.Kubernetes137())
	if err = errors.Join(err, s.AddNode(api.MakeNode("small", "8", "32Gi").Obj()), framework.Put(s, class), framework.Put(s, template)); err != nil {
		fmt.Println(err)
		return
	}
	pod, err := s.NewPodInfo(claiming("train", "two"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = scheduler.Place(s, pod)
	fmt.Println(err)

	fork := s.Fork()
	node, slice := gpuNode("new-gpu-node")
	if err := errors.Join(fork.AddNode(node), framework.Put(fork, slice)); err != nil {
		fmt.Println(err)
		return
	}
	d, err := scheduler.Place(fork, pod)
	fmt.Println(d.Node, err)
	for _, c := range filter.DeviceClaimsOf(fork, pod) {
		for _, r := range c.Claim.Status.Allocation.Devices.Results {
			fmt.Println(c.Entry, r.Pool, r.Device)
		}
	}
	// Output:
	// 0/1 nodes are available: 1 cannot allocate all claims.
	// new-gpu-node <nil>
	// gpu new-gpu-node gpu-0
	// gpu new-gpu-node gpu-1
}

// BenchmarkPlaceDevices places pods, and releases them when the cluster is full. Pods
// without claims are there for comparison; they are placed on the same cluster.
func BenchmarkPlaceDevices(b *testing.B) {
	for _, nodes := range []int{500, 5000} {
		for _, template := range []string{"", "one", "eight", "eight-alike"} {
			for _, path := range []string{"incremental", "reference"} {
				b.Run(fmt.Sprintf("path=%s/claim=%s/nodes=%d", path, template, nodes), func(b *testing.B) {
					s := gpuCluster(b, nodes)
					p := scheduling.Kubernetes137()
					p.TieRule = scheduling.Random
					p.Cache.Off = path == "reference"
					sched := build(b, p)
					var placed []*framework.PodInfo
					var at []string
					pods := make([]*framework.PodInfo, min(nodes, 400))
					for i := range pods {
						pods[i] = info(b, s, claiming(fmt.Sprint("p", i), template))
					}
					b.ReportAllocs()
					for b.Loop() {
						if len(placed) == len(pods) {
							b.StopTimer()
							for i, p := range placed {
								if err := sched.Release(s, p, at[i]); err != nil {
									b.Fatal(err)
								}
							}
							placed, at = placed[:0], at[:0]
							b.StartTimer()
						}
						d, err := sched.Place(s, pods[len(placed)])
						if err != nil {
							b.Fatal(err)
						}
						placed, at = append(placed, pods[len(placed)]), append(at, d.Node)
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
				})
			}
		}
	}
}
