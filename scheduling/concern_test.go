//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// forClaims is a plugin that only pods with claims concern. It counts how often it is asked.
type forClaims struct{ asked map[string]int }

func (forClaims) Name() string { return "ForClaims" }

func (forClaims) Concern() framework.PodParts { return framework.PartClaims }

func (p forClaims) Scope(pod *framework.PodInfo) framework.Scope {
	p.asked["Scope"]++
	if !pod.HasClaims() {
		return framework.Scope{}
	}
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain}
}

func (p forClaims) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	p.asked["AppendClassKey"]++
	for _, c := range pod.Pod.Spec.ResourceClaims {
		b = append(b, c.Name...)
	}
	return b
}

func (p forClaims) ClassKeyVersion(s *framework.Snapshot) uint64 {
	p.asked["ClassKeyVersion"]++
	return framework.ObjectsVersion[api.ResourceClaim](s)
}

func (p forClaims) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if !c.Pod.HasClaims() {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: onlyNode(c.Pod.Pod.Spec.ResourceClaims[0].Name)}, framework.Status{}
}

func (p forClaims) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	p.asked["Reserve"]++
	return framework.Status{}
}

func (p forClaims) Unreserve(*framework.Cycle, *framework.NodeInfo) { p.asked["Unreserve"]++ }

func (p forClaims) Reserves(*framework.Snapshot, *framework.PodInfo, *framework.NodeInfo) string {
	p.asked["Reserves"]++
	return "a claim"
}

// onlyNode passes one node.
type onlyNode string

func (name onlyNode) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() == string(name) {
		return framework.Status{}
	}
	return framework.UnschedulableStatus("another node")
}

// louder wraps a plugin and reserves for all pods.
type louder struct {
	framework.Plugin
	reserved *int
}

func (louder) Name() string { return "Louder" }

func (l louder) Unwrap() framework.Plugin { return l.Plugin }

func (l louder) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	*l.reserved++
	return framework.Status{}
}

func (louder) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// A plugin is asked nothing about pods that do not concern it, in between others that do, and
// a wrapper that reserves itself is asked about all. Verify compares every decision.
func TestConcern(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"n0", "n1"} {
		if err := s.AddNode(api.MakeNode(name, "64", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	plugin, reserved := forClaims{map[string]int{}}, 0
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter[:1:1], plugin)
	p.Reserve = []framework.Plugin{plugin, louder{plugin, &reserved}}
	p.Cache.Verify = true
	sched := build(t, p)
	for i := range 12 {
		object := api.MakePod(fmt.Sprint("p", i)).Requests("100m", "64Mi").Obj()
		if i%3 == 2 { // the claim's name stands for the node
			object.Spec.ResourceClaims = []api.PodResourceClaim{{Name: fmt.Sprint("n", i%2)}}
			if err := framework.Put(s, &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		pod := info(t, s, object)
		before := maps.Clone(plugin.asked)
		d, err := sched.Place(s, pod)
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		if i%2 == 1 {
			if err := sched.Release(s, pod, d.Node); err != nil {
				t.Fatal(err)
			}
		}
		switch asked := !maps.Equal(before, plugin.asked); {
		case asked != pod.HasClaims():
			t.Errorf("pod %d, claims %t: the plugin was asked %v times, before %v", i, pod.HasClaims(), plugin.asked, before)
		case pod.HasClaims() && d.Node != fmt.Sprint("n", i%2):
			t.Errorf("pod %d is on %s", i, d.Node)
		case pod.HasClaims() != (d.Reserved != ""):
			t.Errorf("pod %d, claims %t: Reserved = %q", i, pod.HasClaims(), d.Reserved)
		}
		if reserved != i+1 {
			t.Errorf("after %d pods, the wrapper has reserved %d times", i+1, reserved)
		}
	}
	if n := plugin.asked["Unreserve"]; n != 2 {
		t.Errorf("Unreserve was called %d times, want 2: for pods 5 and 11", n)
	}
}

// forExtended is DynamicResources, and counts how often it is asked about keys and at Reserve.
type forExtended struct {
	filter.DynamicResources
	asked *int
}

func (p forExtended) Scope(pod *framework.PodInfo) framework.Scope {
	*p.asked++
	return p.DynamicResources.Scope(pod)
}

func (p forExtended) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	*p.asked++
	return p.DynamicResources.AppendClassKey(b, s, pod)
}

func (p forExtended) ClassKeyVersion(s *framework.Snapshot) uint64 {
	*p.asked++
	return p.DynamicResources.ClassKeyVersion(s)
}

func (p forExtended) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	*p.asked++
	return p.DynamicResources.Reserve(c, n)
}

func (p forExtended) Reserves(s *framework.Snapshot, pod *framework.PodInfo, n *framework.NodeInfo) string {
	*p.asked++
	return p.DynamicResources.Reserves(s, pod, n)
}

// A pod that requests extended resources concerns DynamicResources as long as a device class
// stands behind one of them: classes come and go, on forks and in transactions that are
// rolled back, between new pods and pods that were decided about before. Verify compares
// every decision.
func TestConcernFollowsClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const most = 400
	asked, devices, moved := 0, 0, 0
	for range 4 {
		s := gpuCluster(t, 3)
		for i := range 3 {
			n := *s.Node(fmt.Sprint("n", i)).Node
			n.Status.Allocatable = maps.Clone(n.Status.Allocatable)
			n.Status.Allocatable["example.com/nic"] = resource.MustParse("4")
			if err := s.UpdateNode(&n); err != nil {
				t.Fatal(err)
			}
		}
		p := scheduling.Kubernetes137()
		p.Cache.Verify = true
		plugin := forExtended{asked: &asked}
		if err := p.Replace(plugin); err != nil {
			t.Fatal(err)
		}
		sched := build(t, p)
		snapshots := []*framework.Snapshot{s, s.Fork()}
		var marks [2][]framework.Mark
		var placed [2]map[*framework.PodInfo]string
		var saved [2][]map[*framework.PodInfo]string // at each mark
		var pods []*framework.PodInfo
		for i := range placed {
			placed[i] = map[*framework.PodInfo]string{}
		}
		last := map[string]bool{} // whether a pod counted when it was decided about last
		for step := range most {
			at := r.IntN(2)
			s := snapshots[at]
			switch r.IntN(10) {
			case 0, 1:
				class := *framework.Lookup[api.DeviceClass](s, "gpu")
				class.Spec.ExtendedResourceName = [...]*string{nil, new("example.com/gpu"), new("example.com/nic")}[r.IntN(3)]
				if err := framework.Put(s, &class); err != nil {
					t.Fatal(err)
				}
			case 2:
				if len(marks[at]) < 2 {
					marks[at], saved[at] = append(marks[at], s.Begin()), append(saved[at], maps.Clone(placed[at]))
					break
				}
				fallthrough
			case 3:
				if n := len(marks[at]) - 1; n >= 0 {
					s.Rollback(marks[at][n])
					placed[at] = saved[at][n]
					marks[at], saved[at] = marks[at][:n], saved[at][:n]
				}
			case 4, 5:
				for pod, node := range placed[at] {
					if err := sched.Release(s, pod, node); err != nil {
						t.Fatal(err)
					}
					delete(placed[at], pod)
					break
				}
			default:
				var pod *framework.PodInfo
				if n := len(pods); n > 0 && r.IntN(8) > 0 { // pods are of both snapshots
					pod = pods[max(0, n-1-r.IntN(8))]
				} else {
					name := fmt.Sprint("p", step)
					object := api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").
						Request([...]resource.Name{"example.com/gpu", "example.com/nic"}[r.IntN(2)], [...]string{"1", "7"}[r.IntN(2)]).Obj()
					pod = info(t, s, object)
					pods = append(pods, pod)
				}
				if _, ok := placed[at][pod]; ok {
					continue
				}
				counts := false
				if name := framework.Lookup[api.DeviceClass](s, "gpu").Spec.ExtendedResourceName; name != nil {
					_, counts = pod.Pod.Spec.Containers[0].Resources.Requests[resource.Name(*name)]
				}
				if before, known := last[pod.Pod.Name]; known && before != counts {
					moved++
				}
				last[pod.Pod.Name] = counts
				asked = 0
				d, err := sched.Place(s, pod)
				if fit := (*scheduling.FitError)(nil); err != nil && !errors.As(err, &fit) {
					t.Fatalf("step %d: %v", step, err)
				}
				if !counts && asked > 0 || counts && asked == 0 {
					t.Fatalf("step %d: a class stands behind the resource: %t; the plugin was asked %d times", step, counts, asked)
				}
				if err != nil {
					continue
				}
				placed[at][pod] = d.Node
				if got := len(filter.DeviceClaimsOf(s, pod)) > 0; got {
					devices++
					if !counts {
						t.Fatalf("step %d: the pod has devices, and no class stands behind its resource", step)
					}
				}
			}
		}
	}
	if devices < 20 || moved < 20 {
		t.Errorf("%d pods had devices, %d were decided about with a class and without, want 20 of each", devices, moved)
	}
}

// The class of a pod that goes from snapshot to snapshot follows the device classes there,
// also if nothing else that keys read has changed in between.
func TestConcernOfOnePodInForks(t *testing.T) {
	s := gpuCluster(t, 1)
	pod := info(t, s, api.MakePod("one").Request("example.com/gpu", "1").Obj())
	other := info(t, s, api.MakePod("other").Request("example.com/gpu", "1").Obj())
	fork := s.Fork()
	class := *framework.Lookup[api.DeviceClass](s, "gpu")
	class.Spec.ExtendedResourceName = new("example.com/gpu")
	if err := framework.Put(fork, &class); err != nil {
		t.Fatal(err)
	}
	// No other plugin: the keys of those for topology are new in each fork.
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{filter.DynamicResources{}}})
	key := func(s *framework.Snapshot, pod *framework.PodInfo) string {
		k, ok, err := sched.ClassKey(s, pod)
		if err != nil || !ok {
			t.Fatalf("the key of %s: %t, %v", pod.Pod.Name, ok, err)
		}
		return k
	}
	with, without := key(fork, other), key(s, pod)
	for range 2 {
		if key(fork, pod) != with || key(s, pod) != without || with == without {
			t.Errorf("keys of one pod: %q with a class behind its resource, %q without; want %q and %q", key(fork, pod), key(s, pod), with, without)
		}
	}
}

// freezing is a plugin whose PreFilter and PreScore do more than those of the one that it wraps.
type freezing struct {
	framework.Plugin
	asked map[string]int
}

func (f freezing) Unwrap() framework.Plugin { return f.Plugin }

func (f freezing) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	f.asked["PreFilter"]++
	return framework.PreFiltered{}, framework.SkipStatus()
}

func (f freezing) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	f.asked["PreScore"]++
	return nil, framework.SkipStatus()
}

// A wrapper with a PreFilter or PreScore of its own is asked about pods that do not concern the
// plugin inside.
func TestConcernOfWrappers(t *testing.T) {
	for _, off := range []bool{false, true} {
		asked := map[string]int{}
		p := scheduling.Profile{
			Filter: []framework.Plugin{freezing{filter.NodePorts{}, asked}},
			Score:  []scheduling.Weighted{{Plugin: freezing{scoring.DynamicResources{}, asked}, Weight: 1}},
		}
		p.Cache.Off = off
		s := framework.NewSnapshot(framework.Arrival)
		for _, name := range []string{"a", "b"} {
			if err := s.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := build(t, p).Schedule(s, podInfo(t, s, api.MakePod("p").Obj())); err != nil {
			t.Fatal(err)
		}
		if asked["PreFilter"] == 0 || asked["PreScore"] == 0 {
			t.Errorf("cache off %t: the wrapper is asked %v", off, asked)
		}
	}
}
