package devices

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// Ready reports whether the binding conditions of all devices of an allocated claim are
// true, so that its pod may be bound. A failure condition is an error.
//
// Source: kube-scheduler 1.37, dynamicresources, PreBind.
func Ready(c *api.ResourceClaim) (bool, error) {
	if c.Status.Allocation == nil {
		return false, nil
	}
	ready, failed, condition := bindingState(c)
	if failed {
		return false, fmt.Errorf("device binding failed: claim=%s, condition=%s", c.Name, condition)
	}
	return ready, nil
}

// bindingState reports whether all binding conditions of a claim's devices hold. Devices
// are looked at in order, up to the first that is not ready: failed says that one of its
// failure conditions holds, and which.
func bindingState(c *api.ResourceClaim) (ready, failed bool, condition string) {
	reports := reports{list: c.Status.Devices}
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		if len(r.BindingConditions) == 0 {
			continue
		}
		k := reports.of(r)
		if k < 0 {
			return false, false, ""
		}
		holds := func(name string) bool { return reports.isTrue(k, name) }
		if i := slices.IndexFunc(r.BindingFailureConditions, holds); i >= 0 {
			return false, true, r.BindingFailureConditions[i]
		}
		if slices.ContainsFunc(r.BindingConditions, func(name string) bool { return !holds(name) }) {
			return false, false, ""
		}
	}
	return true, false, ""
}

// reports finds what drivers report of the devices of a claim. Of more than fewNames devices, or conditions of
// one, it keeps where they are.
type reports struct {
	list    []api.AllocatedDeviceStatus
	at      map[reportID]int
	holding map[int]map[string]bool // conditions, by device
}

type reportID struct{ driver, pool, device string }

// of returns the number of the first report about a device, -1 if there is none.
func (x *reports) of(r *api.DeviceRequestAllocationResult) int {
	if len(x.list) <= fewNames {
		return slices.IndexFunc(x.list, func(d api.AllocatedDeviceStatus) bool {
			return d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device
		})
	}
	if x.at == nil {
		x.at = make(map[reportID]int, len(x.list))
		for i := range slices.Backward(x.list) {
			x.at[reportID{x.list[i].Driver, x.list[i].Pool, x.list[i].Device}] = i
		}
	}
	if i, ok := x.at[reportID{r.Driver, r.Pool, r.Device}]; ok {
		return i
	}
	return -1
}

// isTrue reports whether a report has a condition that is true.
func (x *reports) isTrue(report int, condition string) bool {
	list := x.list[report].Conditions
	if len(list) <= fewNames {
		return slices.ContainsFunc(list, func(c api.Condition) bool { return c.Type == condition && c.Status == api.ConditionTrue })
	}
	if x.holding[report] == nil {
		if x.holding == nil {
			x.holding = map[int]map[string]bool{}
		}
		x.holding[report] = map[string]bool{}
		for i := range list {
			if list[i].Status == api.ConditionTrue {
				x.holding[report][list[i].Type] = true
			}
		}
	}
	return x.holding[report][condition]
}

// StatusPatch returns the change that notes the claim of a pod's extended resources in its
// status: a strategic merge patch that the API server refuses for another pod of its name.
func (d DeviceClaims) StatusPatch(pod *api.Pod, claim string) ([]byte, error) {
	type mapping struct {
		Container string `json:"containerName"`
		Resource  string `json:"resourceName"`
		Request   string `json:"requestName"`
	}
	var p struct {
		Metadata struct {
			UID api.UID `json:"uid"`
		} `json:"metadata"`
		Status struct {
			Claim struct {
				Mappings []mapping `json:"requestMappings"`
				Name     string    `json:"resourceClaimName"`
			} `json:"extendedResourceClaimStatus"`
		} `json:"status"`
	}
	p.Metadata.UID = pod.UID
	p.Status.Claim.Name = claim
	for _, m := range d.Mappings {
		p.Status.Claim.Mappings = append(p.Status.Claim.Mappings, mapping{m.Container, string(m.Resource), m.Request})
	}
	return json.Marshal(p)
}
