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

	deviceResource    resource.Name = "example.com/device"
	dedicatedResource resource.Name = api.PrefixDeviceClass + "dedicated"

	everywhere = "z-everywhere" // pools on the network
	inZones    = "z-zones"
)

// needsDevices gives some pods claims for devices.
func needsDevices(r *rand.Rand, p *api.Pod) *api.Pod {
	if !chance(r, 3) {
		return p
	}
	return withDevices(r, p)
}

// accelerated makes the pod of a class that needs devices and may go to nearly any node, so that
// devices decide.
func accelerated(r *rand.Rand, i int) *api.Pod {
	b := api.MakePod("pod").Labels("app", fmt.Sprintf("app-%d", i%5)).Requests(pick(r, "10m", "100m"), "16Mi").Tolerates("")
	return withDevices(r, b.Obj())
}

// withDevices gives a pod claims for devices, or requests for the resources behind which there
// are some.
func withDevices(r *rand.Rand, p *api.Pod) *api.Pod {
	switch r.IntN(4) {
	case 0:
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "shared", ResourceClaimName: new(fmt.Sprint("devices-", r.IntN(deviceClaims)))}}
	case 1:
		if len(p.Spec.Containers) > 0 {
			q := &p.Spec.Containers[0].Resources
			name := pick(r, deviceResource, dedicatedResource)
			q.Requests = q.Requests.Add(resource.List{name: resource.New(int64(1+r.IntN(2)), resource.DecimalSI)})
		}
	default:
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "own", ResourceClaimTemplateName: new(fmt.Sprint("template-", r.IntN(4)))}}
	}
	return p
}

// deviceRequests makes the requests of a claim.
func deviceRequests(r *rand.Rand) api.DeviceClaim {
	index := func(condition string) []api.DeviceSelector {
		return []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].index ` + condition}}}
	}
	exact := func(count int64) *api.ExactDeviceRequest {
		e := &api.ExactDeviceRequest{DeviceClassName: pick(r, "device", "device", "big", "dedicated"), AllocationMode: api.DeviceAllocationModeExactCount, Count: count}
		if chance(r, 3) {
			e.Selectors = index("< 3")
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
	e, all := c.Requests[0].Exactly, chance(r, 4)
	if all { // these are seldom free, unless they are few
		e.AllocationMode, e.Count, e.Selectors = api.DeviceAllocationModeAll, 0, index(pick(r, "== 0", "== 1", "> 2", "< 9"))
	}
	if chance(r, 8) || all && chance(r, 3) {
		e.AdminAccess = new(true)
	}
	if len(c.Requests) > 1 && chance(r, 4) {
		sub := &c.Requests[1].FirstAvailable[0]
		sub.AllocationMode, sub.Count, all = api.DeviceAllocationModeAll, 0, true
	}
	if chance(r, 4) && (!all || chance(r, 12)) { // all that are not alike are an error, which ends the cycle
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
		Pool: api.ResourcePool{Name: node, Generation: int64(1 + r.IntN(2)), ResourceSliceCount: int64(1 + r.IntN(200)/199)},
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
		{"dedicated", `!device.allowMultipleAllocations`},
	} {
		c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: class[0]}}
		c.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: class[1]}}}
		if class[0] == "device" {
			c.Spec.ExtendedResourceName = new(string(deviceResource))
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
	case 20, 21:
		return h.turnClaim()
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
		a.NodeSelector = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{h.someWhere()}}
		if chance(h.r, 4) {
			a.NodeSelector.NodeSelectorTerms = append(a.NodeSelector.NodeSelectorTerms, h.someWhere())
		}
	}
	if chance(h.r, 3) {
		a.Devices.Results[0].BindingConditions = []string{"Attached"}
		a.AllocationTimestamp = new(h.snap.Now())
	}
}

// someWhere selects nodes. Often two terms differ in their operator alone.
func (h *history) someWhere() api.NodeSelectorTerm {
	if chance(h.r, 2) {
		return api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: pick(h.r, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn), Values: []string{h.someHost()}},
		}}
	}
	x := api.NodeSelectorRequirement{Key: "cores", Operator: pick(h.r, api.NodeSelectorOpGt, api.NodeSelectorOpLt), Values: []string{"6"}}
	switch h.r.IntN(3) {
	case 0:
		x.Key = api.LabelTopologyZone
		x.Operator, x.Values = pick(h.r, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn), []string{"a"}
	case 1:
		x.Key = api.LabelTopologyZone
		x.Operator, x.Values = pick(h.r, api.NodeSelectorOpExists, api.NodeSelectorOpDoesNotExist), nil
	}
	return api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{x}}
}

// turnClaim turns the operators of the node selector of an allocated claim to and fro, and
// decides before and after for a pod of a class that names the claim.
func (h *history) turnClaim() error {
	of := pick(h.r, h.templates...)
	for range 8 {
		if len(of.Spec.ResourceClaims) == 0 || of.Spec.ResourceClaims[0].ResourceClaimName == nil {
			of = pick(h.r, h.templates...)
		}
	}
	if len(of.Spec.ResourceClaims) == 0 || of.Spec.ResourceClaims[0].ResourceClaimName == nil {
		return nil
	}
	name := *of.Spec.ResourceClaims[0].ResourceClaimName
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: of.Namespace, UID: api.UID(name)}}
	c.Status.Allocation = &api.AllocationResult{NodeSelector: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{h.someWhere()}}}
	if old := framework.Lookup[api.ResourceClaim](h.snap, c.Key()); old != nil {
		c.Spec = old.Spec
	}
	if err := framework.Put(h.snap, c); err != nil {
		return err
	}
	for range 2 {
		if err := h.scheduleOf(of, false); err != nil {
			return err
		}
		c = api.Clone(c)
		t := &c.Status.Allocation.NodeSelector.NodeSelectorTerms[0]
		for _, list := range [][]api.NodeSelectorRequirement{t.MatchFields, t.MatchExpressions} {
			for i := range list {
				list[i].Operator = opposites[list[i].Operator]
			}
		}
		if err := framework.Put(h.snap, c); err != nil {
			return err
		}
	}
	return h.scheduleOf(of, true)
}

var opposites = map[api.NodeSelectorOperator]api.NodeSelectorOperator{
	api.NodeSelectorOpIn: api.NodeSelectorOpNotIn, api.NodeSelectorOpNotIn: api.NodeSelectorOpIn,
	api.NodeSelectorOpExists: api.NodeSelectorOpDoesNotExist, api.NodeSelectorOpDoesNotExist: api.NodeSelectorOpExists,
	api.NodeSelectorOpGt: api.NodeSelectorOpLt, api.NodeSelectorOpLt: api.NodeSelectorOpGt,
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
