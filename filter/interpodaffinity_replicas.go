package filter

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/replica"
	"github.com/berth-sched/berth/internal/topo"
)

// ReplicaSpread implements [replica.Spreader]: one rule for each anti-affinity
// term that matches the pod itself and has domains, which leaves room for one replica in each. Terms of
// other pods, and required affinity that a pod meets, say of a node what they said before:
// a replica that meets the affinity joins a domain that had such a pod.
//
// It cannot tell as long as nobody meets the required affinity, so that the first replica
// decides where the others go, or if no pod matches a term that matches the replicas; nor if a term
// selects the namespace of the replicas only because the snapshot does not know it.
func (f *interPodAffinity) ReplicaSpread(pod *framework.PodInfo) (spread replica.Spread, ok bool) {
	f.current(pod)
	if f.Self && f.first() {
		return spread, false
	}
	terms := topo.TermsOf(pod).RequiredAnti
	var counting []int // of terms
	for i := range terms {
		repels := f.Repels(i)
		if repels != f.IsRepelled(pod.Pod, i) {
			return spread, false
		}
		if !repels || !f.HasDomains(i) {
			continue
		}
		k := slices.Index(f.RepelTerms, i)
		if k < 0 || !f.Repel[k].Any() { // another question may have made a counter of nobody
			return spread, false
		}
		counting = append(counting, i)
		spread.Rules = append(spread.Rules, replica.Rule{
			Key: terms[i].Key, MaxSkew: 1, FromZero: true,
			Place: func(node *framework.NodeInfo) replica.Place {
				a := f.current(pod)
				k := slices.Index(a.RepelTerms, i)
				if k < 0 { // all pods that the term matches have gone
					return replica.Place{Domain: -1}
				}
				d := a.Repel[k].Domain(node)
				return replica.Place{Domain: int(d), Pods: a.Repel[k].In(d), Counts: a.Repel[k].Counts(node)}
			},
		})
	}
	places, of := f.placesOf(counting), f.Affinity
	spread.Filter = func(node *framework.NodeInfo, counts []replica.Count) framework.Status {
		if a := f.current(pod); a != of {
			places, of = f.placesOf(counting), a
		}
		return f.verdict(node, places, counts)
	}
	return spread, true
}

// placesOf returns where Repel has the counts of terms.
func (f *interPodAffinity) placesOf(terms []int) []int {
	places := make([]int, len(terms))
	for k, term := range terms {
		places[k] = slices.Index(f.RepelTerms, term)
	}
	return places
}
