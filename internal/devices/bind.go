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
	for i := range c.Status.Allocation.Devices.Results {
		if ok, err := deviceReady(c, &c.Status.Allocation.Devices.Results[i]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func deviceReady(c *api.ResourceClaim, r *api.DeviceRequestAllocationResult) (bool, error) {
	if len(r.BindingConditions) == 0 {
		return true, nil
	}
	i := slices.IndexFunc(c.Status.Devices, func(d api.AllocatedDeviceStatus) bool {
		return d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device
	})
	if i < 0 {
		return false, nil
	}
	isTrue := func(name string) bool {
		return slices.ContainsFunc(c.Status.Devices[i].Conditions, func(x api.Condition) bool {
			return x.Type == name && x.Status == api.ConditionTrue
		})
	}
	if k := slices.IndexFunc(r.BindingFailureConditions, isTrue); k >= 0 {
		return false, fmt.Errorf("device binding failed: claim=%s, condition=%s", c.Name, r.BindingFailureConditions[k])
	}
	return !slices.ContainsFunc(r.BindingConditions, func(name string) bool { return !isTrue(name) }), nil
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
