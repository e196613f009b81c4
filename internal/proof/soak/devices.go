package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

const (
	deviceDriver = "gpu.example.com"
	deviceClaims = 6 // claims that pods name

	everywhere = "z-everywhere" // pools on the network
	inZones    = "z-zones"
)

// needsDevices gives some pods claims for devices.
func needsDevices(r *rand.Rand, p *api.Pod) *api.Pod {
	if !chance(r, 3) {
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
		if chance(r, 5) {
			e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": resource.MustParse(pick(r, "5Gi", "15Gi"))}}
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
		if chance(r, 3) {
			c.Constraints = []api.DeviceConstraint{{DistinctAttribute: new("gpu.example.com/index")}}
		}
	}
	return c
}

// deviceSlice makes the slice of a node, or one for all nodes.
func deviceSlice(r *rand.Rand, node string) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "slice-" + node}}
	s.Spec = api.ResourceSliceSpec{
		Driver: deviceDriver, NodeName: &node,
		Pool: api.ResourcePool{Name: node, Generation: int64(1 + r.IntN(2)), ResourceSliceCount: int64(1 + r.IntN(40)/39)},
	}
	switch node { // names that come after those of nodes: pools are tried in this order
	case everywhere:
		s.Spec.NodeName, s.Spec.AllNodes = nil, new(true)
	case inZones:
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

// partitions makes a pool of a node whose devices consume counters, in two slices. Now and
// then the counters are fewer than one device consumes.
func partitions(r *rand.Rand, node string) (counters, devices *api.ResourceSlice) {
	slice := func(name string) *api.ResourceSlice {
		s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name + "-" + node}}
		s.Spec = api.ResourceSliceSpec{
			Driver: deviceDriver, NodeName: &node,
			Pool: api.ResourcePool{Name: "parts-" + node, Generation: 1, ResourceSliceCount: 2},
		}
		return s
	}
	memory := func(texts ...string) map[string]api.Counter {
		return map[string]api.Counter{"memory": {Value: resource.MustParse(pick(r, texts...))}}
	}
	counters, devices = slice("counters"), slice("partitions")
	counters.Spec.SharedCounters = []api.CounterSet{{Name: "card", Counters: memory("5Gi", "40Gi", "60Gi")}}
	for i := range 2 + r.IntN(4) {
		devices.Spec.Devices = append(devices.Spec.Devices, api.Device{
			Name:             fmt.Sprint("part-", i),
			Attributes:       map[string]api.DeviceAttribute{"index": {IntValue: new(int64(i))}, "root": {StringValue: new("left")}},
			Capacity:         map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("20Gi")}},
			ConsumesCounters: []api.DeviceCounterConsumption{{CounterSet: "card", Counters: memory("10Gi", "20Gi")}},
		})
	}
	return counters, devices
}

// changePartitions puts the partitions of a node or, now and then, only half of them.
func (h *history) changePartitions() error {
	node := h.someHost()
	counters, devices := partitions(h.r, node)
	if chance(h.r, 12) {
		framework.Delete[api.ResourceSlice](h.snap, pick(h.r, counters, devices).Name)
		return nil
	}
	if err := framework.Put(h.snap, counters); err != nil {
		return err
	}
	return framework.Put(h.snap, devices)
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
	for i := range 4 {
		if err := h.changeTemplate(api.ObjectMeta{Name: fmt.Sprint("template-", i), Namespace: "default"}); err != nil {
			return err
		}
	}
	for range 48 {
		if err := h.changeDevices(); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) changeTemplate(meta api.ObjectMeta) error {
	t := &api.ResourceClaimTemplate{ObjectMeta: meta}
	t.Spec.Spec.Devices = deviceRequests(h.r)
	return framework.Put(h.snap, t)
}

// changeDevices puts or deletes an object that devices depend on.
func (h *history) changeDevices() error {
	meta := func(prefix string, n int) api.ObjectMeta {
		name := fmt.Sprint(prefix, h.r.IntN(n))
		return api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}
	}
	switch h.r.IntN(32) { // mostly the slice of a node
	case 16, 17:
		return h.changePartitions()
	case 18, 19: // what every node can use would keep pods from the devices of nodes
		framework.Delete[api.ResourceSlice](h.snap, "slice-"+everywhere)
		framework.Delete[api.ResourceSlice](h.snap, "slice-"+inZones)
	case 12, 13:
		return h.writeClaims()
	case 14:
		return framework.Put(h.snap, deviceSlice(h.r, inZones))
	case 15:
		framework.Delete[api.ResourceSlice](h.snap, "slice-"+inZones)
	case 0:
		return h.changeTemplate(meta("template-", 4))
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
		return framework.Put(h.snap, deviceSlice(h.r, everywhere))
	case 6:
		framework.Delete[api.ResourceSlice](h.snap, "slice-"+everywhere)
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

// countDevices counts the devices that a pod has just got.
func (h *history) countDevices(p *framework.PodInfo) {
	n := &h.res.Given
	for _, c := range filter.DeviceClaimsOf(h.snap, p) {
		for _, r := range c.Claim.Status.Allocation.Devices.Results {
			n.All++
			if r.AdminAccess != nil {
				n.Admin++
			}
			if r.ShareID != nil {
				n.Shares++
			}
			switch {
			case strings.HasPrefix(r.Pool, "parts-"):
				n.Partitions++
			case r.Pool == everywhere, r.Pool == inZones:
				n.Network++
			}
			for _, q := range c.Claim.Spec.Devices.Requests {
				if q.Name == r.Request && q.Exactly.AllocationMode == api.DeviceAllocationModeAll {
					n.Whole++
				}
			}
		}
	}
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
