package topo

import (
	"maps"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// DefaultSelector returns a selector of the pods that belong together with a pod.
// It joins the selectors of the services that select the pod with the selector of
// its controlling ReplicationController, ReplicaSet, StatefulSet or Deployment, as far as
// the snapshot holds these objects. Without any, it selects everything.
//
// Source: kube-scheduler 1.37, plugins/helper, DefaultSelector.
//
// Differs: a Deployment as the controller of a pod.
// Original: it adds nothing. In a cluster a ReplicaSet controls the pod.
// Here: it adds the selector that its ReplicaSet would have.
// Why: package workload makes pods of Deployments that have no ReplicaSets.
//
// Differs: if services that select one pod contradicted each other, the last one by
// name would count; the original settles this at random. In fact they cannot,
// because all of them select the pod.
func DefaultSelector(s *framework.Snapshot, p *framework.PodInfo) match.LabelSelector {
	pod := p.Pod
	merged := workloadsOf(s).selectors(pod)
	owner := pod.ControllerRef()
	if owner == nil {
		return match.LabelsOf(merged)
	}
	key := ownerKey(pod, owner)
	switch owner.APIVersion + " " + owner.Kind {
	case "v1 ReplicationController":
		if rc := framework.Lookup[api.ReplicationController](s, key); rc != nil {
			maps.Copy(merged, rc.Spec.Selector)
		}
	case "apps/v1 ReplicaSet":
		if rs := framework.Lookup[api.ReplicaSet](s, key); rs != nil {
			return withOwner(merged, rs.Spec.Selector)
		}
	case "apps/v1 StatefulSet":
		if ss := framework.Lookup[api.StatefulSet](s, key); ss != nil {
			return withOwner(merged, ss.Spec.Selector)
		}
	case "apps/v1 Deployment":
		return withOwner(merged, replicaSetSelector(s, pod, key))
	}
	return match.LabelsOf(merged)
}

// ServicesOf returns the services of the pod's namespace that select the pod, by
// name. A service without a selector selects no pod, one with an empty selector
// every pod.
//
// Source: kube-scheduler 1.37, plugins/helper, GetPodServices.
//
// Differs: kube-scheduler lists them in random order.
func ServicesOf(s *framework.Snapshot, p *framework.PodInfo) []*api.Service {
	return workloadsOf(s).of(p.Pod)
}

// MatchingSelector is DefaultSelector as in kube-scheduler 1.18. It uses the
// selectors of all ReplicationControllers, ReplicaSets and StatefulSets of the
// pod's namespace that select the pod, whichever object controls the pod. A Deployment
// counts only if it controls the pod. An absent or empty selector selects no pod.
//
// Source: kube-scheduler 1.18, plugins/helper, DefaultSelector.
//
// Differs: a malformed selector selects no pod; the original then ignores all
// objects of that kind.
func MatchingSelector(s *framework.Snapshot, p *framework.PodInfo) match.LabelSelector {
	pod := p.Pod
	merged := workloadsOf(s).selectors(pod)
	if len(pod.Labels) == 0 {
		return match.LabelsOf(merged)
	}
	for _, rc := range framework.List[api.ReplicationController](s) {
		if rc.Namespace == pod.Namespace && len(rc.Spec.Selector) > 0 {
			if selector := match.LabelsOf(rc.Spec.Selector); selector.Matches(pod.Labels) {
				maps.Copy(merged, rc.Spec.Selector)
			}
		}
	}
	selector := match.LabelsOf(merged)
	add := func(namespace string, source *api.LabelSelector) {
		if namespace != pod.Namespace {
			return
		}
		other, err := match.NewLabelSelector(source)
		if err == nil && !other.SelectsEverything() && other.Matches(pod.Labels) {
			selector = selector.And(other)
		}
	}
	for _, rs := range framework.List[api.ReplicaSet](s) {
		add(rs.Namespace, rs.Spec.Selector)
	}
	for _, ss := range framework.List[api.StatefulSet](s) {
		add(ss.Namespace, ss.Spec.Selector)
	}
	if owner := pod.ControllerRef(); owner != nil && owner.APIVersion == "apps/v1" && owner.Kind == "Deployment" {
		add(pod.Namespace, replicaSetSelector(s, pod, ownerKey(pod, owner)))
	}
	return selector
}

// ownerKey is the key of the object that owns a pod.
func ownerKey(pod *api.Pod, owner *api.OwnerReference) string {
	if pod.Namespace == "" {
		return owner.Name
	}
	return pod.Namespace + "/" + owner.Name
}

// replicaSetSelector returns the selector of the ReplicaSet that a Deployment would make for a pod, nil if there is
// none.
//
// Source: kube-controller-manager 1.37, CloneSelectorAndAddLabel.
func replicaSetSelector(s *framework.Snapshot, pod *api.Pod, key string) *api.LabelSelector {
	d := framework.Lookup[api.Deployment](s, key)
	if d == nil {
		return nil
	}
	const label = "pod-template-hash"
	hash, ok := pod.Labels[label]
	if !ok || d.Spec.Selector == nil {
		return d.Spec.Selector
	}
	labels := map[string]string{}
	maps.Copy(labels, d.Spec.Selector.MatchLabels)
	labels[label] = hash
	return &api.LabelSelector{MatchLabels: labels, MatchExpressions: d.Spec.Selector.MatchExpressions}
}

// withOwner adds the selector of the controller, unless it is absent or malformed.
func withOwner(labels map[string]string, owner *api.LabelSelector) match.LabelSelector {
	selector := match.LabelsOf(labels)
	if owner == nil {
		return selector
	}
	other, err := match.NewLabelSelector(owner)
	if err != nil {
		return selector
	}
	return selector.And(other)
}

// noWorkloads reports whether the snapshot holds no object that DefaultSelector
// reads.
func noWorkloads(s *framework.Snapshot) bool { return workloadsOf(s).count == 0 }

// defaults are the default constraints found so far, until one of the objects behind
// them changes. The zero value is empty.
type defaults struct {
	byPod      keptRules // by the parts of the pod that determine them
	bySelector keptRules // by the selector, so that they are made once
}

// A defaultsKey identifies default constraints. Those in a configuration do not change,
// so their address says which they are.
type defaultsKey struct {
	first  *api.TopologySpreadConstraint
	count  int
	action api.UnsatisfiableConstraintAction
	text   string
}

// keptRules are the rules of some keys. It is emptied when it is full.
type keptRules struct {
	rules map[defaultsKey]*Rules
	bytes int // of the texts
}

// defaultsMost is the maximum number of results in each keptRules, and defaultsBytes that
// of bytes of their texts: users write what stands in them.
const (
	defaultsMost  = 1 << 14
	defaultsBytes = 16 << 20
)

func (k *keptRules) put(key defaultsKey, r *Rules) {
	bytes := len(key.text) + len(r.text)
	if k.rules == nil || len(k.rules) >= defaultsMost || k.bytes+bytes > defaultsBytes {
		*k = keptRules{rules: map[defaultsKey]*Rules{}}
	}
	k.rules[key] = r
	k.bytes += bytes
}

// DefaultsOf returns the default constraints with the action, for a pod without
// constraints of its own. The list is empty if no object selects the pod. The caller
// must not change constraints as long as it asks.
func DefaultsOf(s *framework.Snapshot, p *framework.PodInfo, constraints []api.TopologySpreadConstraint, action api.UnsatisfiableConstraintAction) *Rules {
	if len(constraints) == 0 || s.Objects() == 0 {
		return &noRules
	}
	x := workloadsOf(s)
	if x.count == 0 {
		return &noRules
	}
	d := &x.defaults
	key := defaultsKey{&constraints[0], len(constraints), action, belongsOf.Of(p).text}
	if r := d.byPod.rules[key]; r != nil {
		return r
	}
	r := &noRules
	if selector := DefaultSelector(s, p); !selector.SelectsEverything() {
		r = d.of(p, constraints, key, selector, x.version)
	}
	d.byPod.put(key, r)
	return r
}

// of returns the default constraints with a selector that was found in a version of the
// workloads.
func (d *defaults) of(p *framework.PodInfo, constraints []api.TopologySpreadConstraint, key defaultsKey, selector match.LabelSelector, version uint64) *Rules {
	b := match.AppendString(nil, p.Pod.Namespace)
	b = appendBool(selector.AppendKey(b), selector.Matches(p.Pod.Labels))
	key.text = string(p.AppendClassKey(b, framework.FieldNodeChoice|framework.FieldTolerations))
	if r := d.bySelector.rules[key]; r != nil {
		return r
	}
	r := DefaultRules(constraints, key.action, selector, p)
	r.workloads = version
	d.bySelector.put(key, r)
	return r
}

var noRules Rules

// belongs identifies the parts of a pod that determine its default constraints.
type belongs struct{ text string }

var belongsOf = framework.NewPodDerived(func(p *framework.PodInfo) *belongs {
	const fields = framework.FieldNamespace | framework.FieldLabels | framework.FieldOwner | framework.FieldNodeChoice | framework.FieldTolerations
	return &belongs{p.ClassKey(fields)}
})
