package devices

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A world is a random cluster with devices, and pods' claims to allocate in turn.
type world struct {
	nodes   []*api.Node
	classes []*api.DeviceClass
	slices  []*api.ResourceSlice
	used    []*api.ResourceClaim // allocated from the start
	claims  [][]*api.ResourceClaim
}

func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// newWorld makes a random cluster.
func newWorld(r *rand.Rand) *world {
	w := new(world)
	for i := range 1 + r.IntN(4) {
		n := api.MakeNode(fmt.Sprint("n", i), "16", "64Gi").Labels("zone", pick(r, "a", "b"), "rack", pick(r, "x", "y")).Obj()
		w.nodes = append(w.nodes, n)
	}
	for name, list := range map[string][]string{
		"gpu": {`device.driver == "gpu.example.com"`}, "nic": {`device.driver == "nic.example.com"`}, "mig": {`device.driver == "mig.example.com"`},
		"any": nil, "low": {`device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].index < 3`},
		"net": {`device.driver.startsWith("net")`},
	} {
		c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: name}}
		for _, text := range list {
			c.Spec.Selectors = append(c.Spec.Selectors, selector(text))
		}
		if name == "gpu" || name == "nic" {
			c.Spec.Config = []api.DeviceClassConfiguration{{DeviceConfiguration: config(name + ".example.com")}}
		}
		w.classes = append(w.classes, c)
	}
	slices.SortFunc(w.classes, func(a, b *api.DeviceClass) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range w.nodes {
		w.local(r, n.Name)
	}
	w.network(r)
	if chance(r, 3) {
		w.partitions(r, "shared", nil)
	}
	for i := range r.IntN(5) {
		w.used = append(w.used, w.allocated(r, i))
	}
	for i := range 1 + r.IntN(4) {
		var list []*api.ResourceClaim
		for k := range 1 + r.IntN(4)/2 {
			list = append(list, newClaim(r, fmt.Sprintf("c%d-%d", i, k)))
		}
		w.claims = append(w.claims, list)
	}
	return w
}

func selector(text string) api.DeviceSelector {
	return api.DeviceSelector{CEL: &api.CELDeviceSelector{Expression: text}}
}

func config(driver string) api.DeviceConfiguration {
	return api.DeviceConfiguration{Opaque: &api.OpaqueDeviceConfiguration{Driver: driver, Parameters: []byte(`{"a":1}`)}}
}

// slice makes an empty slice of a pool.
func (w *world) slice(r *rand.Rand, driver, pool string, generation, count int64) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("s%c%d", 'a'+r.IntN(26), len(w.slices))}}
	s.Spec.Driver, s.Spec.Pool = driver, api.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: count}
	w.slices = append(w.slices, s)
	return s
}

// local adds the pools of one node: some are old, incomplete or invalid.
func (w *world) local(r *rand.Rand, node string) {
	if !chance(r, 6) {
		n := 1 + r.IntN(2)
		count := int64(n)
		if chance(r, 10) {
			count++
		}
		for k := range n {
			s := w.slice(r, "gpu.example.com", node, 2, count)
			s.Spec.NodeName = &node
			for i := range 1 + r.IntN(4) {
				s.Spec.Devices = append(s.Spec.Devices, gpu(r, k*4+i))
			}
			if chance(r, 20) {
				s.Spec.Devices = append(s.Spec.Devices, s.Spec.Devices[0]) // invalid
			}
		}
		if chance(r, 8) {
			s := w.slice(r, "gpu.example.com", node, int64(1+2*r.IntN(2)), int64(1+r.IntN(2)))
			s.Spec.NodeName, s.Spec.Devices = &node, []api.Device{gpu(r, 0)}
		}
	}
	if chance(r, 2) {
		s := w.slice(r, "nic.example.com", node, 1, 1)
		s.Spec.NodeName = &node
		for i := range 1 + r.IntN(3) {
			s.Spec.Devices = append(s.Spec.Devices, nic(r, i))
		}
	}
	if chance(r, 3) {
		w.partitions(r, node, &node)
	}
}

func gpu(r *rand.Rand, i int) api.Device {
	d := api.Device{
		Name: fmt.Sprint("gpu-", i),
		Attributes: map[string]api.DeviceAttribute{
			"index": {IntValue: new(int64(i))}, "model": {StringValue: new(pick(r, "a100", "h100"))},
			"resource.kubernetes.io/root": {StringValue: new(pick(r, "p0", "p1"))}, "numa": {IntValue: new(int64(r.IntN(2)))},
			"version": {VersionValue: new(pick(r, "1.2.3", "2.0.0-rc.1", "2.1.0"))},
		},
		Capacity: map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse(pick(r, "20Gi", "40Gi", "80Gi"))}},
	}
	if chance(r, 3) {
		d.Attributes["healthy"] = api.DeviceAttribute{BoolValue: new(chance(r, 2))}
	}
	if chance(r, 6) {
		delete(d.Attributes, "resource.kubernetes.io/root")
	}
	if chance(r, 12) {
		d.Attributes["numa"] = api.DeviceAttribute{IntValues: []int64{0, 1}}
	}
	if chance(r, 7) {
		d.Taints = []api.DeviceTaint{{Key: pick(r, "k", "l"), Value: pick(r, "", "v"), Effect: pick(r, api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute, api.DeviceTaintEffectNone)}}
	}
	if chance(r, 15) {
		d.BindingConditions, d.BindingFailureConditions = []string{"Attached"}, []string{"Failed"}
	}
	if chance(r, 15) {
		d.BindsToNode = new(true)
	}
	return d
}

// nic makes a device that is often shared by capacity, with some policy.
func nic(r *rand.Rand, i int) api.Device {
	d := api.Device{
		Name:       fmt.Sprint("nic-", i),
		Attributes: map[string]api.DeviceAttribute{"resource.kubernetes.io/root": {StringValue: new(pick(r, "p0", "p1"))}, "numa": {IntValue: new(int64(r.IntN(2)))}},
		Capacity:   map[string]api.DeviceCapacity{"bandwidth": {Value: resource.MustParse(pick(r, "10", "40", "100")), RequestPolicy: policy(r)}},
	}
	if chance(r, 3) {
		d.Capacity["other.io/slots"] = api.DeviceCapacity{Value: resource.MustParse("4"), RequestPolicy: policy(r)}
	}
	if !chance(r, 3) {
		d.AllowMultipleAllocations = new(true)
	}
	return d
}

func policy(r *rand.Rand) *api.CapacityRequestPolicy {
	q := func(texts ...string) *resource.Quantity { return new(resource.MustParse(pick(r, texts...))) }
	switch r.IntN(4) {
	case 0:
		return nil
	case 1:
		return &api.CapacityRequestPolicy{Default: q("1", "5"), ValidValues: []resource.Quantity{*q("1", "2"), *q("5", "10"), *q("20", "40")}}
	case 2:
		p := &api.CapacityRequestPolicy{Default: q("1", "2"), ValidRange: &api.CapacityRequestPolicyRange{Min: q("1", "500m", "2")}}
		if chance(r, 2) {
			p.ValidRange.Max = q("8", "20", "100")
		}
		if chance(r, 2) {
			p.ValidRange.Step = q("1", "2", "250m", "5")
		}
		return p
	}
	return &api.CapacityRequestPolicy{Default: q("1", "3", "200")}
}

// partitions adds a pool with counters.
func (w *world) partitions(r *rand.Rand, pool string, node *string) {
	sets := w.slice(r, "mig.example.com", pool, 1, 2)
	devices := w.slice(r, "mig.example.com", pool, 1, 2)
	for _, s := range []*api.ResourceSlice{sets, devices} {
		if s.Spec.NodeName = node; node == nil {
			s.Spec.AllNodes = new(true)
		}
	}
	for i := range 1 + r.IntN(2) {
		set := fmt.Sprint("set-", i)
		counter := func(n string) map[string]api.Counter {
			return map[string]api.Counter{"memory": {Value: resource.MustParse(n)}}
		}
		sets.Spec.SharedCounters = append(sets.Spec.SharedCounters, api.CounterSet{Name: set, Counters: counter("40")})
		for k, size := range []string{"40", "20", "20", "10", "10", "0"} {
			if chance(r, 4) {
				continue
			}
			d := api.Device{
				Name:             fmt.Sprintf("mig-%d-%d", i, k),
				Attributes:       map[string]api.DeviceAttribute{"profile": {StringValue: new("p" + size)}},
				ConsumesCounters: []api.DeviceCounterConsumption{{CounterSet: set, Counters: counter(size)}},
			}
			if chance(r, 40) {
				d.ConsumesCounters[0].CounterSet = "none" // invalid
			}
			if chance(r, 6) {
				d.AllowMultipleAllocations = new(true)
				d.Capacity = map[string]api.DeviceCapacity{"slots": {Value: resource.MustParse("2"), RequestPolicy: &api.CapacityRequestPolicy{Default: new(resource.MustParse("1"))}}}
			}
			devices.Spec.Devices = append(devices.Spec.Devices, d)
		}
	}
}

// network adds pools of several nodes.
func (w *world) network(r *rand.Rand) {
	if chance(r, 2) {
		return
	}
	count := int64(1 + r.IntN(2))
	for range count {
		s := w.slice(r, "net.example.com", "net", 1, count)
		for i := range 1 + r.IntN(3) {
			s.Spec.Devices = append(s.Spec.Devices, api.Device{
				Name: fmt.Sprintf("net-%d-%d", len(w.slices), i), Attributes: map[string]api.DeviceAttribute{"resource.kubernetes.io/root": {StringValue: new("p0")}},
			})
		}
		switch r.IntN(4) {
		case 0:
			s.Spec.AllNodes = new(true)
		case 1:
			s.Spec.NodeSelector = zone(r, pick(r, "a", "x"))
		case 2:
			s.Spec.NodeSelector = zone(r, "a", "y")
		default:
			s.Spec.PerDeviceNodeSelection = new(true)
			for i := range s.Spec.Devices {
				switch d := &s.Spec.Devices[i]; r.IntN(3) {
				case 0:
					d.AllNodes = new(true)
				case 1:
					d.NodeName = new(fmt.Sprint("n", r.IntN(4)))
				default:
					d.NodeSelector = zone(r, pick(r, "a", "b"))
				}
			}
		}
	}
}

// zone returns a selector with a term for each value, of the zone or of the rack.
func zone(r *rand.Rand, values ...string) *api.NodeSelector {
	s := &api.NodeSelector{}
	for _, v := range values {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: pick(r, "zone", "rack"), Operator: api.NodeSelectorOpIn, Values: []string{v}},
		}})
	}
	return s
}

// allocated makes a claim that has devices.
func (w *world) allocated(r *rand.Rand, i int) *api.ResourceClaim {
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("used-", i), Namespace: "default", UID: api.UID(fmt.Sprint("used-", i))}}
	c.Status.Allocation = new(api.AllocationResult)
	for range 1 + r.IntN(2) {
		if len(w.slices) == 0 {
			break
		}
		s := pick(r, w.slices...)
		if len(s.Spec.Devices) == 0 {
			continue
		}
		d := pick(r, s.Spec.Devices...)
		result := api.DeviceRequestAllocationResult{Request: "r", Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name, Device: d.Name}
		if d.AllowMultipleAllocations != nil {
			result.ShareID = new(api.UID(fmt.Sprint("share-", i)))
			for name := range d.Capacity {
				result.ConsumedCapacity = map[string]resource.Quantity{name: resource.MustParse(pick(r, "1", "2", "30"))}
			}
		}
		if chance(r, 8) {
			result.AdminAccess = new(true)
		}
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, result)
	}
	return c
}

// conditions are selectors of requests; the last ones fail for some devices.
var conditions = []string{
	`device.attributes["gpu.example.com"].?index.orValue(0) < 2`,
	`device.attributes["gpu.example.com"].?model.orValue("") == "a100"`,
	`has(device.capacity["gpu.example.com"].memory) && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`,
	`"numa" in device.attributes[device.driver]`,
	`device.driver.endsWith(".com")`, `device.allowMultipleAllocations`, `!device.allowMultipleAllocations`, `true`,
	`device.attributes["gpu.example.com"].version.major() == 2`, `device.attributes["gpu.example.com"].healthy`, `device.name == "x"`,
}

func newClaim(r *rand.Rand, name string) *api.ResourceClaim {
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
	for i := range 1 + r.IntN(5)/2 {
		q := api.DeviceRequest{Name: fmt.Sprint("r", i)}
		if chance(r, 4) {
			for k := range 1 + r.IntN(3) {
				e := exact(r)
				q.FirstAvailable = append(q.FirstAvailable, api.DeviceSubRequest{
					Name: fmt.Sprint("s", k), DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count,
					Tolerations: e.Tolerations, Capacity: e.Capacity,
				})
			}
		} else {
			q.Exactly = exact(r)
			if chance(r, 10) {
				q.Exactly.AdminAccess = new(true)
			}
		}
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, q)
	}
	for range r.IntN(4) / 2 {
		x := api.DeviceConstraint{}
		attribute := new(pick(r, "resource.kubernetes.io/root", "gpu.example.com/numa", "gpu.example.com/index", "nic.example.com/numa"))
		if chance(r, 3) {
			x.DistinctAttribute = attribute
		} else {
			x.MatchAttribute = attribute
		}
		if chance(r, 2) {
			x.Requests = []string{pick(r, "r0", "r1", "r1/s0")}
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, x)
	}
	if chance(r, 4) {
		c.Spec.Devices.Config = []api.DeviceClaimConfiguration{{Requests: pick(r, nil, []string{"r0"}, []string{"r1/s1"}), DeviceConfiguration: config("gpu.example.com")}}
	}
	return c
}

func exact(r *rand.Rand) *api.ExactDeviceRequest {
	e := &api.ExactDeviceRequest{
		DeviceClassName: pick(r, "gpu", "gpu", "gpu", "gpu", "nic", "nic", "mig", "any", "any", "low", "net"), AllocationMode: api.DeviceAllocationModeExactCount,
		Count: int64(pick(r, 1, 1, 1, 1, 1, 2, 2, 3, 5, 0, 20)),
	}
	if e.Count == 20 && !chance(r, 4) {
		e.Count = 1
	}
	if chance(r, 12) {
		e.AllocationMode, e.Count = api.DeviceAllocationModeAll, 0
	}
	if chance(r, 4) {
		n := len(conditions)
		if !chance(r, 8) {
			n -= 3
		}
		e.Selectors = []api.DeviceSelector{selector(conditions[r.IntN(n)])}
	}
	if chance(r, 4) {
		e.Tolerations = []api.DeviceToleration{{
			Key: pick(r, "", "k"), Operator: pick(r, api.DeviceTolerationOpEqual, api.DeviceTolerationOpExists), Value: pick(r, "", "v"),
			Effect: pick(r, "", api.DeviceTaintEffectNoSchedule),
		}}
	}
	if chance(r, 5) {
		e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{
			pick(r, "bandwidth", "bandwidth", "memory", "other.io/slots"): resource.MustParse(pick(r, "1", "3", "2500m", "7", "30Gi", "20")),
		}}
	}
	return e
}
