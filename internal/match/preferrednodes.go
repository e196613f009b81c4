package match

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// PreferredNodes is the node preference of a pod: terms with weights. The zero
// value prefers nothing.
type PreferredNodes struct {
	terms []weightedTerm
}

type weightedTerm struct {
	nodeTerm
	weight int64
}

// NewPreferredNodes compiles preferred terms. It skips empty terms and terms of
// weight 0. The error reports problems of the others in the words of the Kubernetes
// API.
func NewPreferredNodes(terms []api.PreferredSchedulingTerm) (PreferredNodes, error) {
	var p PreferredNodes
	var problems []string
	for i := range terms {
		term := &terms[i]
		if term.Weight == 0 || isEmpty(&term.Preference) {
			continue
		}
		t, wrong := compileTerm(func() string { return element("", i) }, &term.Preference)
		problems = append(problems, wrong...)
		p.terms = append(p.terms, weightedTerm{t, int64(term.Weight)})
	}
	if err := ProblemsError(problems); err != nil {
		return PreferredNodes{}, err
	}
	return p, nil
}

// Score returns the sum of the weights of the terms that match the node.
func (p *PreferredNodes) Score(n *api.Node) int64 {
	var sum int64
	for i := range p.terms {
		if p.terms[i].matches(n) {
			sum += p.terms[i].weight
		}
	}
	return sum
}

// A PodPreference is the preferred node affinity of a pod.
type PodPreference struct {
	PreferredNodes
	// Present is true if the pod states preferences, even an empty list.
	Present bool
	// Err reports the problems of the preferences.
	Err error
}

// PreferredNodesOf returns the pod's preference, compiled once per pod.
func PreferredNodesOf(p *framework.PodInfo) *PodPreference {
	if a := p.Pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution == nil {
		return &noPreference
	}
	return preferred.Of(p)
}

var noPreference PodPreference // of every pod without a preference; it never changes

var preferred = framework.NewPodDerived(func(p *framework.PodInfo) *PodPreference {
	terms, err := NewPreferredNodes(p.Pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	return &PodPreference{PreferredNodes: terms, Present: true, Err: err}
})
