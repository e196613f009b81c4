package whatif

import (
	"maps"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
)

// demandRepairs are the ways to meet what the pod demands of the node's labels: none,
// labels on the node, or demands dropped. What is not needed is left out later.
func (x *whyNot) demandRepairs() [][]Change {
	var labels, drops []Change
	for _, key := range slices.Sorted(maps.Keys(x.pod.Spec.NodeSelector)) {
		want := x.pod.Spec.NodeSelector[key]
		if have, ok := x.node.Labels[key]; !ok || have != want {
			labels = append(labels, Change{Kind: ChangeNodeLabel, Name: key, From: have, To: want})
			drops = append(drops, Change{Kind: ChangeNodeSelector, Name: key, From: want})
		}
	}
	terms := requiredTerms(x.pod)
	if terms == nil {
		if labels == nil {
			return [][]Change{nil}
		}
		return [][]Change{labels, drops}
	}
	list := [][]Change{append(drops, Change{Kind: ChangeNodeAffinity})}
	for _, term := range terms[:min(4, len(terms))] {
		if changes, ok := x.labelsFor(term); ok {
			list = append(list, with(labels, changes...))
		}
	}
	return list
}

func requiredTerms(p *api.Pod) []api.NodeSelectorTerm {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// labelsFor are the labels that let the node match a term; false if labels cannot.
func (x *whyNot) labelsFor(term api.NodeSelectorTerm) (list []Change, ok bool) {
	if len(term.MatchFields) > 0 && !slices.ContainsFunc(term.MatchFields, func(r api.NodeSelectorRequirement) bool {
		return slices.Contains(r.Values, x.node.Name)
	}) {
		return nil, false
	}
	for _, r := range term.MatchExpressions {
		have, there := x.node.Labels[r.Key]
		set := func(value string) {
			list = append(list, Change{Kind: ChangeNodeLabel, Name: r.Key, From: have, To: value})
		}
		switch r.Operator {
		case api.NodeSelectorOpIn:
			if len(r.Values) == 0 {
				return nil, false
			}
			if !there || !slices.Contains(r.Values, have) {
				set(r.Values[0])
			}
		case api.NodeSelectorOpExists:
			if !there {
				set("")
			}
		case api.NodeSelectorOpNotIn:
			if there && slices.Contains(r.Values, have) {
				list = append(list, Change{Kind: ChangeNodeLabel, Name: r.Key, From: have, Remove: true})
			}
		case api.NodeSelectorOpDoesNotExist:
			if there {
				list = append(list, Change{Kind: ChangeNodeLabel, Name: r.Key, From: have, Remove: true})
			}
		case api.NodeSelectorOpGt, api.NodeSelectorOpLt:
			if len(r.Values) != 1 {
				return nil, false
			}
			bound, err := strconv.ParseInt(r.Values[0], 10, 64)
			if err != nil {
				return nil, false
			}
			value, err := strconv.ParseInt(have, 10, 64)
			if r.Operator == api.NodeSelectorOpGt && (err != nil || value <= bound) {
				set(strconv.FormatInt(bound+1, 10))
			} else if r.Operator == api.NodeSelectorOpLt && (err != nil || value >= bound) {
				set(strconv.FormatInt(bound-1, 10))
			}
		default:
			return nil, false
		}
	}
	return list, true
}

// constraintRepairs are the ways around constraints over other pods: none, constraints
// dropped, or labels taken off the pod.
func (x *whyNot) constraintRepairs() [][]Change {
	var drops, labels []Change
	for i, c := range x.pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == api.DoNotSchedule {
			drops = append(drops, Change{Kind: ChangeSpread, Name: c.TopologyKey, Index: i})
		}
	}
	if a := x.pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		for i, term := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			drops = append(drops, Change{Kind: ChangeAffinity, Name: term.TopologyKey, Index: i})
		}
	}
	if a := x.pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for i, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			drops = append(drops, Change{Kind: ChangeAntiAffinity, Name: term.TopologyKey, Index: i})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(x.pod.Labels)) {
		labels = append(labels, Change{Kind: ChangePodLabel, Name: key, From: x.pod.Labels[key]})
	}
	list := [][]Change{nil}
	if drops != nil {
		list = append(list, drops)
	}
	if labels != nil {
		list = append(list, labels)
	}
	if drops != nil && labels != nil {
		list = append(list, slices.Concat(drops, labels))
	}
	return list
}

// hostPorts are the host ports of the pod, each once, ascending.
func hostPorts(p *api.Pod) (ports []int32) {
	for _, containers := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for _, c := range containers {
			for _, port := range c.Ports {
				if port.HostPort > 0 {
					ports = append(ports, port.HostPort)
				}
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
