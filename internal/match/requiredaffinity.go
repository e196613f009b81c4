package match

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A RequiredNodeAffinity is the requirement of a pod on its node: every entry of
// its nodeSelector, and one term of its required node affinity. The zero value
// requires nothing.
type RequiredNodeAffinity struct {
	labels   LabelSelector
	affinity NodeSelector
	demands  bool // the pod has a required node affinity
	names    []string
	limited  bool
}

// NewRequiredNodeAffinity compiles the two parts of a pod's specification.
func NewRequiredNodeAffinity(nodeSelector map[string]string, affinity *api.Affinity) RequiredNodeAffinity {
	a := RequiredNodeAffinity{labels: LabelsOf(nodeSelector)}
	required := requiredTerms(affinity)
	if required == nil {
		return a
	}
	a.demands = true
	a.affinity = NewNodeSelector(required)
	a.names, a.limited = namedNodes(required)
	return a
}

// RequiredNodeAffinityOf returns the pod's requirement, compiled once per pod.
func RequiredNodeAffinityOf(p *framework.PodInfo) *RequiredNodeAffinity { return required.Of(p) }

var required = framework.NewPodDerived(func(p *framework.PodInfo) *RequiredNodeAffinity {
	a := NewRequiredNodeAffinity(p.Pod.Spec.NodeSelector, p.Pod.Spec.Affinity)
	return &a
})

// Match reports whether the node meets the requirement. Malformed terms match no
// node.
func (a *RequiredNodeAffinity) Match(n *api.Node) bool {
	return a.labels.Matches(n.Labels) && (!a.demands || a.affinity.Matches(n))
}

// Nodes returns the sorted names of the only nodes that can match, if every term of
// the affinity names some; otherwise limited is false. If the terms contradict each
// other, no name is left.
func (a *RequiredNodeAffinity) Nodes() (names []string, limited bool) { return a.names, a.limited }

func requiredTerms(a *api.Affinity) *api.NodeSelector {
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// namedNodes returns the union of the names that the terms allow. A term without
// names allows every node.
func namedNodes(s *api.NodeSelector) (names []string, limited bool) {
	for i := range s.NodeSelectorTerms {
		allowed, ok := namesOfTerm(&s.NodeSelectorTerms[i])
		if !ok {
			return nil, false
		}
		names, limited = append(names, allowed...), true
	}
	slices.Sort(names)
	return slices.Compact(names), limited
}

func namesOfTerm(t *api.NodeSelectorTerm) (names []string, ok bool) {
	for i := range t.MatchFields {
		f := &t.MatchFields[i]
		if f.Key != nodeNameField || f.Operator != api.NodeSelectorOpIn {
			continue
		}
		if !ok {
			names, ok = slices.Clone(f.Values), true
			continue
		}
		allowed := make(map[string]bool, len(f.Values)) // there may be thousands
		for _, name := range f.Values {
			allowed[name] = true
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !allowed[name] })
	}
	return names, ok
}
