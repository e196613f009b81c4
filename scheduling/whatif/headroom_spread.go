package whatif

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/replica"
	"github.com/berth-sched/berth/scheduling"
)

// A domain is the nodes that a spread constraint counts together.
type domain struct {
	value string
	pods  int64 // before any replica
	room  int64 // for replicas, as far as its nodes go
	takes int64 // replicas
	nodes int   // with room
}

// shared reports whether scores say which nodes get the replicas.
func (d *domain) shared() bool { return d.takes > 0 && d.takes < d.room && d.nodes > 1 }

// byDomain counts the replicas of a pod that one filter spreads over domains: first what
// each node has room for, then what the rule allows of it. It returns false if that is not
// the answer.
//
// Whatever the order of the decisions, they end with the same number in each domain. The
// fewest pods of any domain never become fewer. While a domain with the fewest has room, a
// replica passes there; so at the end such a domain is full, and the fewest are the least
// that a full domain has. Each domain is then full too, or has maxSkew more than the fewest,
// or had more than that before.
func (h *headroom) byDomain(s *framework.Snapshot) (ok bool, err error) {
	f, err := h.planner.sched.Filtering(s, h.pod)
	if err != nil || h.pod.HasVolumes() {
		return false, err
	}
	parts, ok, err := f.Spread()
	if !ok || err != nil {
		return false, err
	}
	places := make([]replica.Place, s.Len())
	open := make([]bool, s.Len())
	for i, n := range s.All() {
		places[i] = parts.Spread.Place(n)
		open[i] = parts.Spread.Filter(n, 0, 0).IsSuccess()
	}
	verdicts, ok, err := h.capacities(s, parts.Rest, open)
	if !ok || err != nil {
		return false, err
	}
	domains, fewest, ok := h.spread(s, parts.Spread, places)
	if !ok {
		return false, nil
	}
	for i, n := range s.All() {
		node, v, pods := &h.Nodes[i], verdicts[i], places[i].Pods
		if d := domains[places[i].Domain]; d != nil {
			pods += d.takes
			if node.Pods > 0 && d.takes < d.room { // the domain is full before the node
				if node.Shared = d.shared(); !node.Shared {
					node.Pods = int(d.takes)
				}
				v = scheduling.NodeVerdict{}
			}
		}
		if v.Status.IsSuccess() || !parts.Before(v) {
			if status := parts.Spread.Filter(n, pods, fewest); !status.IsSuccess() {
				v = scheduling.NodeVerdict{Plugin: parts.Plugin, Status: status}
			}
		}
		if v.Status.IsSuccess() {
			return false, nil
		}
		h.rejected(i, v)
	}
	if h.count(parts.Spread.Key, domains); h.Domains != nil && h.Total <= h.planner.affordable {
		return false, nil
	}
	h.finish()
	return true, nil
}

// spread finds how many replicas each domain takes, and the fewest pods in any domain when
// none passes any more. It returns false if replicas go where they do not count.
func (h *headroom) spread(s *framework.Snapshot, rule replica.Spread, places []replica.Place) (domains map[int]*domain, fewest int64, ok bool) {
	domains = map[int]*domain{}
	for i, n := range s.All() {
		p, room := &places[i], int64(h.Nodes[i].Pods)
		if !p.Counts {
			if room > 0 {
				return nil, 0, false
			}
			continue
		}
		d := domains[p.Domain]
		if d == nil {
			d = &domain{value: n.Node.Labels[rule.Key], pods: p.Pods}
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
	}
	return domains, fewest, true
}

// count adds up the domains, and lists them if one is shared.
func (h *headroom) count(key string, domains map[int]*domain) {
	h.Total = 0
	shared := false
	var list []DomainHeadroom
	for _, d := range domains {
		h.Total += int(d.takes)
		shared = shared || d.shared()
		list = append(list, DomainHeadroom{Key: key, Value: d.value, Pods: int(d.takes), Room: int(d.room)})
	}
	if shared {
		slices.SortFunc(list, func(a, b DomainHeadroom) int { return cmp.Compare(a.Value, b.Value) })
		h.Domains = list
	}
}
