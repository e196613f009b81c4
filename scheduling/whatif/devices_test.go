package whatif_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// onlyDevice is a cluster of two nodes that reach the same device, which a pod has on one of
// them. Nobody has written its claim.
func onlyDevice(t *testing.T) (s *framework.Snapshot, pod *framework.PodInfo, node, other string) {
	t.Helper()
	s = claimsOfGPUs()
	for _, n := range s.All() {
		if err := s.RemoveNode(n.Name()); err != nil {
			t.Fatal(err)
		}
	}
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "one", Namespace: "default"}}
	template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
	}}}
	all := true
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "network"}}
	slice.Spec = api.ResourceSliceSpec{Driver: "gpu.example.com", AllNodes: &all, Pool: api.ResourcePool{Name: "network", Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "only"}}}
	for _, err := range []error{framework.Put(s, template), framework.Put(s, slice), s.AddNode(api.MakeNode("a", "8", "32Gi").Obj()), s.AddNode(api.MakeNode("b", "8", "32Gi").Obj())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p := api.MakePod("p").UID("p").Requests("400m", "64Mi").Obj()
	p.OwnerReferences = []api.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &all}}
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("one")}}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	pod, err = s.NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := s.NewPodInfo(api.MakePod("beside").Owner("DaemonSet", "d").Requests("400m", "64Mi").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddPod(beside, d.Node); err != nil {
		t.Fatal(err)
	}
	return s, pod, d.Node, map[string]string{"a": "b", "b": "a"}[d.Node]
}

// TestMovesWithDevices: a pod that is to be placed again does not compete with its own devices.
func TestMovesWithDevices(t *testing.T) {
	for _, tt := range []struct {
		name  string
		moves func(p *whatif.Planner, pod *framework.PodInfo, node, other string) (bool, error)
	}{
		{"Drain", func(p *whatif.Planner, _ *framework.PodInfo, node, other string) (bool, error) {
			d, err := p.Drain(node)
			return err == nil && len(d.Moves) == 1 && d.Moves[0].To == other, err
		}},
		{"Removable", func(p *whatif.Planner, _ *framework.PodInfo, node, other string) (bool, error) {
			list, err := p.Removable(node)
			return err == nil && list[0].Removable && list[0].Moves[0].To == other, err
		}},
		{"Consolidate", func(p *whatif.Planner, _ *framework.PodInfo, node, other string) (bool, error) {
			c, err := p.Consolidate(node)
			return err == nil && len(c.Removed) == 1 && c.Moves[0].To == other, err
		}},
		{"WhyNot", func(p *whatif.Planner, pod *framework.PodInfo, _, other string) (bool, error) {
			w, err := p.WhyNot(pod, other)
			return err == nil && len(w.Rejections) == 0, err
		}},
		{"Rebalance", func(p *whatif.Planner, _ *framework.PodInfo, _, other string) (bool, error) {
			r, err := p.Rebalance(whatif.RebalanceConfig{
				Low: map[resource.Name]float64{resource.CPU: 2}, High: map[resource.Name]float64{resource.CPU: 8}, UseRequests: true,
			})
			return err == nil && len(r.Moves) == 1 && r.Moves[0].To == other, err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, pod, node, other := onlyDevice(t)
			p, err := whatif.New(scheduling.Kubernetes137(), s)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first question must leave no trace
				if ok, err := tt.moves(p, pod, node, other); !ok || err != nil {
					t.Errorf("the pod cannot move to %s with its device: %v", other, err)
				}
				if held := filter.DeviceClaimsOf(s, pod); len(held) != 1 || len(held[0].Claim.Status.Allocation.Devices.Results) != 1 {
					t.Errorf("after the question the pod holds %v", held)
				}
				if err := s.Check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
