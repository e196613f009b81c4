//go:build full

package devices_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
)

// A device that is taken or given back changes the nodes that the slices of its pool
// select, and no other.
func TestReach(t *testing.T) {
	zoneA := &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
		{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{"a"}},
	}}}}
	for name, c := range map[string]struct {
		slice func(*api.ResourceSliceSpec)
		want  string
	}{
		"one node":  {func(s *api.ResourceSliceSpec) { s.NodeName = new("n1") }, "n1"},
		"all nodes": {func(s *api.ResourceSliceSpec) { s.AllNodes = new(true) }, "n0 n1 n2 n3"},
		"a zone":    {func(s *api.ResourceSliceSpec) { s.NodeSelector = zoneA }, "n0 n2"},
		"each device its own": {func(s *api.ResourceSliceSpec) {
			s.PerDeviceNodeSelection = new(true)
			s.Devices[0].NodeSelector, s.Devices[1].NodeName = zoneA, new("n3")
		}, "n0 n2 n3"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &api.Objects{DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}}}
			for i := range 4 {
				o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Labels(api.LabelTopologyZone, string("ab"[i%2])).Obj())
			}
			s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "slice"}}
			s.Spec = api.ResourceSliceSpec{Driver: "d.io", Pool: api.ResourcePool{Name: "pool", Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "x"}, {Name: "y"}}}
			c.slice(&s.Spec)
			template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
			template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{
				DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
			}}}
			o.ResourceSlices, o.ResourceClaimTemplates = append(o.ResourceSlices, s), append(o.ResourceClaimTemplates, template)
			snap, _, err := framework.SnapshotOf(o, framework.Arrival)
			if err != nil {
				t.Fatal(err)
			}
			p, err := snap.NewPodInfo(podFor("p", "t"))
			if err != nil {
				t.Fatal(err)
			}
			f, status := devices.FinderOf(snap, p, devices.Options{})
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			touched := func(do func()) string {
				before := map[string]uint64{}
				for _, n := range snap.All() {
					before[n.Name()] = n.Generation()
				}
				do()
				var list []string
				for _, n := range snap.All() {
					if n.Generation() != before[n.Name()] {
						list = append(list, n.Name())
					}
				}
				slices.Sort(list)
				return strings.Join(list, " ")
			}
			if got := touched(func() {
				if _, status := f.Reserve(snap.Node(strings.Fields(c.want)[0])); !status.IsSuccess() {
					t.Fatal(status)
				}
			}); got != c.want {
				t.Errorf("a device is taken: nodes %q change, want %q", got, c.want)
			}
			if got := touched(func() { devices.Release(snap, p) }); got != c.want {
				t.Errorf("a device is given back: nodes %q change, want %q", got, c.want)
			}
			if got := touched(func() { framework.Delete[api.ResourceSlice](snap, "slice") }); got != c.want {
				t.Errorf("the slice goes: nodes %q change, want %q", got, c.want)
			}
			if got := touched(func() {
				if err := framework.Put(snap, s); err != nil {
					t.Fatal(err)
				}
			}); got != c.want {
				t.Errorf("the slice comes: nodes %q change, want %q", got, c.want)
			}
		})
	}
}
