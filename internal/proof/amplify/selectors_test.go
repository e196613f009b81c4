//go:build full

package amplify_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/amplify"
	"github.com/berth-sched/berth/scheduling"
)

// TestSelectorsOfClaims schedules a pod with a claim of hostile selectors: they are compiled,
// and evaluated for some devices. What evaluations allocate, and give back, is bounded by
// their steps.
func TestSelectorsOfClaims(t *testing.T) {
	const before = `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c","namespace":"default"},"spec":{"devices":{"requests":[` +
		`{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1,"selectors":[`
	const after = `]}}]}}}`
	var texts []amplify.Shape
	for name, unit := range map[string]string{
		"patterns":          `{"cel":{"expression":"!device.driver.matches(\"x%d(.*a){300}\")"}}`,
		"tables":            `{"cel":{"expression":"!device.driver.matches(\"x%d\\\\pL\")"}}`,
		"folded ranges":     `{"cel":{"expression":"!device.driver.matches(\"x%d(?i)[\\\\x{42}-\\\\x{1e942}]\")"}}`,
		"short selectors":   `{"cel":{"expression":"%d!=1"}}`,
		"comparisons":       `{"cel":{"expression":"device.driver != \"%d\" && device.driver != \"a\" && device.driver != \"b\" && device.driver != \"c\""}}`,
		"lists":             `{"cel":{"expression":"!(-1 in [%d,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9])"}}`,
		"not an expression": `{"cel":{"expression":"%d("}}`,
	} {
		texts = append(texts, amplify.Numbered(name, before, unit, after))
	}
	amplify.Run(t, amplify.Decoder{Name: "selectors", Base: 16 << 20, Most: 200, Texts: texts, Decode: func(text []byte) {
		var o api.Objects
		if err := o.Decode(text); err != nil || len(o.ResourceClaims) != 1 {
			t.Fatalf("%d claims (%v)", len(o.ResourceClaims), err)
		}
		s := framework.NewSnapshot(framework.Arrival)
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "a"}}
		slice.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: new("a"), Pool: api.ResourcePool{Name: "a", Generation: 1, ResourceSliceCount: 1}}
		slice.Spec.Devices = []api.Device{{Name: "0"}, {Name: "1"}}
		pod := api.MakePod("p").Obj()
		pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "x", ResourceClaimName: new("c")}}
		info, err := s.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()), framework.Put(s, slice), framework.Put(s, o.ResourceClaims[0]),
			framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		sched, err := scheduling.New(scheduling.Kubernetes137())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = sched.Schedule(s, info)
	}})
}
