package devices

import (
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/resource"
)

// wide says that cases get what NewCase does not make (review of issue 19).
var wide = os.Getenv("BERTH_WIDE") != ""

func qty(s string) resource.Quantity { return resource.MustParse(s) }

// widen changes a case into one with rarer fields.
func widen(r *rand.Rand, c *golden.DeviceCase) {
	w := &widener{r, c}
	for _, s := range c.Slices {
		w.slice(s)
	}
	for range r.IntN(3) {
		w.pool()
	}
	for _, n := range c.Nodes {
		if chance(r, 3) {
			n.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
		}
		n.Labels["n"] = pick(r, "1", "5", "x")
	}
	for _, x := range c.Classes {
		if chance(r, 10) {
			x.Spec.Config = append(x.Spec.Config, api.DeviceClassConfiguration{DeviceConfiguration: config("net.example.com")}, api.DeviceClassConfiguration{DeviceConfiguration: config("gpu.example.com")})
		}
		if x.Name == "any" && chance(r, 20) {
			x.Spec.ExtendedResourceName = new(pick(r, "kubernetes.io/odd", "plain", "requests.x.io/a", "example.com/any"))
		}
	}
	for range r.IntN(3) {
		c.TaintRules = append(c.TaintRules, w.rule())
	}
	for _, x := range c.Claims {
		if x.Status.Allocation == nil {
			w.claim(x)
		} else {
			w.allocated(x)
		}
	}
	for i := range c.Steps {
		if p := c.Steps[i].Pod; p != nil {
			w.pod(p)
		}
	}
}

type widener struct {
	r *rand.Rand
	c *golden.DeviceCase
}

func (w *widener) rule() *api.DeviceTaintRule {
	r := w.r
	rule := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("wide-", len(w.c.TaintRules))}}
	rule.Spec.Taint = w.taint()
	s := new(api.DeviceTaintSelector)
	rule.Spec.DeviceSelector = s
	if chance(r, 2) {
		s.Driver = new(pick(r, "gpu.example.com", "nic.example.com", "mig.example.com", "wide.example.com", "net.example.com", ""))
	}
	if chance(r, 2) {
		s.Pool = new(pick(r, "n0", "n1", "net", "shared", "w0", "n"))
	}
	if chance(r, 2) {
		s.Device = new(pick(r, "gpu-0", "gpu-1", "nic-0", "mig-0-1", "d0", "d1", "gpu"))
	}
	return rule
}

func (w *widener) taint() api.DeviceTaint {
	r := w.r
	return api.DeviceTaint{Key: pick(r, "k", "l", "k"), Value: pick(r, "", "v", "w"), Effect: pick(r, api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute, api.DeviceTaintEffectNone, "Weird", "")}
}

func (w *widener) selector() *api.NodeSelector {
	r := w.r
	req := func() api.NodeSelectorRequirement {
		switch r.IntN(8) {
		case 0:
			return api.NodeSelectorRequirement{Key: "zone", Operator: api.NodeSelectorOpNotIn, Values: []string{pick(r, "a", "b")}}
		case 1:
			return api.NodeSelectorRequirement{Key: pick(r, "zone", "none"), Operator: api.NodeSelectorOpExists}
		case 2:
			return api.NodeSelectorRequirement{Key: pick(r, "zone", "none"), Operator: api.NodeSelectorOpDoesNotExist}
		case 3:
			return api.NodeSelectorRequirement{Key: "n", Operator: pick(r, api.NodeSelectorOpGt, api.NodeSelectorOpLt), Values: []string{pick(r, "0", "3", "x")}}
		case 4:
			return api.NodeSelectorRequirement{Key: "zone", Operator: api.NodeSelectorOpIn, Values: []string{"b", "a"}}
		case 5:
			if chance(r, 6) {
				return api.NodeSelectorRequirement{Key: "zone", Operator: "Near", Values: []string{"a"}}
			}
		}
		return api.NodeSelectorRequirement{Key: pick(r, "zone", "rack"), Operator: api.NodeSelectorOpIn, Values: []string{pick(r, "a", "b", "x", "y")}}
	}
	s := &api.NodeSelector{}
	for range pick(r, 1, 1, 1, 1, 2, 0) {
		t := api.NodeSelectorTerm{}
		for range pick(r, 1, 1, 2, 0) {
			t.MatchExpressions = append(t.MatchExpressions, req())
		}
		if chance(r, 4) {
			t.MatchFields = append(t.MatchFields, api.NodeSelectorRequirement{Key: pick(r, "metadata.name", "metadata.name", "metadata.name", "metadata.name", "spec.x"), Operator: pick(r, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn), Values: []string{pick(r, "n0", "n1", "n2")}})
		}
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, t)
	}
	return s
}

func (w *widener) where(d *api.Device) {
	r := w.r
	switch r.IntN(5) {
	case 0:
		d.AllNodes = new(true)
	case 1, 2:
		d.NodeName = new(fmt.Sprint("n", r.IntN(4)))
	case 3:
		d.NodeSelector = w.selector() // not one that cannot be parsed: the error has the device in full
		for i := range d.NodeSelector.NodeSelectorTerms {
			t := &d.NodeSelector.NodeSelectorTerms[i]
			for k := range t.MatchExpressions {
				if x := &t.MatchExpressions[k]; x.Operator == "Near" || x.Key == "n" && x.Values[0] == "x" {
					*x = api.NodeSelectorRequirement{Key: "zone", Operator: api.NodeSelectorOpExists}
				}
			}
			for k := range t.MatchFields {
				t.MatchFields[k].Key = "metadata.name"
			}
		}
	}
}

func (w *widener) policy() *api.CapacityRequestPolicy {
	r := w.r
	q := func(texts ...string) *resource.Quantity { return new(qty(pick(r, texts...))) }
	p := new(api.CapacityRequestPolicy)
	if chance(r, 2) {
		p.Default = q("0", "1", "500m", "3", "200", "-1", "1n")
	}
	switch r.IntN(3) {
	case 0:
		for range 1 + r.IntN(4) {
			p.ValidValues = append(p.ValidValues, *q("1", "5", "2", "500m", "20", "3", "100", "10Gi"))
		}
	case 1:
		p.ValidRange = &api.CapacityRequestPolicyRange{Min: q("0", "1", "500m", "1500m", "2", "10", "1Ki")}
		if chance(r, 2) {
			p.ValidRange.Max = q("3", "8", "2500m", "20", "9223372036854775807", "9E")
		}
		if chance(r, 2) {
			p.ValidRange.Step = q("1", "2", "250m", "5", "1500m", "7", "1Gi", "1n")
		}
	}
	return p
}

func (w *widener) device(d *api.Device) {
	r := w.r
	if d.Attributes == nil {
		d.Attributes = map[string]api.DeviceAttribute{}
	}
	switch r.IntN(14) {
	case 0:
		d.Attributes["gpu.example.com/numa"] = api.DeviceAttribute{IntValue: new(int64(r.IntN(2)))}
	case 1:
		d.Attributes["numa"] = api.DeviceAttribute{StringValue: new(pick(r, "0", "1"))}
	case 2:
		d.Attributes["flag"] = api.DeviceAttribute{BoolValue: new(chance(r, 2))}
	case 3:
		d.Attributes["resource.kubernetes.io/root"] = api.DeviceAttribute{VersionValue: new(pick(r, "1.0.0", "1.0.0+a", "1.0.1"))}
	case 4:
		d.Attributes["resource.kubernetes.io/root"] = api.DeviceAttribute{StringValues: []string{"p0", "p1"}}
	case 5:
		if chance(r, 6) {
			d.Attributes["bad"] = api.DeviceAttribute{VersionValue: new(pick(r, "1.0", "v1.0.0", "01.0.0", "1.0.0-", ""))}
		}
	case 6:
		d.Attributes["flags"] = api.DeviceAttribute{BoolValues: []bool{true}}
		d.Attributes["vs"] = api.DeviceAttribute{VersionValues: []string{"1.2.3"}}
	}
	for range r.IntN(3) / 2 {
		d.Taints = append(d.Taints, w.taint())
	}
	if chance(r, 6) {
		if d.Capacity == nil {
			d.Capacity = map[string]api.DeviceCapacity{}
		}
		x := api.DeviceCapacity{Value: qty(pick(r, "0", "1", "4", "2500m", "100", "9223372036854775807", "20E", "10Gi"))}
		if chance(r, 2) {
			x.RequestPolicy = w.policy()
		}
		d.Capacity[pick(r, "bandwidth", "memory", "other.io/slots", "wide.example.com/bandwidth")] = x
	}
	if chance(r, 12) {
		d.AllowMultipleAllocations = new(chance(r, 3) == false)
	}
	if chance(r, 20) {
		d.BindsToNode = new(chance(r, 2))
	}
	if chance(r, 30) {
		d.BindingConditions, d.BindingFailureConditions = []string{"Attached", "Other"}, nil
	}
	for i := range d.ConsumesCounters {
		if chance(r, 120) {
			d.ConsumesCounters[i].CompatibilityGroups = []string{"g"}
		}
	}
}

func (w *widener) slice(s *api.ResourceSlice) {
	r := w.r
	for i := range s.Spec.Devices {
		if chance(r, 2) {
			w.device(&s.Spec.Devices[i])
		}
	}
	if s.Spec.NodeName == nil && s.Spec.Driver == "net.example.com" && chance(r, 3) {
		if s.Spec.NodeSelector != nil {
			s.Spec.NodeSelector = w.selector()
		}
	}
	if chance(r, 60) && s.Spec.NodeName != nil {
		s.Spec.NodeName = new("")
	}
}

// pool adds a pool of several slices on several nodes, with counters in several sets, and
// generations that only some nodes see.
func (w *widener) pool() {
	r := w.r
	name := fmt.Sprint("w", len(w.c.Slices))
	driver := pick(r, "wide.example.com", "gpu.example.com", "mig.example.com")
	counted := !chance(r, 3) // else generations, and counts that only some nodes see (13.6)
	generations := int64(1 + r.IntN(3))
	if counted {
		generations = 1
	}
	for generation := int64(1); generation <= generations; generation++ {
		count := 1 + r.IntN(4)
		want := int64(count)
		switch r.IntN(8) {
		case 0:
			want++
		case 1, 2:
			if !counted {
				want = max(1, want-1)
			}
		}
		// sets come first or last
		names := r.Perm(count)
		sets := []string{"s0", "s1"}
		first := counted
		for k := range count {
			s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("w%s-%s-%d-%d-%d", driver[:3], name, generation, names[k], len(w.c.Slices))}}
			s.Spec.Driver, s.Spec.Pool = driver, api.ResourcePool{Name: name, Generation: generation, ResourceSliceCount: want}
			switch r.IntN(6) {
			case 0, 1:
				s.Spec.NodeName = new(fmt.Sprint("n", r.IntN(4)))
			case 2:
				s.Spec.AllNodes = new(true)
			case 3:
				s.Spec.NodeSelector = w.selector()
			case 4:
				s.Spec.PerDeviceNodeSelection = new(true)
			case 5:
				if chance(r, 4) {
					s.Spec.PerDeviceNodeSelection = new(false)
				} else {
					s.Spec.AllNodes = new(true)
				}
			}
			if first && count > 1 {
				first = false
				for _, set := range sets {
					counters := map[string]api.Counter{"memory": {Value: qty(pick(r, "40", "20", "500m"))}, "slots": {Value: qty(pick(r, "2", "3", "1"))}}
					s.Spec.SharedCounters = append(s.Spec.SharedCounters, api.CounterSet{Name: set, Counters: counters})
				}
				if chance(r, 20) {
					s.Spec.SharedCounters = append(s.Spec.SharedCounters, s.Spec.SharedCounters[0])
				}
				if chance(r, 20) {
					s.Spec.Devices = []api.Device{{Name: "ignored"}}
				}
			} else {
				for i := range 1 + r.IntN(4) {
					d := api.Device{Name: fmt.Sprintf("d%d", pick(r, i+5*k, i+5*k, i+5*k, i+5*k, i+5*k, i+5*k, i+5*k, i+5*k, i+5*k, i))}
					if counted && count > 1 && !chance(r, 4) {
						for _, set := range sets[:1+r.IntN(2)] {
							x := api.DeviceCounterConsumption{CounterSet: set, Counters: map[string]api.Counter{}}
							for _, counter := range []string{"memory", "slots"} {
								if chance(r, 2) {
									x.Counters[counter] = api.Counter{Value: qty(pick(r, "1", "10", "250m", "0", "20"))}
								}
							}
							if chance(r, 60) {
								x.Counters["none"] = api.Counter{Value: qty("1")}
							}
							d.ConsumesCounters = append(d.ConsumesCounters, x)
						}
						if chance(r, 12) {
							d.ConsumesCounters = append(d.ConsumesCounters, d.ConsumesCounters[0]) // one set twice
						}
					}
					if chance(r, 4) {
						d.AllowMultipleAllocations = new(true)
						d.Capacity = map[string]api.DeviceCapacity{}
						if !chance(r, 4) {
							d.Capacity["bandwidth"] = api.DeviceCapacity{Value: qty(pick(r, "10", "3", "100")), RequestPolicy: w.policy()}
						}
					}
					w.device(&d)
					if s.Spec.PerDeviceNodeSelection != nil {
						w.where(&d)
					}
					s.Spec.Devices = append(s.Spec.Devices, d)
				}
			}
			w.c.Slices = append(w.c.Slices, s)
		}
	}
}

var wideConditions = []string{
	`device.attributes["resource.kubernetes.io"].?root.orValue("") == "p0"`, `device.driver != "nic.example.com"`,
	`device.driver in ["gpu.example.com", "wide.example.com"]`, `"bandwidth" in device.capacity[device.driver]`,
	`device.attributes["resource.kubernetes.io"].root == "p0"`,
	`cel.bind(a, device.attributes["gpu.example.com"], has(a.index) && a.index > 0)`,
	`device.attributes["gpu.example.com"].?version.orValue(semver("0.0.0")).isGreaterThan(semver("1.9.9"))`,
	`device.attributes["gpu.example.com"].index == 1.0 || true`, `size(device.attributes) > 0`, `device.attributes["gpu.example.com"].?flag.orValue(false)`,
	`device.capacity["nic.example.com"].?bandwidth.orValue(quantity("0")).compareTo(quantity("40")) >= 0`,
	`device.attributes.exists(d, d == "resource.kubernetes.io")`, `[1,2].exists(x, x == 1)`, `false || device.driver.matches("^(gpu|wide)")`,
	`device.attributes["none"].x == 1`, `1 / 0 == 1`,
}

func (w *widener) exact(e *api.ExactDeviceRequest) {
	r := w.r
	switch r.IntN(24) {
	case 0:
		e.Count = int64(pick(r, 32, 33, 16, 31, 12, 8))
	case 1, 2:
		e.AllocationMode, e.Count = api.DeviceAllocationModeAll, int64(pick(r, 0, 0, 3))
	case 3:
		if chance(r, 8) {
			e.DerivedAttributes = []api.DeviceDerivedAttribute{{Name: "x"}}
		}
	case 4:
		if chance(r, 8) {
			e.Selectors = append(e.Selectors, api.DeviceSelector{})
		}
	}
	for range r.IntN(4) / 3 {
		n := len(wideConditions)
		if !chance(r, 6) {
			n -= 2
		}
		e.Selectors = append(e.Selectors, selector(wideConditions[r.IntN(n)]))
	}
	for range r.IntN(4) / 2 {
		t := api.DeviceToleration{Key: pick(r, "", "k", "l", "k"), Operator: pick(r, api.DeviceTolerationOpEqual, api.DeviceTolerationOpExists, api.DeviceTolerationOpExists, "", "Odd"), Value: pick(r, "", "v", "w"),
			Effect: pick(r, "", "", api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute, api.DeviceTaintEffectNone)}
		if chance(r, 3) {
			t.TolerationSeconds = new(int64(r.IntN(3) - 1))
		}
		e.Tolerations = append(e.Tolerations, t)
	}
	if chance(r, 5) {
		e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{}}
		for range r.IntN(3) {
			e.Capacity.Requests[pick(r, "bandwidth", "bandwidth", "bandwidth", "memory", "other.io/slots", "wide.example.com/bandwidth", "nic.example.com/bandwidth")] =
				qty(pick(r, "0", "1", "3", "600m", "2750m", "1n", "7", "30Gi", "20", "9223372036854775807", "10E", "-1", "5Ki"))
		}
	}
}

func (w *widener) claim(c *api.ResourceClaim) {
	r := w.r
	d := &c.Spec.Devices
	if chance(r, 30) {
		d.Requests = nil
	}
	for i := range d.Requests {
		q := &d.Requests[i]
		if q.Exactly != nil && chance(r, 3) {
			w.exact(q.Exactly)
			if chance(r, 8) {
				q.Exactly.AdminAccess = new(!chance(r, 5))
			}
		}
		if len(q.FirstAvailable) > 0 {
			for k := range q.FirstAvailable {
				if chance(r, 2) {
					sub := &q.FirstAvailable[k]
					e := &api.ExactDeviceRequest{DeviceClassName: sub.DeviceClassName, Selectors: sub.Selectors, AllocationMode: sub.AllocationMode, Count: sub.Count, Tolerations: sub.Tolerations, Capacity: sub.Capacity}
					w.exact(e)
					sub.Selectors, sub.AllocationMode, sub.Count, sub.Tolerations, sub.Capacity, sub.DerivedAttributes = e.Selectors, e.AllocationMode, e.Count, e.Tolerations, e.Capacity, e.DerivedAttributes
				}
			}
			for len(q.FirstAvailable) < 8 && chance(r, 3) {
				e := exact(r)
				w.exact(e)
				q.FirstAvailable = append(q.FirstAvailable, api.DeviceSubRequest{Name: fmt.Sprint("s", len(q.FirstAvailable)), DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity})
			}
		}
	}
	for range r.IntN(3) {
		if !chance(r, 2) {
			continue
		}
		x := api.DeviceConstraint{}
		attribute := new(pick(r, "resource.kubernetes.io/root", "gpu.example.com/numa", "gpu.example.com/flag", "gpu.example.com/version", "gpu.example.com/model", "numa", "gpu.example.com/flags", "mig.example.com/profile", "gpu.example.com/healthy"))
		if chance(r, 2) {
			x.DistinctAttribute = attribute
		} else {
			x.MatchAttribute = attribute
		}
		for range r.IntN(3) {
			x.Requests = append(x.Requests, pick(r, "r0", "r1", "r0/s0", "r0/s1", "r1/s0", "s0", "none"))
		}
		d.Constraints = append(d.Constraints, x)
	}
	if chance(r, 5) {
		for range 1 + r.IntN(3) {
			x := api.DeviceClaimConfiguration{DeviceConfiguration: config(pick(r, "gpu.example.com", "nic.example.com"))}
			for range r.IntN(3) {
				x.Requests = append(x.Requests, pick(r, "r0", "r1", "r0/s0", "r1/s0", "r0/s1", "r2"))
			}
			d.Config = append(d.Config, x)
		}
	}
}

func (w *widener) allocated(c *api.ResourceClaim) {
	r := w.r
	results := c.Status.Allocation.Devices.Results
	for i := range results {
		x := &results[i]
		if chance(r, 10) {
			x.SkipNodeOperations = []string{"x"}
		}
		if x.ShareID != nil {
			if chance(r, 4) {
				x.ConsumedCapacity = nil
			}
			if chance(r, 4) {
				x.ConsumedCapacity = map[string]resource.Quantity{"unknown": qty("3"), "bandwidth": qty("1500m")}
			}
			if chance(r, 8) {
				x.ShareID = new(api.UID(fmt.Sprintf("%s-%d", c.Name, i)))
			}
		}
		if chance(r, 6) {
			x.BindingConditions = []string{"Attached", "Other"}
			x.BindingFailureConditions = []string{"Failed", "Worse"}
			c.Status.Allocation.AllocationTimestamp = pick(r, nil, new(longAgo), new(notYet))
			if chance(r, 2) {
				c.Status.Devices = append(c.Status.Devices, api.AllocatedDeviceStatus{Driver: x.Driver, Pool: x.Pool, Device: x.Device, Conditions: []api.Condition{
					{Type: "Attached", Status: pick(r, api.ConditionTrue, "Unknown")}, {Type: "Other", Status: pick(r, api.ConditionTrue, api.ConditionFalse)}, {Type: "Worse", Status: pick(r, api.ConditionFalse, api.ConditionFalse, api.ConditionTrue)},
				}})
			}
		}
	}
	if chance(r, 6) && len(c.Spec.Devices.Requests) == 0 {
		c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", FirstAvailable: []api.DeviceSubRequest{{Name: "s0", DeviceClassName: "gpu", Count: 1, AllocationMode: "ExactCount"}, {Name: "s1", DeviceClassName: "gpu", Count: 1, AllocationMode: "ExactCount"}}}}
		for i := range results {
			results[i].Request = pick(r, "r", "r/s0", "r/s1")
		}
	}
	if chance(r, 8) {
		c.Status.Allocation.NodeSelector = w.selector()
		for i := range c.Status.Allocation.NodeSelector.NodeSelectorTerms {
			t := &c.Status.Allocation.NodeSelector.NodeSelectorTerms[i]
			if len(t.MatchExpressions) > 1 {
				t.MatchExpressions = t.MatchExpressions[:1]
			}
		}
	}
}

func (w *widener) pod(p *api.Pod) {
	r := w.r
	if w.c.Family == "extended" {
		if chance(r, 4) { // many containers: names sort as strings
			for i := range 12 {
				c := api.Container{Name: fmt.Sprint("c", i)}
				if chance(r, 3) {
					c.Resources.Requests = resource.List{pick(r, resource.Name("example.com/gpu"), "example.com/nic", "deviceclass.resource.kubernetes.io/low", "cpu", "requests.x.io/a", "deviceclass.resource.kubernetes.io/none"): qty(pick(r, "1", "2", "1"))}
				}
				p.Spec.Containers = append(p.Spec.Containers, c)
			}
		}
		for i := range r.IntN(3) {
			c := api.Container{Name: fmt.Sprint("x", i)}
			if chance(r, 2) {
				c.RestartPolicy = new(api.ContainerRestartPolicyAlways)
			}
			c.Resources.Requests = resource.List{"example.com/gpu": qty(pick(r, "1", "2", "3")), "memory": qty("1Mi")}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
		if chance(r, 10) {
			p.Spec.Overhead = resource.List{"example.com/gpu": qty("1"), "cpu": qty("1m")}
		}
	}
	if chance(r, 20) && len(p.Spec.ResourceClaims) > 0 { // an empty claim name
		p.Spec.ResourceClaims[0].ResourceClaimTemplateName = new("both")
	}
	if chance(r, 30) && len(p.Status.ResourceClaimStatuses) > 0 {
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: p.Status.ResourceClaimStatuses[0].Name, ResourceClaimName: new("other")})
	}
}
