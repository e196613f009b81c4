package filter

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/topo"
)

// EventsToRegister names the events that may help a rejected pod:
//
//   - a pod that the required affinity terms select is added to a node or changes;
//   - a pod leaves or changes that kept this one away: an anti-affinity term
//     selects it, or its own such term selects the pod. It may also have been
//     the last of a group that the pod can now begin;
//   - a node with the label of a required term is added, or a node is deleted
//     together with its pods, or relabelled;
//   - a namespace changes that a term may refer to;
//   - the pod's terms, labels or namespace change.
func (p InterPodAffinity) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{
		about(onPods(queueing.ActionAll, helpsNeighbours), neighbours),
		onNode(queueing.ActionAdd, func(pod *framework.PodInfo, _, after *api.Node) bool { return mayAttract(pod, after) }),
		onNode(queueing.ActionDelete, func(_ *framework.PodInfo, before, _ *api.Node) bool {
			return before == nil || len(before.Labels) > 0
		}),
		onAny(queueing.ResourceNode, queueing.ActionUpdateNodeLabel),
		on("Namespace", queueing.ActionAll, helpsNamespace),
		onSelf(p),
	}
}

// helpsNeighbours compares a pod on a node before and after. A term that selects
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

// neighbours are the pods that helpsNeighbours may say yes to, but for those that bar the pod: all
// required affinity terms select one of them, or an anti-affinity term does.
func neighbours(pod *framework.PodInfo) (list []queueing.Subject) {
	terms := topo.TermsOf(pod)
	if len(terms.Required) > 0 {
		list = appendSubjects(list, &terms.Required[0])
	}
	for i := range terms.RequiredAnti {
		list = appendSubjects(list, &terms.RequiredAnti[i])
	}
	return list
}

// appendSubjects appends what stands for the pods that a term may select.
func appendSubjects(list []queueing.Subject, t *topo.Term) []queueing.Subject {
	namespace, key, values, ok := t.Selected()
	if ok && len(values) == 0 {
		return append(list, queueing.Subject{Namespace: namespace, Key: key, AnyValue: true})
	}
	for _, value := range values {
		list = append(list, queueing.Subject{Namespace: namespace, Key: key, Value: value})
	}
	return list
}

// barsMost is how many terms are compared with each waiting pod. Pods that have more may keep any away:
// to try one in vain costs less than to compare it with 10,000 terms.
const barsMost = 64

// bars reports whether a pod on a node may keep the pod away.
func bars(there, pod *framework.PodInfo) bool {
	if there == nil {
		return false
	}
	terms := topo.TermsOf(there).RequiredAnti
	return len(terms) > barsMost || slices.ContainsFunc(terms, func(t topo.Term) bool {
		return t.MayMatch(pod.Pod.Namespace, pod.Pod.Labels)
	})
}

// mayAttract reports whether an added node can help. The pod cannot use a node
// without any label of its required terms, and pods on such a node are outside all
// domains that count.
func mayAttract(pod *framework.PodInfo, node *api.Node) bool {
	required := topo.TermsOf(pod).Required
	return len(required) == 0 || node == nil || slices.ContainsFunc(required, func(t topo.Term) bool {
		_, ok := node.Labels[t.Key]
		return ok
	})
}

// helpsNamespace reports whether a namespace's labels changed in a way that matters:
// terms of other pods may select the pod's namespace, and the pod's own namespace
// selectors may select any.
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
