package soak

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

const (
	deviceDriver = "gpu.example.com"
	deviceClaims = 6 // claims that pods name
)

// needsDevices gives some pods claims for devices.
func needsDevices(r *rand.Rand, p *api.Pod) *api.Pod {
	if !chance(r, 5) {
		return p
	}
	switch r.IntN(6) {
	case 0:
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "shared", ResourceClaimName: new(fmt.Sprint("devices-", r.IntN(deviceClaims)))}}
	case 1:
		if len(p.Spec.Containers) > 0 {
			q := &p.Spec.Containers[0].Resources
			q.Requests = q.Requests.Add(resource.List{"example.com/device": resource.New(int64(1+r.IntN(2)), resource.DecimalSI)})
		}
	default:
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "own", ResourceClaimTemplateName: new(fmt.Sprint("template-", r.IntN(4)))}}
	}
	return p
}

// deviceRequests makes the requests of a claim.
func deviceRequests(r *rand.Rand) api.DeviceClaim {
	exact := func(count int64) *api.ExactDeviceRequest {
		e := &api.ExactDeviceRequest{DeviceClassName: pick(r, "device", "device", "big"), AllocationMode: api.DeviceAllocationModeExactCount, Count: count}
		if chance(r, 3) {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].index < 3`}}}
		}
		if chance(r, 3) {
			e.Tolerations = []api.DeviceToleration{{Key: "broken", Operator: api.DeviceTolerationOpExists}}
		}
		return e
	}
	c := api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "a", Exactly: exact(int64(1 + r.IntN(2)))}}}
	if chance(r, 3) {
		c.Requests = append(c.Requests, api.DeviceRequest{Name: "b", FirstAvailable: []api.DeviceSubRequest{
			{Name: "x", DeviceClassName: "big", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1},
			{Name: "y", DeviceClassName: "device", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1},
		}})
	}
	if e := c.Requests[0].Exactly; chance(r, 6) {
		e.AdminAccess = new(true)
	}
	if e := c.Requests[0].Exactly; chance(r, 5) {
		e.AllocationMode, e.Count = api.DeviceAllocationModeAll, 0
	}
	if len(c.Requests) > 1 && chance(r, 4) {
		sub := &c.Requests[1].FirstAvailable[0]
		sub.AllocationMode, sub.Count = api.DeviceAllocationModeAll, 0
	}
	if chance(r, 4) {
		c.Constraints = []api.DeviceConstraint{{MatchAttribute: new("gpu.example.com/root")}}
	}
	return c
}

// deviceSlice makes the slice of a node, or one for all nodes.
func deviceSlice(r *rand.Rand, node string) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "slice-" + node}}
	s.Spec = api.ResourceSliceSpec{
		Driver: deviceDriver, NodeName: &node,
		Pool: api.ResourcePool{Name: node, Generation: int64(1 + r.IntN(2)), ResourceSliceCount: int64(1 + r.IntN(8)/7)},
	}
	switch node {
	case "everywhere":
		s.Spec.NodeName, s.Spec.AllNodes = nil, new(true)
	case "zone":
		s.Spec.NodeName, s.Spec.NodeSelector = nil, &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
			MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpExists}},
		}}}
	}
	for i := range 1 + r.IntN(5) {
		s.Spec.Devices = append(s.Spec.Devices, api.Device{
			Name:       fmt.Sprint("gpu-", i),
			Attributes: map[string]api.DeviceAttribute{"index": {IntValue: new(int64(i))}, "root": {StringValue: new(pick(r, "left", "right"))}},
			Capacity:   map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse(pick(r, "20Gi", "40Gi"))}},
		})
		if d := &s.Spec.Devices[i]; chance(r, 6) {
			d.AllowMultipleAllocations = new(true)
			d.Capacity["memory"] = api.DeviceCapacity{Value: resource.MustParse("40Gi"), RequestPolicy: &api.CapacityRequestPolicy{Default: new(resource.MustParse("10Gi"))}}
		}
	}
	return s
}

// devices puts the first classes, templates, claims and slices.
func (h *history) devices() error {
	for _, class := range [][2]string{
		{"device", `device.driver == "gpu.example.com"`},
		{"big", `device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`},
	} {
		c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: class[0]}}
		c.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: class[1]}}}
		if class[0] == "device" {
			c.Spec.ExtendedResourceName = new("example.com/device")
		}
		if err := framework.Put(h.snap, c); err != nil {
			return err
		}
	}
	for range 24 {
		if err := h.changeDevices(); err != nil {
			return err
		}
	}
	return nil
}

// changeDevices puts or deletes an object that devices depend on.
func (h *history) changeDevices() error {
	meta := func(prefix string, n int) api.ObjectMeta {
		name := fmt.Sprint(prefix, h.r.IntN(n))
		return api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}
	}
	switch h.r.IntN(16) {
	case 12, 13:
		return h.writeClaims()
	case 14:
		return framework.Put(h.snap, deviceSlice(h.r, "zone"))
	case 15:
		framework.Delete[api.ResourceSlice](h.snap, "slice-zone")
	case 0:
		t := &api.ResourceClaimTemplate{ObjectMeta: meta("template-", 4)}
		t.Spec.Spec.Devices = deviceRequests(h.r)
		return framework.Put(h.snap, t)
	case 1, 2:
		c := &api.ResourceClaim{ObjectMeta: meta("devices-", deviceClaims)}
		c.Spec.Devices = deviceRequests(h.r)
		if chance(h.r, 2) {
			c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
				{Request: "a", Driver: deviceDriver, Pool: h.someHost(), Device: "gpu-0"},
			}}}
			h.allocatedSomewhere(c.Status.Allocation)
		}
		return framework.Put(h.snap, c)
	case 3:
		framework.Delete[api.ResourceClaim](h.snap, "default/"+meta("devices-", deviceClaims).Name)
	case 4:
		framework.Delete[api.ResourceSlice](h.snap, "slice-"+h.someHost())
	case 5:
		return framework.Put(h.snap, deviceSlice(h.r, "everywhere"))
	case 6:
		framework.Delete[api.ResourceSlice](h.snap, "slice-everywhere")
	case 7:
		rule := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: "rule"}}
		rule.Spec.DeviceSelector = &api.DeviceTaintSelector{Device: new(fmt.Sprint("gpu-", h.r.IntN(3)))}
		rule.Spec.Taint = api.DeviceTaint{Key: "broken", Effect: pick(h.r, api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNone)}
		return framework.Put(h.snap, rule)
	case 8:
		framework.Delete[api.DeviceTaintRule](h.snap, "rule")
	default:
		return framework.Put(h.snap, deviceSlice(h.r, h.someHost()))
	}
	return nil
}

// allocatedSomewhere restricts some allocations to nodes, and makes some wait for a
// condition.
func (h *history) allocatedSomewhere(a *api.AllocationResult) {
	if chance(h.r, 2) {
		a.NodeSelector = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{h.someHost()}},
		}}}}
	}
	if chance(h.r, 3) {
		a.Devices.Results[0].BindingConditions = []string{"Attached"}
		a.AllocationTimestamp = new(h.snap.Now())
	}
}

// ownClaims puts the claims that a controller makes from the templates that a pod names.
// The templates may be gone by now.
func (h *history) ownClaims(p *api.Pod) error {
	for i := range p.Spec.ResourceClaims {
		entry := &p.Spec.ResourceClaims[i]
		if entry.ResourceClaimTemplateName == nil || chance(h.r, 3) {
			continue
		}
		t := framework.Lookup[api.ResourceClaimTemplate](h.snap, p.Namespace+"/"+*entry.ResourceClaimTemplateName)
		if t == nil {
			continue
		}
		c := &api.ResourceClaim{Spec: t.Spec.Spec}
		c.Namespace, c.Name, c.UID = p.Namespace, p.Name+"-"+entry.Name, p.UID+"-claim"
		c.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: &c.Name})
		if err := framework.Put(h.snap, c); err != nil {
			return err
		}
	}
	return nil
}

// writeClaims writes what the pods of some node have in flight, as drivers do. Claims that
// belong to no pod of a node are deleted now and then, so that they do not pile up.
func (h *history) writeClaims() error {
	if h.snap.Len() == 0 {
		return nil
	}
	for _, p := range h.someNode().Pods {
		for _, c := range filter.DeviceClaimsOf(h.snap, p) {
			written, err := c.Write(framework.Lookup[api.ResourceClaim](h.snap, c.Claim.Key()), p.Pod, h.snap.Now())
			if err != nil {
				continue // it has changed in the meantime
			}
			if err := framework.Put(h.snap, written); err != nil {
				return err
			}
		}
	}
	for _, c := range framework.List[api.ResourceClaim](h.snap) {
		o := c.ControllerRef()
		if o == nil || !chance(h.r, 4) {
			continue
		}
		if _, node := h.snap.Pod(c.Namespace + "/" + o.Name); node == nil {
			framework.Delete[api.ResourceClaim](h.snap, c.Key())
		}
	}
	return nil
}
