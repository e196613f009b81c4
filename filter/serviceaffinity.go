package filter

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/topo"
)

const reasonServiceAffinity framework.Text = "node(s) didn't match service affinity"

// ServiceAffinity keeps the pods of a service on nodes with the same values of some
// labels: where the first pod went, the others follow. The pod's node selector gives
// the wanted value of each label that it names. If a service selects the pod, the
// node of the first such pod gives the other values, as far as that node has the
// labels. The first pod is the first, in the snapshot's order, in the pod's
// namespace with all of its labels. A node that has all wanted values passes.
// Terminating pods count.
//
// Source: kube-scheduler 1.18, plugin ServiceAffinity; dropped in 1.23.
//
// Differs: the place of a pod that preemption puts back while it tries a node.
// Original: kube-scheduler puts it last.
// Here: it takes its old place in the order.
// Why: a pod that was put back must count as one that never left.
//
// Differs: a service whose first pod is a nominated one.
// Original: kube-scheduler fails the cycle, because it looks for a node without a
// name.
// Here: the pod counts on its nominated node.
// Why: the nomination of one pod must not fail others.
type ServiceAffinity struct {
	// AffinityLabels are the label names. If there are none, every node passes. The
	// list must not change while the plugin is in use.
	AffinityLabels []string
}

// Name returns "ServiceAffinity".
func (ServiceAffinity) Name() string { return "ServiceAffinity" }

// Scope declares that a verdict reads the pod's node selector and the node. If the
// selector does not name all labels, the verdict also reads the pod's namespace and
// labels and the whole cluster.
func (p ServiceAffinity) Scope(pod *framework.PodInfo) framework.Scope {
	switch {
	case len(p.AffinityLabels) == 0:
		return framework.Scope{}
	case len(p.missing(pod.Pod)) == 0:
		return framework.Scope{Pod: framework.FieldNodeChoice, Reads: framework.ReadsNode}
	}
	return framework.Scope{
		Pod:   framework.FieldNodeChoice | framework.FieldNamespace | framework.FieldLabels,
		Reads: framework.ReadsCluster,
	}
}

// missing lists the labels that the pod's node selector does not name.
func (p ServiceAffinity) missing(pod *api.Pod) []string {
	var list []string
	for _, label := range p.AffinityLabels {
		if _, ok := pod.Spec.NodeSelector[label]; !ok {
			list = append(list, label)
		}
	}
	return list
}

// PreFilter looks for the pods that the pod may have to follow.
func (p ServiceAffinity) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if len(p.AffinityLabels) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	pod := c.Pod.Pod
	f := &serviceAffinity{like: match.LabelsOf(pod.Labels), pod: pod, missing: p.missing(pod)}
	for _, label := range p.AffinityLabels {
		if value, ok := pod.Spec.NodeSelector[label]; ok {
			f.named = append(f.named, label, value)
		}
	}
	if len(f.missing) > 0 && len(topo.ServicesOf(c.Snapshot, c.Pod)) > 0 {
		f.follows = true
		for _, n := range c.Snapshot.All() {
			for _, other := range n.Pods {
				if f.leads(other) {
					f.leaders = append(f.leaders, leader{other, n.Node, false})
				}
			}
		}
	}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// serviceAffinity is the bound filter.
type serviceAffinity struct {
	pod     *api.Pod
	like    match.LabelSelector // the pod's own labels
	named   []string            // labels and values of the node selector
	missing []string
	follows bool     // a service selects the pod
	leaders []leader // pods to follow; the first one decides
}

// leader is a pod and its node.
type leader struct {
	pod  *framework.PodInfo
	node *api.Node
	gone bool
}

func (f *serviceAffinity) leads(other *framework.PodInfo) bool {
	return other.Pod.Namespace == f.pod.Namespace && f.like.Matches(other.Pod.Labels)
}

func (f *serviceAffinity) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	labels := node.Node.Labels
	for i := 0; i < len(f.named); i += 2 {
		if value, ok := labels[f.named[i]]; !ok || value != f.named[i+1] {
			return framework.UnschedulableStatus(reasonServiceAffinity)
		}
	}
	first := f.first(node)
	if first == nil {
		return framework.Status{}
	}
	for _, label := range f.missing {
		want, wanted := first.Labels[label]
		if value, ok := labels[label]; wanted && (!ok || value != want) {
			return framework.UnschedulableStatus(reasonServiceAffinity)
		}
	}
	return framework.Status{}
}

// first returns the node of the first pod to follow, nil if there is none. A pod
// recorded on the given node but not present there does not count.
func (f *serviceAffinity) first(node *framework.NodeInfo) *api.Node {
	for i := range f.leaders {
		l := &f.leaders[i]
		if l.gone {
			continue
		}
		if l.node.Name == node.Name() && !slices.ContainsFunc(node.Pods, func(p *framework.PodInfo) bool { return sameName(p, l.pod) }) {
			continue
		}
		return l.node
	}
	return nil
}

func sameName(a, b *framework.PodInfo) bool {
	return a == b || a.Pod.Name == b.Pod.Name && a.Pod.Namespace == b.Pod.Namespace
}

// AddPod implements [framework.FilterUpdater].
func (f *serviceAffinity) AddPod(_ *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if !f.follows || !f.leads(other) {
		return framework.Status{}
	}
	at := slices.IndexFunc(f.leaders, func(l leader) bool { return l.gone && sameName(l.pod, other) && l.node.Name == node.Name() })
	if at >= 0 {
		f.leaders[at].gone = false
	} else {
		f.leaders = append(f.leaders, leader{other, node.Node, false})
	}
	return framework.Status{}
}

// RemovePod implements [framework.FilterUpdater].
func (f *serviceAffinity) RemovePod(_ *framework.Cycle, other *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	if at := slices.IndexFunc(f.leaders, func(l leader) bool { return !l.gone && sameName(l.pod, other) }); at >= 0 {
		f.leaders[at].gone = true
	}
	return framework.Status{}
}

// Fork implements [framework.FilterUpdater].
func (f *serviceAffinity) Fork() framework.FilterUpdater {
	c := *f
	c.leaders = slices.Clone(f.leaders)
	return &c
}
