package api

import "slices"

// defaultAffinity adds the meaning of matchLabelKeys (key In [the pod's value]) and
// mismatchLabelKeys (key NotIn [the pod's value]) to the label selectors of a pod's
// affinity terms. It ignores keys that the pod has no label for, and terms without
// a selector, because they select no pods.
func defaultAffinity(p *Pod) {
	a := p.Spec.Affinity
	if a == nil || !hasMatchKeys(a) {
		return
	}
	b := *a
	if x := a.PodAffinity; x != nil {
		b.PodAffinity = &PodAffinity{
			defaultTerms(x.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels),
			defaultWeightedTerms(x.PreferredDuringSchedulingIgnoredDuringExecution, p.Labels),
		}
	}
	if x := a.PodAntiAffinity; x != nil {
		b.PodAntiAffinity = &PodAntiAffinity{
			defaultTerms(x.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels),
			defaultWeightedTerms(x.PreferredDuringSchedulingIgnoredDuringExecution, p.Labels),
		}
	}
	p.Spec.Affinity = &b
}

// hasMatchKeys reports whether a term has matchLabelKeys or mismatchLabelKeys.
func hasMatchKeys(a *Affinity) bool {
	has := func(t *PodAffinityTerm) bool { return len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 }
	anyOf := func(required []PodAffinityTerm, preferred []WeightedPodAffinityTerm) bool {
		return slices.ContainsFunc(required, func(t PodAffinityTerm) bool { return has(&t) }) ||
			slices.ContainsFunc(preferred, func(t WeightedPodAffinityTerm) bool { return has(&t.PodAffinityTerm) })
	}
	if x := a.PodAffinity; x != nil && anyOf(x.RequiredDuringSchedulingIgnoredDuringExecution, x.PreferredDuringSchedulingIgnoredDuringExecution) {
		return true
	}
	x := a.PodAntiAffinity
	return x != nil && anyOf(x.RequiredDuringSchedulingIgnoredDuringExecution, x.PreferredDuringSchedulingIgnoredDuringExecution)
}

func defaultTerms(terms []PodAffinityTerm, labels map[string]string) []PodAffinityTerm {
	terms = slices.Clone(terms)
	for i := range terms {
		terms[i] = defaultTerm(terms[i], labels)
	}
	return terms
}

func defaultWeightedTerms(terms []WeightedPodAffinityTerm, labels map[string]string) []WeightedPodAffinityTerm {
	terms = slices.Clone(terms)
	for i := range terms {
		terms[i].PodAffinityTerm = defaultTerm(terms[i].PodAffinityTerm, labels)
	}
	return terms
}

func defaultTerm(t PodAffinityTerm, labels map[string]string) PodAffinityTerm {
	if t.LabelSelector == nil {
		return t
	}
	s := *t.LabelSelector
	s.MatchExpressions = withKeys(s.MatchExpressions, t.MatchLabelKeys, LabelSelectorOpIn, labels)
	s.MatchExpressions = withKeys(s.MatchExpressions, t.MismatchLabelKeys, LabelSelectorOpNotIn, labels)
	t.LabelSelector = &s
	return t
}

// withKeys returns reqs with a requirement for each key added. It skips
// requirements that reqs already has, because the pod may have passed an API
// server.
func withKeys(reqs []LabelSelectorRequirement, keys []string, op LabelSelectorOperator, labels map[string]string) []LabelSelectorRequirement {
	if len(keys) == 0 {
		return reqs
	}
	present := make(map[string]bool, len(reqs))
	for i := range reqs {
		r := &reqs[i]
		if value, ok := labels[r.Key]; ok && r.Operator == op && slices.Equal(r.Values, []string{value}) {
			present[r.Key] = true
		}
	}
	reqs = slices.Clip(reqs) // the given list is not written to
	for _, key := range keys {
		value, ok := labels[key]
		if ok && !present[key] {
			present[key] = true
			reqs = append(reqs, LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
	return reqs
}
