package filter

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/topo"
)

// EventsToRegister names the events that may help a rejected pod:
//
//   - a pod of its namespace that a constraint selects is added or leaves, or
//     starts or stops counting;
//   - a node with the labels of all constraints is added or deleted, or changes
//     its domain or whether it counts;
//   - the pod's constraints, labels or choice of nodes change;
//   - with default constraints, the objects that define the pod's selector change.
func (p PodTopologySpread) EventsToRegister() []queueing.EventHint {
	events := []queueing.EventHint{
		about(onPods(queueing.ActionAll, p.helpsPod), ofNamespace),
		onNode(queueing.ActionAdd|queueing.ActionDelete, func(pod *framework.PodInfo, before, after *api.Node) bool {
			keys := p.keys(pod)
			return hasKeys(before, keys) || hasKeys(after, keys)
		}),
		onNode(queueing.ActionUpdateNodeLabel, p.helpsLabels),
		onNode(queueing.ActionUpdateNodeTaint, p.helpsTaints),
		onSelf(p),
	}
	if p.defaults() {
		for _, owner := range []queueing.EventResource{"Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Deployment"} {
			events = append(events, onAny(owner, queueing.ActionAll))
		}
	}
	return events
}

// byDefault reports whether the pod uses the default constraints. Only a snapshot
// can tell their selector.
func (p PodTopologySpread) byDefault(pod *framework.PodInfo) bool {
	return !topo.HardRules(pod).Own && p.defaults()
}

func (p PodTopologySpread) helpsPod(pod, before, after *framework.PodInfo) bool {
	if before != nil && before.Pod.Namespace != pod.Pod.Namespace || after != nil && after.Pod.Namespace != pod.Pod.Namespace {
		return false
	}
	if p.byDefault(pod) {
		return true
	}
	rules := topo.HardRules(pod)
	return slices.ContainsFunc(rules.List, func(r topo.Rule) bool {
		return counted(&r, before) != counted(&r, after) || after == nil && selects(&r, before)
	})
}

// ofNamespace are the pods of the pod's namespace: no others count.
func ofNamespace(pod *framework.PodInfo) []queueing.Subject {
	return []queueing.Subject{{Namespace: pod.Pod.Namespace}}
}

// counted reports whether the pod may count. One that an empty selector selects does as long as it
// is nominated, though not on a node.
func counted(r *topo.Rule, p *framework.PodInfo) bool {
	return p != nil && p.Pod.DeletionTimestamp == nil && selects(r, p)
}

// selects reports whether the constraint selects the pod. The deletion of a terminating one, too, helps as
// in kube-scheduler: a pod that has evicted it may then evict others.
func selects(r *topo.Rule, p *framework.PodInfo) bool {
	if p == nil {
		return false
	}
	selected, _ := r.Selects(p)
	return selected
}

// keys are the topology keys of the pod's constraints.
func (p PodTopologySpread) keys(pod *framework.PodInfo) (keys []string) {
	if p.byDefault(pod) {
		for i := range p.DefaultConstraints {
			if c := &p.DefaultConstraints[i]; c.WhenUnsatisfiable == api.DoNotSchedule {
				keys = append(keys, c.TopologyKey)
			}
		}
		return keys
	}
	for i := range topo.HardRules(pod).List {
		keys = append(keys, topo.HardRules(pod).List[i].Key)
	}
	return keys
}

// hasKeys reports whether the node exists and has all the labels. A node without
// them counts nowhere, and no pod can use it.
func hasKeys(n *api.Node, keys []string) bool {
	return n != nil && !slices.ContainsFunc(keys, func(key string) bool {
		_, ok := n.Labels[key]
		return !ok
	})
}

// helpsLabels reports whether the node changed its domain, or started or stopped
// counting.
func (p PodTopologySpread) helpsLabels(pod *framework.PodInfo, before, after *api.Node) bool {
	keys := p.keys(pod)
	was, is := hasKeys(before, keys), hasKeys(after, keys)
	if was != is || !is {
		return was != is
	}
	required := match.RequiredNodeAffinityOf(pod)
	return required.Match(before) != required.Match(after) ||
		slices.ContainsFunc(keys, func(key string) bool { return before.Labels[key] != after.Labels[key] })
}

// helpsTaints reports whether the node started or stopped counting because of its
// taints, if any constraint considers them.
func (p PodTopologySpread) helpsTaints(pod *framework.PodInfo, before, after *api.Node) bool {
	if before == nil || after == nil || p.byDefault(pod) {
		return true
	}
	looks := slices.ContainsFunc(topo.HardRules(pod).List, func(r topo.Rule) bool { return r.HonorsTaints() })
	open := func(n *api.Node) bool {
		return match.UntoleratedTaint(n.Spec.Taints, pod.Pod.Spec.Tolerations, false) == nil
	}
	return looks && hasKeys(after, p.keys(pod)) && open(before) != open(after)
}
