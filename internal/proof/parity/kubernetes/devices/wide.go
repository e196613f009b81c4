package devices

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/resource"
)

// qty parses an amount.
func qty(s string) resource.Quantity { return resource.MustParse(s) }

// widen gives a case what [NewCase] makes seldom or never: odd taints and operators, pools of
// several slices and generations, counters in several sets, odd amounts and policies.
//
// If several things of a case are bad at once, the order of a map decides which one the original
// names. So a case has one node selector at most that cannot be parsed, a device one attribute
// that is no version, and a request one amount that cannot be represented. Policies have such
// amounts only in cases whose requests have none, one for a device.
func widen(r *rand.Rand, c *golden.DeviceCase) {
	w := &widener{r: r, c: c, oddPolicies: chance(r, 2)}
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

// A widener widens one case.
type widener struct {
	r *rand.Rand
	c *golden.DeviceCase

	unparsable  bool // there is a node selector that cannot be parsed
	oddPolicies bool // amounts that cannot be represented are in policies, not in requests
	oddDevice   bool // a policy of the device has such an amount
}

// odd reports whether a node selector may be one that cannot be parsed. It is true once.
func (w *widener) odd(may bool) bool {
	if !may || w.unparsable {
		return false
	}
	w.unparsable = true
	return true
}

// rule makes a taint rule.
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

// taint makes a taint, now and then of no known effect.
func (w *widener) taint() api.DeviceTaint {
	r := w.r
	return api.DeviceTaint{Key: pick(r, "k", "l", "k"), Value: pick(r, "", "v", "w"), Effect: pick(r, api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute, api.DeviceTaintEffectNone, "Weird", "")}
}

// selector makes a node selector, which can be parsed unless it may be odd.
func (w *widener) selector(mayBeOdd bool) *api.NodeSelector {
	r := w.r
	requirement := func() api.NodeSelectorRequirement {
		switch r.IntN(8) {
		case 0:
			return api.NodeSelectorRequirement{Key: "zone", Operator: api.NodeSelectorOpNotIn, Values: []string{pick(r, "a", "b")}}
		case 1:
			return api.NodeSelectorRequirement{Key: pick(r, "zone", "none"), Operator: api.NodeSelectorOpExists}
		case 2:
			return api.NodeSelectorRequirement{Key: pick(r, "zone", "none"), Operator: api.NodeSelectorOpDoesNotExist}
		case 3:
			x := api.NodeSelectorRequirement{Key: "n", Operator: pick(r, api.NodeSelectorOpGt, api.NodeSelectorOpLt), Values: []string{pick(r, "0", "3")}}
			if chance(r, 3) && w.odd(mayBeOdd) {
				x.Values[0] = "x"
			}
			return x
		case 4:
			return api.NodeSelectorRequirement{Key: "zone", Operator: api.NodeSelectorOpIn, Values: []string{"b", "a"}}
		case 5:
			if chance(r, 6) && w.odd(mayBeOdd) {
				return api.NodeSelectorRequirement{Key: "zone", Operator: "Near", Values: []string{"a"}}
			}
		}
		return api.NodeSelectorRequirement{Key: pick(r, "zone", "rack"), Operator: api.NodeSelectorOpIn, Values: []string{pick(r, "a", "b", "x", "y")}}
	}
	s := new(api.NodeSelector)
	for range pick(r, 1, 1, 1, 1, 2, 0) {
		t := api.NodeSelectorTerm{}
		for range pick(r, 1, 1, 2, 0) {
			t.MatchExpressions = append(t.MatchExpressions, requirement())
		}
		if chance(r, 4) {
			x := api.NodeSelectorRequirement{Key: "metadata.name", Operator: pick(r, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn), Values: []string{pick(r, "n0", "n1", "n2")}}
			if chance(r, 5) && w.odd(mayBeOdd) {
				x.Key = "spec.x"
			}
			t.MatchFields = append(t.MatchFields, x)
		}
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, t)
	}
	return s
}

// where says where a device can be used. Its selector can be parsed: the original's error prints
// the device in full.
func (w *widener) where(d *api.Device) {
	r := w.r
	switch r.IntN(5) {
	case 0:
		d.AllNodes = new(true)
	case 1, 2:
		d.NodeName = new(fmt.Sprint("n", r.IntN(4)))
	case 3:
		d.NodeSelector = w.selector(false)
	}
}

// policy makes a policy, which need not be valid.
func (w *widener) policy() *api.CapacityRequestPolicy {
	r := w.r
	q := func(texts ...string) *resource.Quantity { return new(qty(pick(r, texts...))) }
	p := new(api.CapacityRequestPolicy)
	if chance(r, 2) {
		p.Default = q("0", "1", "500m", "3", "200", "1n")
		if w.oddPolicies && !w.oddDevice && chance(r, 7) {
			p.Default, w.oddDevice = q("-1"), true
		}
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

// device changes a device. It is called once for each.
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
		d.AllowMultipleAllocations = new(!chance(r, 3))
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

// slice changes the devices of a slice, and where they can be used.
func (w *widener) slice(s *api.ResourceSlice) {
	r := w.r
	for i := range s.Spec.Devices {
		if w.oddDevice = false; chance(r, 2) {
			w.device(&s.Spec.Devices[i])
		}
	}
	if s.Spec.NodeName == nil && s.Spec.Driver == "net.example.com" && chance(r, 3) {
		if s.Spec.NodeSelector != nil {
			s.Spec.NodeSelector = w.selector(true)
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
		// The slice with the counters comes first or later.
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
				s.Spec.NodeSelector = w.selector(true)
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
					w.oddDevice = false
					d := api.Device{Name: fmt.Sprint("d", i+5*k)}
					if chance(r, 10) {
						d.Name = fmt.Sprint("d", i) // perhaps of another, too
					}
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
