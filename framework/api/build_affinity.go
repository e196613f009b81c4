package api

import (
	"slices"
	"strings"
)

// Tolerates adds tolerations in the notation of "kubectl taint":
// "dedicated=db:NoSchedule" tolerates exactly this taint, "gpu:NoSchedule" the key
// with any value, "gpu" the key with any value and effect, and "" every taint.
func (b PodBuilder) Tolerates(taints ...string) PodBuilder {
	list := make([]Toleration, 0, len(taints))
	for _, text := range taints {
		t := Toleration{Key: text, Operator: TolerationOpExists}
		if strings.Contains(text, ":") {
			taint, hasValue := mustTaint(text)
			t.Key, t.Effect = taint.Key, taint.Effect
			if hasValue {
				t.Operator, t.Value = TolerationOpEqual, taint.Value
			}
		}
		list = append(list, t)
	}
	b.pod.Spec.Tolerations = append(slices.Clip(b.pod.Spec.Tolerations), list...)
	return b
}

// Toleration adds a toleration.
func (b PodBuilder) Toleration(t Toleration) PodBuilder {
	b.pod.Spec.Tolerations = append(slices.Clip(b.pod.Spec.Tolerations), *clone(&t))
	return b
}

// NodeSelector adds labels that the node must have, given as alternating keys and
// values.
func (b PodBuilder) NodeSelector(kv ...string) PodBuilder {
	b.pod.Spec.NodeSelector = pairs("NodeSelector", b.pod.Spec.NodeSelector, kv)
	return b
}

// affinity changes a copy of the pod's affinity.
func (b PodBuilder) affinity(change func(*Affinity)) PodBuilder {
	a := clone(b.pod.Spec.Affinity)
	if a == nil {
		a = new(Affinity)
	}
	change(a)
	b.pod.Spec.Affinity = a
	return b
}

// NodeAffinity adds a required term in the notation of [ParseNodeSelectorTerm]. The
// node must match at least one of the required terms.
func (b PodBuilder) NodeAffinity(term string) PodBuilder {
	return b.nodeAffinity(func(a *NodeAffinity) {
		if a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			a.RequiredDuringSchedulingIgnoredDuringExecution = new(NodeSelector)
		}
		terms := &a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		*terms = append(*terms, must(ParseNodeSelectorTerm(term)))
	})
}

// PreferNodes adds a preference for nodes that match a term in the notation of
// [ParseNodeSelectorTerm].
func (b PodBuilder) PreferNodes(weight int32, term string) PodBuilder {
	return b.nodeAffinity(func(a *NodeAffinity) {
		list := &a.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, PreferredSchedulingTerm{weight, must(ParseNodeSelectorTerm(term))})
	})
}

func (b PodBuilder) nodeAffinity(change func(*NodeAffinity)) PodBuilder {
	return b.affinity(func(a *Affinity) {
		if a.NodeAffinity == nil {
			a.NodeAffinity = new(NodeAffinity)
		}
		change(a.NodeAffinity)
	})
}

// PodAffinity requires a topology domain with a pod of the same namespace that
// matches a selector in the notation of [ParseLabelSelector].
func (b PodBuilder) PodAffinity(topologyKey, selector string) PodBuilder {
	return b.podAffinity(func(a *PodAffinity) {
		list := &a.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, podTerm(topologyKey, selector))
	})
}

// PreferPodAffinity adds a preference for a domain as [PodBuilder.PodAffinity]
// requires it.
func (b PodBuilder) PreferPodAffinity(weight int32, topologyKey, selector string) PodBuilder {
	return b.podAffinity(func(a *PodAffinity) {
		list := &a.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, WeightedPodAffinityTerm{weight, podTerm(topologyKey, selector)})
	})
}

func (b PodBuilder) podAffinity(change func(*PodAffinity)) PodBuilder {
	return b.affinity(func(a *Affinity) {
		if a.PodAffinity == nil {
			a.PodAffinity = new(PodAffinity)
		}
		change(a.PodAffinity)
	})
}

// PodAntiAffinity requires a topology domain without any pod of the same namespace
// that matches a selector in the notation of [ParseLabelSelector].
func (b PodBuilder) PodAntiAffinity(topologyKey, selector string) PodBuilder {
	return b.podAntiAffinity(func(a *PodAntiAffinity) {
		list := &a.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, podTerm(topologyKey, selector))
	})
}

// PreferPodAntiAffinity adds a preference for a domain as
// [PodBuilder.PodAntiAffinity] requires it.
func (b PodBuilder) PreferPodAntiAffinity(weight int32, topologyKey, selector string) PodBuilder {
	return b.podAntiAffinity(func(a *PodAntiAffinity) {
		list := &a.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, WeightedPodAffinityTerm{weight, podTerm(topologyKey, selector)})
	})
}

func (b PodBuilder) podAntiAffinity(change func(*PodAntiAffinity)) PodBuilder {
	return b.affinity(func(a *Affinity) {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = new(PodAntiAffinity)
		}
		change(a.PodAntiAffinity)
	})
}

func podTerm(topologyKey, selector string) PodAffinityTerm {
	return PodAffinityTerm{LabelSelector: must(ParseLabelSelector(selector)), TopologyKey: topologyKey}
}

// Spread adds a topology spread constraint over the pods that match a selector in
// the notation of [ParseLabelSelector].
func (b PodBuilder) Spread(maxSkew int32, topologyKey string, when UnsatisfiableConstraintAction, selector string) PodBuilder {
	return b.SpreadConstraint(TopologySpreadConstraint{
		MaxSkew: maxSkew, TopologyKey: topologyKey, WhenUnsatisfiable: when, LabelSelector: must(ParseLabelSelector(selector)),
	})
}

// SpreadConstraint adds a topology spread constraint with all its details.
func (b PodBuilder) SpreadConstraint(c TopologySpreadConstraint) PodBuilder {
	b.pod.Spec.TopologySpreadConstraints = append(slices.Clip(b.pod.Spec.TopologySpreadConstraints), *clone(&c))
	return b
}
