//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// TestNoWakeUpIsLostWithDevices is TestNoWakeUpIsLost for pods with claims, in a town whose slices, classes, rules
// and claims come, change and go, and whose bindings fail before or after claims are written.
func TestNoWakeUpIsLostWithDevices(t *testing.T) {
	alone := scheduling.Profile{Filter: []framework.Plugin{filter.DynamicResources{}}}
	alone.Reserve = alone.Filter
	for name, profile := range map[string]scheduling.Profile{"DynamicResources": alone, "all": scheduling.Kubernetes137()} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]int{}
			enough.Check(t, seen, map[string]int{"pods bound": 5, "claims written": 2}, func(t *rapid.T) {
				c := newDeviceTown(t, profile)
				c.live(t)
				seen["pods bound"] += c.bound
				seen["claims written"] += c.written
			})
		})
	}
}

// A deviceTown is a town with claims. It is also the PreBind plugin that writes them.
type deviceTown struct {
	*town
	claims         map[string]*api.ResourceClaim
	fail           failure // of the next binding
	bound, written int
}

// A failure says when a binding fails.
type failure int

const (
	never failure = iota
	beforeWrites
	afterWrites
)

func newDeviceTown(t *rapid.T, p scheduling.Profile) *deviceTown {
	c := &deviceTown{claims: map[string]*api.ResourceClaim{}}
	c.town = &town{pods: map[string]*api.Pod{}, logf: t.Logf, clock: virtualclock.New(frameworktest.Noon())}
	p.Cache.Verify = true // a kept answer that is stale would look like a lost event
	p.PreBind = append(slices.Clone(p.PreBind), c)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Binder: c, Clock: c.clock,
		ErrorHandler: func(err error) { t.Logf("error: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	c.d = d
	return c
}

func (*deviceTown) Name() string { return "WriteClaims" }

// PreBind writes the claims of the pod, and tells of each before the next.
func (c *deviceTown) PreBind(_ context.Context, cycle *framework.Cycle, _ string) framework.Status {
	fail := c.fail
	if c.fail = never; fail == beforeWrites {
		return framework.AsStatus(errors.New("fails before claims are written"))
	}
	if d, ok := filter.DeviceClaimsKey.Get(cycle); ok {
		for _, x := range d.Claims {
			if err := c.write(cycle.Pod.Pod, x); err != nil {
				return framework.AsStatus(err)
			}
		}
	}
	if fail == afterWrites {
		return framework.AsStatus(errors.New("fails after claims are written"))
	}
	return framework.Status{}
}

// write writes a claim. One that does not exist is made, and noted in the status of the pod if it is of a
// template.
func (c *deviceTown) write(pod *api.Pod, x filter.DeviceClaim) error {
	const extended = "<extended-resources>"
	current := c.claims[x.Claim.Key()]
	if x.Entry != "" {
		current = api.Clone(x.Claim)
		current.Status.Allocation = nil
		if current.Name = pod.Name + "-made-" + x.Entry; x.Claim.Name == extended {
			current.Name = pod.Name + "-extended"
		}
		current.UID = api.UID("u-" + current.Name)
	}
	next, err := x.Write(current, pod, frameworktest.Noon())
	if err != nil {
		return err
	}
	if p := c.pods[pod.Name]; x.Entry != "" && x.Claim.Name != extended && p != nil {
		p = api.Clone(p)
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: x.Entry, ResourceClaimName: &next.Name})
		c.pods[p.Name] = p
	}
	c.written++
	c.claims[next.Key()] = next
	tell(c.town, next, true)
	return nil
}

// Bind confirms the binding at once, with what the status of the pod says of claims that were made.
func (c *deviceTown) Bind(_ context.Context, pod *api.Pod, node string) error {
	c.bound++
	if p := c.pods[pod.Name]; p != nil && p.UID == pod.UID {
		pod = p
	}
	c.put(onNode(pod, node))
	return nil
}

func (c *deviceTown) live(t *rapid.T) {
	c.d.Apply(lifecycle.Update(&api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
	steps := map[string]func(r *rand.Rand){
		"node comes, changes or goes": func(r *rand.Rand) { tell(c.town, deviceNode(r), r.IntN(4) > 0) },
		"pod comes":                   func(r *rand.Rand) { c.put(devicePod(r)) },
		"another pod comes":           func(r *rand.Rand) { c.put(devicePod(r)) },
		"claim comes or goes":         func(r *rand.Rand) { c.tellClaim(deviceClaim(r, fmt.Sprint("c", r.IntN(4))), r.IntN(4) > 0) },
		"slice comes or goes":         func(r *rand.Rand) { tell(c.town, deviceSlice(r), r.IntN(5) > 0) },
		"another slice does":          func(r *rand.Rand) { tell(c.town, deviceSlice(r), r.IntN(5) > 0) },
		"class changes":               func(r *rand.Rand) { tell(c.town, deviceClass(r), true) },
		"rule comes or goes":          func(r *rand.Rand) { tell(c.town, taintRule(r), r.IntN(2) > 0) },
		"the next binding fails":      func(r *rand.Rand) { c.fail = of(r, beforeWrites, afterWrites) },
		"template comes or goes": func(r *rand.Rand) {
			x := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: of(r, "t0", "t1"), Namespace: townNamespace(r)}}
			x.Spec.Spec = deviceClaim(r, "x").Spec
			tell(c.town, x, r.IntN(5) > 0)
		},
		"claim changes": func(r *rand.Rand) {
			if keys := slices.Sorted(maps.Keys(c.claims)); len(keys) > 0 {
				c.changeClaim(r, c.claims[of(r, keys...)])
			}
		},
		"pod goes, or changes": func(r *rand.Rand) {
			if names := slices.Sorted(maps.Keys(c.pods)); len(names) > 0 {
				c.changePod(r, c.pods[of(r, names...)])
			}
		},
	}
	// Every step draws its random values from its own seed.
	all := map[string]func(*rapid.T){"": c.settle}
	for name, do := range steps {
		all[name] = func(t *rapid.T) { do(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))) }
	}
	t.Repeat(all)
}

// settle tries all pods, those that failed with an error too, and checks that no pod waits that fits.
func (c *deviceTown) settle(t *rapid.T) {
	for c.drain(t) {
	}
	c.clock.Advance(11 * time.Second)
	for c.drain(t) {
	}
	c.check(t)
	if err := c.d.Snapshot().Check(); err != nil {
		t.Fatal(err)
	}
}

// tellClaim lets a claim come, change or go. A claim that takes the place of another one comes after that
// has gone, and devices do not change in one step.
func (c *deviceTown) tellClaim(x *api.ResourceClaim, is bool) {
	old := c.claims[x.Key()]
	switch {
	case !is && old == nil:
		return
	case !is:
		delete(c.claims, x.Key())
		tell(c.town, old, false)
		return
	case old != nil && old.UID != x.UID:
		tell(c.town, old, false)
	case old != nil && old.Status.Allocation != nil && x.Status.Allocation != nil:
		x.Status.Allocation = old.Status.Allocation
	}
	c.claims[x.Key()] = x
	tell(c.town, x, true)
}

func (c *deviceTown) changeClaim(r *rand.Rand, old *api.ResourceClaim) {
	x := api.Clone(old)
	switch r.IntN(5) {
	case 0, 1:
		if x.Status.ReservedFor = nil; x.Status.Allocation != nil {
			x.Status.Allocation = nil
		} else {
			x.Status.Allocation = deviceAllocation(r)
		}
	case 2:
		x.Status.ReservedFor = nil
	case 3:
		x.DeletionTimestamp = new(frameworktest.Noon())
	case 4:
		c.tellClaim(x, false)
		return
	}
	c.tellClaim(x, true)
}

// changePod lets a pod go, or makes claims for its templates and notes them in its status.
func (c *deviceTown) changePod(r *rand.Rand, old *api.Pod) {
	p := api.Clone(old)
	switch r.IntN(5) {
	case 0:
		c.leave(p)
		return
	case 1:
		p.DeletionTimestamp = new(frameworktest.Noon())
	case 2:
		for _, e := range p.Spec.ResourceClaims {
			if e.ResourceClaimTemplateName == nil || r.IntN(2) == 0 {
				continue
			}
			s := api.PodResourceClaimStatus{Name: e.Name, ResourceClaimName: new(p.Name + "-gen-" + e.Name)}
			if r.IntN(6) == 0 {
				s.ResourceClaimName = nil
			}
			others := slices.DeleteFunc(slices.Clone(p.Status.ResourceClaimStatuses), func(x api.PodResourceClaimStatus) bool { return x.Name == e.Name })
			p.Status.ResourceClaimStatuses = append(others, s)
		}
	default:
		for _, e := range p.Spec.ResourceClaims {
			if e.ResourceClaimTemplateName != nil {
				x := deviceClaim(r, p.Name+"-gen-"+e.Name)
				x.Namespace, x.OwnerReferences = p.Namespace, []api.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
				c.tellClaim(x, r.IntN(5) > 0)
			}
		}
		return
	}
	c.put(p)
}

func townNamespace(r *rand.Rand) string { return of(r, "default", "default", "prod") }

func deviceNode(r *rand.Rand) *api.Node {
	b := api.MakeNode(townNodeName(r), "4", "16Gi").Zone(of(r, "a", "b"))
	if r.IntN(3) == 0 {
		b = b.Resource("x.io/g", of(r, "1", "2"))
	}
	return b.Obj()
}

func devicePod(r *rand.Rand) *api.Pod {
	b := api.MakePod(townPodName(r)).UID(api.UID(fmt.Sprint("u-", r.Uint64()))).Requests("100m", "64Mi").Namespace(townNamespace(r))
	if r.IntN(5) == 0 {
		b = b.Request("x.io/g", of(r, "1", "2"))
	}
	if r.IntN(6) == 0 {
		b = b.Node(townNodeName(r))
	}
	p := b.Obj()
	for i := range r.IntN(3) {
		e := api.PodResourceClaim{Name: fmt.Sprint("e", i)}
		if r.IntN(2) == 0 {
			e.ResourceClaimName = new(fmt.Sprint("c", r.IntN(4)))
		} else {
			e.ResourceClaimTemplateName = new(of(r, "t0", "t1"))
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, e)
	}
	return p
}

func deviceClass(r *rand.Rand) *api.DeviceClass {
	x := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: of(r, "gpu", "other")}}
	if r.IntN(2) == 0 {
		x.Spec.Selectors = attributeIs(r)
	}
	if x.Name == "gpu" {
		x.Spec.ExtendedResourceName = new("x.io/g")
	}
	return x
}

func attributeIs(r *rand.Rand) []api.DeviceSelector {
	return []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d.io"].k == %d`, r.IntN(2))}}}
}

func taintRule(r *rand.Rand) *api.DeviceTaintRule {
	x := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: of(r, "r0", "r1")}}
	x.Spec.DeviceSelector = &api.DeviceTaintSelector{Device: new(fmt.Sprint(r.IntN(3)))}
	x.Spec.Taint = api.DeviceTaint{Key: "bad", Effect: of(r, api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute)}
	return x
}

func devicePool(r *rand.Rand) string { return of(r, "n0", "n1", "n2", "all", "zone") }

// deviceSlice is a slice of a pool on a node, of all nodes, or of a zone; some pools have two slices, or counters.
func deviceSlice(r *rand.Rand) *api.ResourceSlice {
	pool := devicePool(r)
	x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: pool}}
	x.Spec = api.ResourceSliceSpec{Driver: "d.io", Pool: api.ResourcePool{Name: pool, Generation: int64(1 + r.IntN(2)), ResourceSliceCount: 1}}
	if r.IntN(5) == 0 {
		x.Name += "-2"
	}
	counts := r.IntN(4) == 0
	if counts || r.IntN(6) == 0 {
		x.Spec.Pool.ResourceSliceCount = 2
	}
	switch pool {
	case "all":
		x.Spec.AllNodes = new(true)
	case "zone":
		x.Spec.NodeSelector = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{of(r, "a", "b")}},
		}}}}
	default:
		x.Spec.NodeName = &pool
	}
	if counts && r.IntN(2) == 0 {
		x.Name += "-counters"
		x.Spec.SharedCounters = []api.CounterSet{{Name: "s", Counters: map[string]api.Counter{"x": {Value: resource.MustParse("2")}}}}
		return x
	}
	for i := range 1 + r.IntN(3) {
		d := api.Device{Name: fmt.Sprint(i), Attributes: map[string]api.DeviceAttribute{"k": {IntValue: new(int64(r.IntN(2)))}}}
		d.Capacity = map[string]api.DeviceCapacity{"m": {Value: resource.MustParse("2")}}
		if r.IntN(3) == 0 {
			d.AllowMultipleAllocations = new(true)
		}
		if r.IntN(5) == 0 {
			d.Taints = []api.DeviceTaint{{Key: "bad", Effect: api.DeviceTaintEffectNoSchedule}}
		}
		if counts {
			d.ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "s", Counters: map[string]api.Counter{"x": {Value: resource.MustParse("1")}}}}
		}
		x.Spec.Devices = append(x.Spec.Devices, d)
	}
	return x
}

func deviceAllocation(r *rand.Rand) *api.AllocationResult {
	a, pool := &api.AllocationResult{}, devicePool(r)
	for range 1 + r.IntN(2) {
		x := api.DeviceRequestAllocationResult{Request: "r0", Driver: "d.io", Pool: pool, Device: fmt.Sprint(r.IntN(3))}
		if r.IntN(4) == 0 {
			x.ShareID, x.ConsumedCapacity = new(api.UID(fmt.Sprint("s", r.Uint64()))), map[string]resource.Quantity{"m": resource.MustParse(of(r, "1", "2"))}
		}
		if r.IntN(8) == 0 {
			x.AdminAccess = new(true)
		}
		a.Devices.Results = append(a.Devices.Results, x)
	}
	if pool[0] == 'n' && r.IntN(2) == 0 {
		a.NodeSelector = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{pool}},
		}}}}
	}
	return a
}

// deviceClaim is a new claim of that name, sometimes with devices already.
func deviceClaim(r *rand.Rand, name string) *api.ResourceClaim {
	x := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: townNamespace(r), UID: api.UID(fmt.Sprint("u-", name, r.Uint64()))}}
	for i := range 1 + r.IntN(2) {
		x.Spec.Devices.Requests = append(x.Spec.Devices.Requests, deviceRequest(r, fmt.Sprint("r", i)))
	}
	switch r.IntN(9) {
	case 0:
		x.Spec.Devices.Constraints = []api.DeviceConstraint{{DistinctAttribute: new("d.io/k")}}
	case 1, 2:
		x.Spec.Devices.Constraints = []api.DeviceConstraint{{MatchAttribute: new("d.io/k")}}
	}
	if r.IntN(5) == 0 {
		x.Status.Allocation = deviceAllocation(r)
	}
	return x
}

func deviceRequest(r *rand.Rand, name string) api.DeviceRequest {
	e := api.ExactDeviceRequest{DeviceClassName: of(r, "gpu", "gpu", "other"), AllocationMode: api.DeviceAllocationModeExactCount, Count: int64(1 + r.IntN(2))}
	if r.IntN(6) == 0 {
		e.AllocationMode, e.Count = api.DeviceAllocationModeAll, 0
	}
	if r.IntN(3) == 0 {
		e.Selectors = attributeIs(r)
	}
	if r.IntN(3) == 0 {
		e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{"m": resource.MustParse(of(r, "1", "2"))}}
	}
	if r.IntN(4) == 0 {
		e.Tolerations = []api.DeviceToleration{{Operator: api.DeviceTolerationOpExists}}
	}
	if r.IntN(4) == 0 {
		return api.DeviceRequest{Name: name, FirstAvailable: []api.DeviceSubRequest{
			{Name: "a", DeviceClassName: e.DeviceClassName, AllocationMode: e.AllocationMode, Count: e.Count, Selectors: e.Selectors, Capacity: e.Capacity},
			{Name: "b", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1},
		}}
	}
	if r.IntN(10) == 0 {
		e.AdminAccess = new(true)
	}
	return api.DeviceRequest{Name: name, Exactly: &e}
}
