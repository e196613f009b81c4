package estimator_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestPodPriorityClass(t *testing.T) {
	plain := api.MakePod("p")
	burstable := plain.Requests("1", "1Gi")
	priority := func(v int32) *api.Pod {
		p := plain.Obj()
		p.Spec.Priority = &v
		return p
	}
	change := func(p *api.Pod, f func(*api.Pod)) *api.Pod {
		f(p)
		return p
	}
	limits := func(requests, limits resource.List) api.ResourceRequirements {
		return api.ResourceRequirements{Requests: requests, Limits: limits}
	}
	both := resource.List{resource.CPU: resource.MustParse("1"), resource.Memory: resource.MustParse("1Gi")}
	tests := []struct {
		name string
		pod  *api.Pod
		want estimator.PriorityClass
	}{
		{"label", plain.Labels(estimator.LabelPriorityClass, "koord-mid").Obj(), estimator.PriorityMid},
		{"label before priority", change(priority(9500), func(p *api.Pod) {
			p.Labels = map[string]string{estimator.LabelPriorityClass: "koord-free"}
		}), estimator.PriorityFree},
		{"unknown label hides the priority", change(priority(9500), func(p *api.Pod) {
			p.Labels = map[string]string{estimator.LabelPriorityClass: "gold"}
		}), estimator.PriorityBatch},
		{"9000", priority(9000), estimator.PriorityProd},
		{"9999", priority(9999), estimator.PriorityProd},
		{"10000", priority(10000), estimator.PriorityBatch},
		{"8999", priority(8999), estimator.PriorityBatch},
		{"7500", priority(7500), estimator.PriorityMid},
		{"5500", priority(5500), estimator.PriorityBatch},
		{"3500", priority(3500), estimator.PriorityFree},
		{"-9500", priority(-9500), estimator.PriorityBatch},
		{"system critical", priority(2_000_000_000), estimator.PriorityBatch},
		{"QoS LSR", plain.Labels(estimator.LabelQoSClass, "LSR").Obj(), estimator.PriorityProd},
		{"QoS BE with requests", burstable.Labels(estimator.LabelQoSClass, "BE").Obj(), estimator.PriorityBatch},
		{"unknown QoS", burstable.Labels(estimator.LabelQoSClass, "x").Obj(), estimator.PriorityProd},
		{"best effort", plain.Obj(), estimator.PriorityBatch},
		{"burstable", burstable.Obj(), estimator.PriorityProd},
		{"guaranteed", change(plain.Obj(), func(p *api.Pod) { p.Spec.Containers[0].Resources = limits(both, both) }), estimator.PriorityProd},
		{"status says best effort", change(burstable.Obj(), func(p *api.Pod) { p.Status.QOSClass = api.PodQOSBestEffort }), estimator.PriorityBatch},
		{"status says nothing known", change(burstable.Obj(), func(p *api.Pod) { p.Status.QOSClass = "x" }), estimator.PriorityNone},
		{"pod-level requests", change(plain.Obj(), func(p *api.Pod) {
			p.Spec.Resources = &api.ResourceRequirements{Requests: both}
		}), estimator.PriorityProd},
		{"empty pod-level resources hide the containers'", change(burstable.Obj(), func(p *api.Pod) {
			p.Spec.Resources = &api.ResourceRequirements{}
		}), estimator.PriorityBatch},
		{"other resources do not count", change(plain.Obj(), func(p *api.Pod) {
			p.Spec.Containers[0].Resources = limits(resource.List{estimator.BatchCPU: resource.MustParse("1")}, nil)
		}), estimator.PriorityBatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := estimator.PodPriorityClass(test.pod); got != test.want {
				t.Errorf("PodPriorityClass = %q, want %q", got, test.want)
			}
		})
	}
}

func TestTranslateResource(t *testing.T) {
	tests := []struct {
		class      estimator.PriorityClass
		name, want resource.Name
	}{
		{estimator.PriorityProd, resource.CPU, resource.CPU},
		{estimator.PriorityNone, "example.com/gpu", "example.com/gpu"},
		{estimator.PriorityBatch, resource.CPU, estimator.BatchCPU},
		{estimator.PriorityBatch, resource.Memory, estimator.BatchMemory},
		{estimator.PriorityMid, resource.Memory, estimator.MidMemory},
		{estimator.PriorityMid, resource.CPU, estimator.MidCPU},
		{estimator.PriorityMid, "example.com/gpu", ""},
		{estimator.PriorityFree, resource.CPU, ""},
	}
	for _, test := range tests {
		if got := estimator.TranslateResource(test.class, test.name); got != test.want {
			t.Errorf("TranslateResource(%q, %q) = %q, want %q", test.class, test.name, got, test.want)
		}
	}
}

// ExamplePodPriorityClass shows that any request makes a pod prod.
func ExamplePodPriorityClass() {
	fmt.Println(estimator.PodPriorityClass(api.MakePod("a").Obj()))
	fmt.Println(estimator.PodPriorityClass(api.MakePod("b").Requests("10m", "").Obj()))
	// Output:
	// koord-batch
	// koord-prod
}
