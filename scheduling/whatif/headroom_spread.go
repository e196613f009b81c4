package whatif

import (
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// A domain is the nodes that a spread constraint counts together.
type domain struct {
	pods  int64 // before any replica
	room  int64 // for replicas, as far as its nodes go
	takes int64 // replicas
	nodes int   // with room
}

// byDomain counts the replicas of a pod that one filter spreads over domains: first what
// each node has room for, then what the rule allows of it. It returns false if that is not
// the answer.
//
// Whatever the order of the decisions, they end with the same number in each domain. The
// fewest pods of any domain never become fewer. While a domain with the fewest has room, a
// replica passes there; so at the end such a domain is full, and the fewest are the least
// that a full domain has. A domain is then full too, or has maxSkew more than the fewest,
// if it did not have more before.
func (h *headroom) byDomain(s *framework.Snapshot) (ok bool, err error) {
	f, err := h.planner.sched.Filtering(s, h.pod)
	if err != nil || h.pod.HasVolumes() {
		return false, err
	}
	parts, ok, err := f.Spread()
	if !ok || err != nil {
		return false, err
	}
	places := make([]framework.ReplicaPlace, s.Len())
	open := make([]bool, s.Len())
	for i, n := range s.All() {
		places[i] = parts.Spread.Place(n)
		open[i] = parts.Spread.Filter(n, 0, 0).IsSuccess()
	}
	verdicts, ok, err := h.capacities(s, parts.Rest, open)
	if !ok || err != nil {
		return false, err
	}
	domains, fewest, ok := h.spread(parts.Spread, places)
	if !ok {
		return false, nil
	}
	h.Total = 0
	for i, n := range s.All() {
		v, d := &verdicts[i], domains[places[i].Domain]
		if room := h.Nodes[i].Pods; room > 0 && d.takes < d.room {
			h.Nodes[i].Pods = int(d.takes)
			*v = scheduling.NodeVerdict{}
		}
		h.Total += h.Nodes[i].Pods
		pods := places[i].Pods
		if d != nil {
			pods += d.takes
		}
		status := parts.Spread.Filter(n, pods, fewest)
		if !status.IsSuccess() && (v.Status.IsSuccess() || !parts.Before(*v)) {
			*v = scheduling.NodeVerdict{Plugin: parts.Plugin, Status: status}
		}
		if v.Status.IsSuccess() {
			return false, nil
		}
		h.rejected(i, *v)
	}
	h.finish()
	return true, nil
}

// spread finds how many replicas each domain takes, and the fewest pods in any domain when
// none passes. It returns false if replicas go where they do not count, or if a domain takes
// some, but not as many as several of its nodes have room for.
func (h *headroom) spread(rule framework.ReplicaSpread, places []framework.ReplicaPlace) (domains map[int]*domain, fewest int64, ok bool) {
	domains = map[int]*domain{}
	for i, p := range places {
		room := int64(h.Nodes[i].Pods)
		if !p.Counts {
			if room > 0 {
				return nil, 0, false
			}
			continue
		}
		d := domains[p.Domain]
		if d == nil {
			d = &domain{pods: p.Pods}
			domains[p.Domain] = d
		}
		if room > 0 {
			d.room += room
			d.nodes++
		}
	}
	if !rule.FromZero {
		fewest = math.MaxInt32
		for _, d := range domains {
			fewest = min(fewest, d.pods+d.room)
		}
	}
	for _, d := range domains {
		d.takes = max(0, min(d.room, fewest+rule.MaxSkew-d.pods))
		if d.takes > 0 && d.takes < d.room && d.nodes > 1 {
			return nil, 0, false
		}
	}
	return domains, fewest, true
}
