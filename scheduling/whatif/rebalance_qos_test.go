//go:build full

package whatif

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestQoSOf: the status decides; without it, requests and limits of cpu and memory do.
func TestQoSOf(t *testing.T) {
	list := func(pairs ...string) resource.List {
		l := resource.List{}
		for i := 0; i < len(pairs); i += 2 {
			l[resource.Name(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return l
	}
	type needs = api.ResourceRequirements
	all := list("cpu", "1", "memory", "1Gi")
	for _, x := range []struct {
		name   string
		status api.PodQOSClass
		pod    *needs
		init   []needs
		main   []needs
		want   api.PodQOSClass
	}{
		{name: "nothing", main: []needs{{}}, want: api.PodQOSBestEffort},
		{name: "other resources", main: []needs{{Requests: list("x.io/g", "1"), Limits: list("x.io/g", "1")}}, want: api.PodQOSBestEffort},
		{name: "zero", main: []needs{{Requests: list("cpu", "0")}}, want: api.PodQOSBestEffort},
		{name: "requests", main: []needs{{Requests: all}}, want: api.PodQOSBurstable},
		{name: "limits", main: []needs{{Limits: all}}, want: api.PodQOSGuaranteed},
		{name: "both", main: []needs{{Requests: all, Limits: all}}, want: api.PodQOSGuaranteed},
		{name: "one of two resources", main: []needs{{Limits: list("cpu", "1")}}, want: api.PodQOSBurstable},
		{name: "less than the limit", main: []needs{{Requests: list("cpu", "1"), Limits: list("cpu", "2", "memory", "1Gi")}}, want: api.PodQOSBurstable},
		{name: "one of two containers", main: []needs{{Limits: all}, {}}, want: api.PodQOSBurstable},
		{name: "init container", init: []needs{{Requests: all}}, main: []needs{{Limits: all}}, want: api.PodQOSBurstable},
		{name: "the pod as a whole", pod: &needs{Limits: all}, main: []needs{{}}, want: api.PodQOSGuaranteed},
		{name: "nothing for the pod", pod: &needs{}, main: []needs{{Limits: all}}, want: api.PodQOSGuaranteed},
		{name: "status", status: api.PodQOSBurstable, main: []needs{{}}, want: api.PodQOSBurstable},
	} {
		p := &api.Pod{}
		p.Status.QOSClass, p.Spec.Resources = x.status, x.pod
		for _, r := range x.init {
			p.Spec.InitContainers = append(p.Spec.InitContainers, api.Container{Resources: r})
		}
		for _, r := range x.main {
			p.Spec.Containers = append(p.Spec.Containers, api.Container{Resources: r})
		}
		if got := qosOf(p); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	if qosRank(&api.Pod{}) != 0 {
		t.Error("a pod that asks for nothing is not the first to go")
	}
}
