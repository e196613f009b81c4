package whatif

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// checkChanges refuses changes that would leave the pod, the node and the weights as they
// are. The answer would be taken for one about the change.
func (p *Planner) checkChanges(pod *api.Pod, node *api.Node, changes []Change) error {
	for i := range changes {
		c := &changes[i]
		field, value, why := "name", c.Name, ""
		switch c.Kind {
		case ChangeRequest:
			field, value = "amount", fmt.Sprint(c.Amount)
			if had := requested(pod, resource.Name(c.Name)); c.Amount < 0 {
				why = "must not be negative"
			} else if c.Amount >= had {
				why = fmt.Sprintf("the pod requests %d of %s, and a request can only be lowered: ask about a pod that requests more", had, c.Name)
			}
		case ChangeWeight:
			if weight, ok := p.weightOf(c.Name); !ok {
				why = "the profile has no such scorer"
			} else if c.Amount == weight {
				field, value, why = "amount", fmt.Sprint(c.Amount), "the scorer "+c.Name+" has this weight"
			}
		case ChangeNodeSelector:
			if _, ok := pod.Spec.NodeSelector[c.Name]; !ok {
				why = "the pod's node selector has no such label"
			}
		case ChangeNodeAffinity:
			if a := pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
				field, value, why = "kind", string(c.Kind), "the pod has no required node affinity"
			}
		case ChangeSpread, ChangeAffinity, ChangeAntiAffinity:
			field, value = "index", fmt.Sprint(c.Index)
			if n := placesOf(pod, c.Kind); c.Index < 0 || c.Index >= n {
				why = fmt.Sprintf("the pod has %d of these, counted from 0", n)
			}
		case ChangePodLabel:
			if _, ok := pod.Labels[c.Name]; !ok {
				why = "the pod has no such label"
			}
		case ChangeNodeLabel:
			if had, ok := node.Labels[c.Name]; c.Remove && !ok {
				why = "node " + node.Name + " has no such label"
			} else if !c.Remove && ok && had == c.To {
				field, value, why = "to", c.To, "node "+node.Name+" has the label "+c.Name+" with this value"
			}
		case ChangeHostPort:
			if field, value = "amount", fmt.Sprint(c.Amount); !takesPort(pod, c.Amount) {
				why = "the pod takes no such host port"
			}
		}
		if why != "" {
			return &api.InvalidError{Object: fmt.Sprintf("change %d (%s)", i, c.Kind), Field: field, Value: value, Err: errors.New(why)}
		}
	}
	return nil
}

// weightOf returns the weight of a scorer of the profile.
func (p *Planner) weightOf(name string) (weight int64, ok bool) {
	for _, w := range p.profile.Score {
		if nameOf(w.Plugin) == name {
			return cmp.Or(w.Weight, 1), true
		}
	}
	return 0, false
}

// placesOf is how many constraints or terms the pod has that a change of this kind drops.
func placesOf(p *api.Pod, kind ChangeKind) int {
	a := p.Spec.Affinity
	switch {
	case kind == ChangeSpread:
		return len(p.Spec.TopologySpreadConstraints)
	case kind == ChangeAffinity && a != nil && a.PodAffinity != nil:
		return len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	case kind == ChangeAntiAffinity && a != nil && a.PodAntiAffinity != nil:
		return len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return 0
}

// takesPort reports whether a container of the pod takes the host port.
func takesPort(p *api.Pod, port int64) bool {
	for _, containers := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			for _, taken := range containers[i].Ports {
				if port != 0 && int64(taken.HostPort) == port {
					return true
				}
			}
		}
	}
	return false
}
