package filter

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/topo"
)

// EventsToRegister names what may help a pod that was rejected: a pod comes to a
// node, or changes, that the required affinity terms select; one goes, or
// changes, that an anti-affinity term selects or whose own such term selects the
// pod, or that was the last of a group that the pod may begin; a node comes with
// the label of a required term, goes with its pods, or is labelled anew; a
// namespace changes that a term may be about; the pod's terms, labels or
// namespace change.
func (p InterPodAffinity) EventsToRegister() []framework.EventHint {
	return []framework.EventHint{
		onPods(framework.ActionAll, helpsNeighbours),
		onNode(framework.ActionAdd, func(pod *framework.PodInfo, _, after *api.Node) bool { return mayAttract(pod, after) }),
		onNode(framework.ActionDelete, func(_ *framework.PodInfo, before, _ *api.Node) bool {
			return before == nil || len(before.Labels) > 0
		}),
		onAny(framework.ResourceNode, framework.ActionUpdateNodeLabel),
		on("Namespace", framework.ActionAll, helpsNamespace),
		onSelf(p),
	}
}

// helpsNeighbours looks at a pod on a node, before and after. A term that selects
// namespaces may select any.
func helpsNeighbours(pod, before, after *framework.PodInfo) bool {
	terms := topo.TermsOf(pod)
	selects := func(t *topo.Term, other *framework.PodInfo) bool {
		return other != nil && t.MayMatch(other.Pod.Namespace, other.Pod.Labels)
	}
	all := func(other *framework.PodInfo) bool {
		return len(terms.Required) > 0 && !slices.ContainsFunc(terms.Required, func(t topo.Term) bool { return !selects(&t, other) })
	}
	switch came, went := all(after), all(before); {
	case came && !went, went && !came && all(pod):
		return true
	}
	for i := range terms.RequiredAnti {
		if t := &terms.RequiredAnti[i]; selects(t, before) && !selects(t, after) {
			return true
		}
	}
	return bars(before, pod) && readsOther(InterPodAffinity{}, before, after)
}

// bars reports whether a pod that is there keeps the pod away.
func bars(there, pod *framework.PodInfo) bool {
	if there == nil {
		return false
	}
	return slices.ContainsFunc(topo.TermsOf(there).RequiredAnti, func(t topo.Term) bool {
		return t.MayMatch(pod.Pod.Namespace, pod.Pod.Labels)
	})
}

// mayAttract reports whether a node that came can help. One without any label
// that the pod's required terms ask for is not for the pod, and pods on it are
// in none of the domains that count.
func mayAttract(pod *framework.PodInfo, node *api.Node) bool {
	required := topo.TermsOf(pod).Required
	return len(required) == 0 || node == nil || slices.ContainsFunc(required, func(t topo.Term) bool {
		_, ok := node.Labels[t.Key]
		return ok
	})
}

// helpsNamespace reports whether the labels of a namespace changed that terms
// may look at: the pod's namespace, at which terms of other pods may, or any, if
// its own terms do.
func helpsNamespace(pod *framework.PodInfo, before, after *api.Namespace) bool {
	labels := func(n *api.Namespace) map[string]string {
		if n == nil {
			return nil
		}
		return n.Labels
	}
	if maps.Equal(labels(before), labels(after)) && before != nil && after != nil {
		return false
	}
	name := ""
	if before != nil {
		name = before.Name
	} else {
		name = after.Name
	}
	terms := topo.TermsOf(pod)
	looks := func(t topo.Term) bool { return t.SelectsNamespaces() }
	return name == pod.Pod.Namespace || slices.ContainsFunc(terms.Required, looks) || slices.ContainsFunc(terms.RequiredAnti, looks)
}
