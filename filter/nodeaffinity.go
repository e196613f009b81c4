package filter

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/match"
)

const (
	reasonAffinity      = framework.Text("node(s) didn't match Pod's node affinity/selector")
	reasonAddedAffinity = framework.Text("node(s) didn't match scheduler-enforced node affinity")
	reasonConflict      = framework.Text("pod affinity terms conflict")
)

// NodeAffinity rejects a node that lacks a label of the pod's nodeSelector, or
// matches no term of its required node affinity. Rejections are unresolvable. A
// malformed term matches no node.
//
// Source: kube-scheduler 1.37, plugin NodeAffinity.
type NodeAffinity struct {
	// AddedAffinity is required of nodes in addition to each pod's own requirements.
	// Only its required terms are read here. nil adds nothing. It must not change
	// while the plugin is in use.
	AddedAffinity *api.NodeAffinity
}

// Name returns "NodeAffinity".
func (NodeAffinity) Name() string { return "NodeAffinity" }

// Validate reports malformed terms in AddedAffinity.
func (p NodeAffinity) Validate() error {
	required := p.added()
	if required == nil {
		return nil
	}
	selector := match.NewNodeSelector(required)
	if err := selector.Err(); err != nil {
		return fmt.Errorf("NodeAffinity: addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: %w", err)
	}
	return nil
}

// Scope declares that a verdict reads the pod's choice of nodes and the node;
// without requirements it reads no node.
func (p NodeAffinity) Scope(pod *framework.PodInfo) framework.Scope {
	s := framework.Scope{Pod: framework.FieldNodeChoice}
	if p.added() != nil || demands(pod) {
		s.Reads = framework.ReadsNode
	}
	return s
}

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or changed so that it now meets the pod's requirements; the pod's requirements
// change.
func (p NodeAffinity) EventsToRegister() []queueing.EventHint {
	added, source := match.NodeSelector{}, p.added()
	if source != nil {
		added = match.NewNodeSelector(source)
	}
	demanded := func(pod *framework.PodInfo, node *api.Node) bool {
		return match.RequiredNodeAffinityOf(pod).Match(node) && (source == nil || added.Matches(node))
	}
	return []queueing.EventHint{onNode(queueing.ActionAdd|queueing.ActionUpdateNodeLabel, became(demanded)), onSelf(p)}
}

// PreFilter skips pods without requirements. If every term of a pod's affinity names
// nodes, it restricts the search to them.
func (p NodeAffinity) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	added := p.added()
	if only := &c.Pod.Runner().OnlyNode; added == nil && only[0] != "" {
		return framework.PreFiltered{Filter: (*onlyNode)(only), NodeNames: only[:]}, framework.Status{}
	}
	if added == nil && !demands(c.Pod) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	required := match.RequiredNodeAffinityOf(c.Pod)
	names, limited := required.Nodes()
	if limited && len(names) == 0 {
		return framework.PreFiltered{}, framework.UnresolvableStatus(reasonConflict)
	}
	f := framework.Scratch[nodeAffinity](c)
	f.required = required
	if f.source != added {
		f.source, f.added = added, match.NodeSelector{}
		if added != nil {
			f.added = match.NewNodeSelector(added)
		}
	}
	if f.added.Err() != nil {
		return framework.PreFiltered{}, framework.AsStatus(p.Validate())
	}
	return framework.PreFiltered{Filter: f, NodeNames: names}, framework.Status{}
}

func (p NodeAffinity) added() *api.NodeSelector {
	if p.AddedAffinity == nil {
		return nil
	}
	return p.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// demands reports whether the pod has a nodeSelector, even an empty one, or a
// required node affinity.
func demands(pod *framework.PodInfo) bool {
	spec := &pod.Pod.Spec
	return spec.NodeSelector != nil || spec.Affinity != nil && spec.Affinity.NodeAffinity != nil &&
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// nodeAffinity is the bound filter. It keeps the compiled added selector from cycle
// to cycle.
type nodeAffinity struct {
	required *match.RequiredNodeAffinity
	source   *api.NodeSelector // what added was compiled from
	added    match.NodeSelector
}

// Details names the labels that the node lacks.
func (f *nodeAffinity) Details(pod *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	spec := &pod.Pod.Spec
	texts := match.UnmetLabels(spec.NodeSelector, node.Node.Labels)
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		texts = append(texts, match.Unmet(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, node.Node)...)
	}
	if f.source != nil {
		for _, text := range match.Unmet(f.source, node.Node) {
			texts = append(texts, "added by the scheduler: "+text)
		}
	}
	for _, text := range texts {
		list = append(list, framework.Detail{Subject: text})
	}
	return list
}

// onlyNode is the bound filter of a pod that requires nothing but the node of a name, as the
// pods of a DaemonSet do.
type onlyNode [1]string

// Details implements [framework.Detailer].
func (*onlyNode) Details(pod *framework.PodInfo, node *framework.NodeInfo) []framework.Detail {
	return new(nodeAffinity).Details(pod, node)
}

func (f *onlyNode) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if node.Node.Name != f[0] {
		return framework.UnresolvableStatus(reasonAffinity)
	}
	return framework.Status{}
}

// Filter rejects a node that lacks what the scheduler or the pod requires.
func (f *nodeAffinity) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if f.source != nil && !f.added.Matches(node.Node) {
		return framework.UnresolvableStatus(reasonAddedAffinity)
	}
	if !f.required.Match(node.Node) {
		return framework.UnresolvableStatus(reasonAffinity)
	}
	return framework.Status{}
}
