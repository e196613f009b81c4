package scoring_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// deviceObjects adds classes, slices and templates to a cluster. Every third node has big
// devices, every third small ones. Pods want a big one or else a small one, or the
// extended resource that the class of small ones stands behind.
func deviceObjects(o *api.Objects) *api.Objects {
	for _, class := range []string{"big", "small"} {
		c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: class}}
		c.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "` + class + `.example.com"`}}}
		if class == "small" {
			c.Spec.ExtendedResourceName = new(string(gpu))
		}
		o.DeviceClasses = append(o.DeviceClasses, c)
	}
	var namespaces []string
	for i, p := range o.Pods {
		if !slices.Contains(namespaces, p.Namespace) {
			namespaces = append(namespaces, p.Namespace)
			t := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "either", Namespace: p.Namespace}}
			t.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", FirstAvailable: []api.DeviceSubRequest{
				{Name: "big", DeviceClassName: "big", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1},
				{Name: "small", DeviceClassName: "small", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1},
			}}}
			o.ResourceClaimTemplates = append(o.ResourceClaimTemplates, t)
		}
		switch {
		case i%3 == 0:
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "r", ResourceClaimTemplateName: new("either")}}
		case i%3 == 1 && len(p.Spec.Containers) > 0:
			q := &p.Spec.Containers[0].Resources
			q.Requests = q.Requests.Add(resource.List{gpu: resource.New(1, resource.DecimalSI)})
		}
	}
	for i, n := range o.Nodes {
		if i%3 == 2 {
			continue
		}
		s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: n.Name}}
		s.Spec = api.ResourceSliceSpec{
			Driver: []string{"big.example.com", "small.example.com"}[i%3], NodeName: new(n.Name),
			Pool:    api.ResourcePool{Name: n.Name, Generation: 1, ResourceSliceCount: 1},
			Devices: []api.Device{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		}
		o.ResourceSlices = append(o.ResourceSlices, s)
	}
	return o
}

func TestConformanceOfDynamicResources(t *testing.T) {
	several := []scoring.ResourceSpec{{Name: "memory", Weight: 1}, {Name: gpu}, {Name: "cpu"}}
	generate := func(seed uint64) *api.Objects { return deviceObjects(frameworktest.Cluster(seed)) }
	for _, p := range []framework.Plugin{
		scoring.DynamicResources{},
		scoring.NodeResourcesFit{Strategy: scoring.MostAllocated, Resources: several},
		scoring.NodeResourcesBalancedAllocation{Resources: several},
	} {
		t.Run(p.Name(), func(t *testing.T) { frameworktest.Run(t, p, frameworktest.Config{Clusters: 4, Generate: generate}) })
	}
}

// For the score of an extended resource, a device counts if all selectors of the class hold.
// They see every device as one that cannot be shared. If a selector fails, no device counts.
func TestDevicesBehindExtendedResources(t *testing.T) {
	cel := func(text string) api.DeviceSelector {
		return api.DeviceSelector{CEL: &api.CELDeviceSelector{Expression: text}}
	}
	for _, tt := range []struct {
		name      string
		selectors []api.DeviceSelector
		want      int64 // of 100, for one of all devices
	}{
		{"all", nil, 25},
		{"dedicated", []api.DeviceSelector{cel("!device.allowMultipleAllocations")}, 25},
		{"shared", []api.DeviceSelector{cel("device.allowMultipleAllocations")}, 0},
		{"one", []api.DeviceSelector{cel(`"only" in device.attributes["small.example.com"]`)}, 100},
		{"an error", []api.DeviceSelector{cel(`device.attributes["small.example.com"].only`)}, 0},
		{"no expression", []api.DeviceSelector{cel("true"), {}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "small"}}
			class.Spec.Selectors, class.Spec.ExtendedResourceName = tt.selectors, new(string(gpu))
			s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "n"}}
			s.Spec = api.ResourceSliceSpec{
				Driver: "small.example.com", NodeName: new("n"), Pool: api.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
				Devices: []api.Device{
					{Name: "a", Attributes: map[string]api.DeviceAttribute{"only": {BoolValue: new(true)}}},
					{Name: "b"},
					{Name: "c", AllowMultipleAllocations: new(true)},
					{Name: "d", AllowMultipleAllocations: new(true)},
				},
			}
			snapshot, pending, err := framework.SnapshotOf(&api.Objects{
				Nodes: []*api.Node{api.MakeNode("n", "8", "32Gi").Obj()}, Pods: []*api.Pod{api.MakePod("p").Request(gpu, "1").Obj()},
				DeviceClasses: []*api.DeviceClass{class}, ResourceSlices: []*api.ResourceSlice{s},
			}, framework.Arrival)
			if err != nil {
				t.Fatal(err)
			}
			var c framework.Cycle
			c.Reset(pending[0], snapshot, 0, 0)
			p := scoring.NodeResourcesFit{Strategy: scoring.MostAllocated, Resources: []scoring.ResourceSpec{{Name: gpu, Weight: 1}}}
			scorer, status := p.PreScore(&c, nil)
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			if got := scorer.Score(pending[0], snapshot.Node("n")); got != tt.want {
				t.Errorf("Score = %d, want %d", got, tt.want)
			}
		})
	}
}

// A node with the better alternative of a request scores more.
func ExampleDynamicResources() {
	pod := api.MakePod("train").Obj()
	o := deviceObjects(&api.Objects{
		Nodes: []*api.Node{api.MakeNode("n1", "8", "32Gi").Obj(), api.MakeNode("n2", "8", "32Gi").Obj()}, Pods: []*api.Pod{pod},
	})
	s, pending, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(pending[0], s, 0, 0)
	p := scoring.DynamicResources{}
	scorer, status := p.PreScore(&c, nil)
	if !status.IsSuccess() {
		fmt.Println(status)
		return
	}
	for _, n := range s.All() {
		raw := scorer.Score(pending[0], n)
		fmt.Println(n.Name(), raw, p.NormalizeScore(raw, 0, 8))
	}
	// Output:
	// n1 8 100
	// n2 7 87
}
