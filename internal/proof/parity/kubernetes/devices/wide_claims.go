package devices

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// wideConditions are selectors of requests; the last two fail.
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

// exact changes a request or an alternative.
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
		t := api.DeviceToleration{
			Key: pick(r, "", "k", "l", "k"), Operator: pick(r, api.DeviceTolerationOpEqual, api.DeviceTolerationOpExists, api.DeviceTolerationOpExists, "", "Odd"), Value: pick(r, "", "v", "w"),
			Effect: pick(r, "", "", api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute, api.DeviceTaintEffectNone),
		}
		if chance(r, 3) {
			t.TolerationSeconds = new(int64(r.IntN(3) - 1))
		}
		e.Tolerations = append(e.Tolerations, t)
	}
	if chance(r, 5) {
		e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{}}
		odd := w.oddPolicies
		for range r.IntN(3) {
			amount := pick(r, "0", "1", "3", "600m", "2750m", "1n", "7", "30Gi", "20", "5Ki")
			if !odd && chance(r, 4) {
				odd, amount = true, pick(r, "9223372036854775807", "10E", "-1")
			}
			e.Capacity.Requests[pick(r, "bandwidth", "bandwidth", "bandwidth", "memory", "other.io/slots", "wide.example.com/bandwidth", "nic.example.com/bandwidth")] = qty(amount)
		}
	}
}

// claim changes what a claim asks for.
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

// allocated changes what a claim has.
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
		c.Status.Allocation.NodeSelector = w.selector(true)
		for i := range c.Status.Allocation.NodeSelector.NodeSelectorTerms {
			t := &c.Status.Allocation.NodeSelector.NodeSelectorTerms[i]
			if len(t.MatchExpressions) > 1 {
				t.MatchExpressions = t.MatchExpressions[:1]
			}
		}
	}
}

// pod changes the containers and claims of a pod.
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
