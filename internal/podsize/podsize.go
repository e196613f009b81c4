// Package podsize says how large pods are.
package podsize

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// largeParts is how many parts a large pod has at least.
const largeParts = 256

// IsLarge reports whether the pod has so many parts that to compare it with each event may cost more than to try it in vain.
// Its labels do not count, as selectors look only for the keys that they name.
func IsLarge(p *framework.PodInfo) bool { return sizes.Of(p).large }

type size struct{ large bool }

var sizes = framework.NewPodDerived(func(p *framework.PodInfo) *size { return &size{Parts(p.Pod)-len(p.Pod.Labels) >= largeParts} })

// Parts counts the parts of a pod that plugins go through one by one: containers with their ports and requests, volumes
// with their monitors, claims, tolerations, and terms and constraints with the values of their selectors. Most pods have
// fewer than 20. It takes a nanosecond or two for each part.
func Parts(p *api.Pod) int {
	s := &p.Spec
	n := len(p.Labels) + len(s.NodeSelector) + len(s.Tolerations) + len(s.ResourceClaims)
	for _, list := range [2][]api.Container{s.InitContainers, s.Containers} {
		for i := range list {
			n += 1 + len(list[i].Ports) + len(list[i].Resources.Requests)
		}
	}
	for i := range s.Volumes {
		if n++; s.Volumes[i].RBD != nil {
			n += len(s.Volumes[i].RBD.CephMonitors)
		}
	}
	for i := range s.TopologySpreadConstraints {
		n += 1 + ofSelector(s.TopologySpreadConstraints[i].LabelSelector)
	}
	if a := s.Affinity; a != nil {
		n += ofNodeAffinity(a.NodeAffinity)
		if a.PodAffinity != nil {
			n += ofTerms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) + ofWeighted(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			n += ofTerms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) + ofWeighted(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	return n
}

func ofTerms(terms []api.PodAffinityTerm) (n int) {
	for i := range terms {
		n += ofTerm(&terms[i])
	}
	return n
}

func ofWeighted(terms []api.WeightedPodAffinityTerm) (n int) {
	for i := range terms {
		n += ofTerm(&terms[i].PodAffinityTerm)
	}
	return n
}

func ofTerm(t *api.PodAffinityTerm) int {
	return 1 + len(t.Namespaces) + ofSelector(t.LabelSelector) + ofSelector(t.NamespaceSelector)
}

func ofSelector(s *api.LabelSelector) int {
	if s == nil {
		return 0
	}
	n := len(s.MatchLabels)
	for i := range s.MatchExpressions {
		n += 1 + len(s.MatchExpressions[i].Values)
	}
	return n
}

func ofNodeAffinity(a *api.NodeAffinity) (n int) {
	if a == nil {
		return 0
	}
	if a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			n += ofNodeTerm(&a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i])
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		n += ofNodeTerm(&a.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
	}
	return n
}

func ofNodeTerm(t *api.NodeSelectorTerm) int {
	n := 1
	for _, list := range [2][]api.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		for i := range list {
			n += 1 + len(list[i].Values)
		}
	}
	return n
}
