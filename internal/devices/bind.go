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
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		if len(r.BindingConditions) == 0 {
			continue
		}
		k := slices.IndexFunc(c.Status.Devices, func(d api.AllocatedDeviceStatus) bool {
			return d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device
		})
		if k < 0 {
			return false, false, ""
		}
		holds := func(name string) bool {
			return slices.ContainsFunc(c.Status.Devices[k].Conditions, func(x api.Condition) bool { return x.Type == name && x.Status == api.ConditionTrue })
		}
		if i := slices.IndexFunc(r.BindingFailureConditions, holds); i >= 0 {
			return false, true, r.BindingFailureConditions[i]
		}
		if slices.ContainsFunc(r.BindingConditions, func(name string) bool { return !holds(name) }) {
			return false, false, ""
		}
	}
	return true, false, ""
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
