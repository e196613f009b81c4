package whatif

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// counted counts the replicas without placing them: first what each node has room for,
// then what the rules of domains allow of it. It returns false if that is not the answer.
func (h *headroom) counted(s *framework.Snapshot) (ok bool, err error) {
	h.reset(s)
	if h.pod.HasVolumeClaims() {
		return false, nil
	}
	parts, first, ok, err := h.parts(s)
	if !ok || err != nil {
		return false, err
	}
	rules, open, ok := newReplicaRules(s, &parts)
	if !ok {
		return false, nil
	}
	verdicts, ok, err := h.capacities(s, parts.Rest, open)
	if !ok || err != nil {
		return false, err
	}
	room := make([]int64, len(h.Nodes)) // as far as the node goes
	for i := range h.Nodes {
		room[i] = int64(h.Nodes[i].Pods)
	}
	c, ok := rules.solve(room)
	if !ok {
		return false, nil
	}
	for i, n := range s.All() {
		node, v := &h.Nodes[i], verdicts[i]
		if node.Pods, node.Shared = int(c.most[i]), c.shared(i); node.Shared || c.most[i] < room[i] {
			v = scheduling.NodeVerdict{} // it has room left, or its domain is full before
		}
		if v = parts.Verdict(n, v, c.counts(i)); v.Status.IsSuccess() {
			return false, nil
		}
		h.rejected(i, v)
	}
	h.Total, h.Domains = c.total(), c.list(s)
	if first >= 0 {
		h.add(s, first)
	}
	h.perNode = len(parts.Spreads) == 0
	h.anyOrder = rules.anyOrder(first >= 0)
	h.finish()
	return true, nil
}

// parts takes the filters apart. If they wait for a first replica, the scheduler places
// one, and first is the place of its node; otherwise first is -1.
func (h *headroom) parts(s *framework.Snapshot) (parts scheduling.SpreadFiltering, first int, ok bool, err error) {
	f, err := h.planner.sched.Filtering(s, h.pod)
	if err != nil || f.ReservesByOthers() {
		return parts, -1, false, err
	}
	if parts, ok, err = f.Spread(); ok || err != nil {
		return parts, -1, ok, err
	}
	replica, err := unnamed(h.pod, 0)
	if err != nil {
		return parts, -1, false, err
	}
	name, miss, err := h.planner.place(s, replica)
	if miss != nil || err != nil {
		return parts, -1, false, err
	}
	if f, err = h.planner.sched.Filtering(s, h.pod); err != nil {
		return parts, -1, false, err
	}
	parts, ok, err = f.Spread()
	return parts, slices.IndexFunc(h.Nodes, func(n NodeHeadroom) bool { return n.Node == name }), ok, err
}

// add adds the replica that was placed first.
func (h *headroom) add(s *framework.Snapshot, place int) {
	h.Total++
	n := &h.Nodes[place]
	n.Pods++
	for i := range h.Domains {
		if d := &h.Domains[i]; s.Node(n.Node).Node.Labels[d.Key] == d.Value {
			d.Pods++
			d.Room++
		}
	}
}

// list holds the domains by name if one is shared.
func (c *replicaCount) list(s *framework.Snapshot) (list []DomainHeadroom) {
	if c.coarse == nil || !slices.ContainsFunc(c.takes, func(t domainTakes) bool { return t.shared() }) {
		return nil
	}
	for i, n := range s.All() {
		d := c.coarse.domain[i]
		if d < 0 || c.coarse.domains[d].first != i {
			continue
		}
		list = append(list, DomainHeadroom{Key: c.coarse.Key, Value: n.Node.Labels[c.coarse.Key], Pods: int(c.takes[d].pods), Room: int(c.takes[d].room)})
	}
	slices.SortFunc(list, func(a, b DomainHeadroom) int { return cmp.Compare(a.Value, b.Value) })
	return list
}
