package simulate_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// One device, two pods that run for an hour each: they must run one after the other, however they
// ask for the device.
func TestReview19SimulateDevices(t *testing.T) {
	for _, how := range []string{"template", "claim", "extended resource"} {
		t.Run(how, func(t *testing.T) {
			o := decode(`{"kind": "List", "items": [
				{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
				{"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}},
				{"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {"driver": "d.x", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d0"}]}},
				{"kind": "ResourceClaim", "metadata": {"name": "p", "namespace": "default", "uid": "p"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}},
				{"kind": "ResourceClaim", "metadata": {"name": "q", "namespace": "default", "uid": "q"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}},
				{"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "default"}, "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}}}]}`)
			for _, name := range []string{"p", "q"} {
				p := job(name, "1", 0, time.Hour).Obj()
				switch how {
				case "template":
					p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimTemplateName: new("t")}}
				case "claim":
					p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
				default:
					p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
				}
				o.Pods = append(o.Pods, p)
			}
			if r := run(config(o)); r.Simulated < 7200 {
				t.Errorf("both pods have the device at once: the run ends after %v s", r.Simulated)
			}
		})
	}
}
