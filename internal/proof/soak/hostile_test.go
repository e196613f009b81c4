package soak

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// del deletes pods.
func del(w *town, list []*api.Pod) {
	for _, p := range list {
		w.d.Apply(lifecycle.Delete(p))
	}
}

// hpod is a small pod of a hostile user.
func hpod(i int) api.PodBuilder {
	return api.MakePod(fmt.Sprint("h", i)).Namespace("hostile").Requests("1m", "1Mi")
}

// inAllNamespaces makes the terms of a pod match pods of all namespaces.
func inAllNamespaces(p *api.Pod) {
	all := &api.LabelSelector{}
	a := p.Spec.Affinity
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.NamespaceSelector = all
		}
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.NamespaceSelector = all
		}
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i].NamespaceSelector = all
		}
	}
}
