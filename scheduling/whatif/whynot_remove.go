package whatif

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/podsize"
	"github.com/berth-sched/berth/scheduling"
)

// maxRemoved bounds the pods among which WhyNot looks for those to remove.
const maxRemoved = 500

// removals finds the fewest pods whose removal makes the node feasible with the changes:
// of its own pods or, if they do not suffice, of those of its topology domains. It returns
// nil if there are none.
func (x *whyNot) removals(changes []Change) (list []Change, err error) {
	err = x.with(changes, func(s *framework.Snapshot, pod *framework.PodInfo, _ *trial) error {
		f, err := x.planner.filters(s, pod)
		if err != nil {
			return err
		}
		n := s.Node(x.node.Name)
		var proved bool
		list, proved, err = x.removalsFrom(s, f, pod, []*framework.NodeInfo{n})
		if err == nil && list == nil {
			list, proved, err = x.removalsFrom(s, f, pod, x.domains(s, n, pod))
		}
		if proved && list != nil {
			x.proofs = append(x.proofs, proof{slices.Clone(changes), len(list)})
		}
		return err
	})
	return list, err
}

// domains are the nodes that share a topology domain with the node, as the pod's
// constraints and those of the node's zone see it, in the snapshot's order; none if they
// have too many pods.
func (x *whyNot) domains(s *framework.Snapshot, n *framework.NodeInfo, pod *framework.PodInfo) (list []*framework.NodeInfo) {
	keys := []string{api.LabelTopologyZone}
	for _, c := range x.planner.sched.SpreadConstraints(pod) {
		keys = append(keys, c.TopologyKey)
	}
	if a := x.pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			keys = append(keys, term.TopologyKey)
		}
	}
	slices.Sort(keys)
	keys = slices.DeleteFunc(slices.Compact(keys), func(key string) bool { return !hasLabel(n, key) })
	pods := 0
	for _, other := range s.All() {
		if !slices.ContainsFunc(keys, func(key string) bool {
			value, ok := other.Node.Labels[key]
			return ok && n.Node.Labels[key] == value
		}) {
			continue
		}
		if pods += len(other.Pods); pods > maxRemoved {
			return nil
		}
		list = append(list, other)
	}
	return list
}

func hasLabel(n *framework.NodeInfo, key string) bool {
	_, ok := n.Node.Labels[key]
	return ok
}

// removalsFrom finds the fewest pods of the nodes, and reports whether no fewer suffice.
func (x *whyNot) removalsFrom(s *framework.Snapshot, f *scheduling.Filtering, pod *framework.PodInfo, nodes []*framework.NodeInfo) (list []Change, proved bool, err error) {
	count := 0
	for _, n := range nodes {
		count += len(n.Pods)
	}
	if count == 0 || count > maxRemoved {
		return nil, false, nil
	}
	r := &removal{x: x, s: s, f: f, pod: pod, size: 2*removalSteps + 6*(1+podsize.Parts(pod.Pod))}
	for _, n := range nodes {
		for _, p := range n.Pods {
			r.pods = append(r.pods, running{p, n.Name()})
		}
	}
	byPriority(r.pods)
	slices.Reverse(r.pods) // the least important first
	r.gone, r.holds = make([]bool, len(r.pods)), make([]bool, len(r.pods))
	for i, q := range r.pods {
		r.holds[i] = holdsClaims(q.pod)
	}
	r.mark = s.Begin()
	defer func() { s.Rollback(r.mark) }()
	if err := r.find(); err != nil || r.best == nil {
		return nil, false, err
	}
	for _, i := range r.best {
		list = append(list, Change{Kind: ChangeRemove, Name: r.pods[i].pod.Pod.Key(), From: r.pods[i].node})
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return list, r.proved && x.monotone(s, pod, nodes), nil
}

// A proof says that with some changes, which remove no pods, no fewer than so many pods must go.
type proof struct {
	changes []Change
	pods    int
}

// isProved reports whether no fewer pods than the changes remove suffice. A proof with changes that help the pod
// more stands for those that help it less.
func (x *whyNot) isProved(changes []Change) bool {
	others := withoutRemovals(changes)
	pods := len(changes) - len(others)
	return pods == 0 || slices.ContainsFunc(x.proofs, func(p proof) bool { return p.pods >= pods && x.helpMore(p.changes, others) })
}

// helpMore reports whether the one changes help the pod at least as much as the others, and what may harm is
// the same.
func (x *whyNot) helpMore(more, less []Change) bool {
	in := func(list []Change, c Change) bool {
		return slices.ContainsFunc(list, func(o Change) bool {
			same := o
			if c.Kind == ChangeRequest {
				same.Amount = c.Amount
			}
			return same == c && o.Amount <= c.Amount
		})
	}
	return !slices.ContainsFunc(less, func(c Change) bool { return !in(more, c) }) &&
		!slices.ContainsFunc(more, func(c Change) bool { return x.mayHarm(c) && !in(less, c) })
}

// withoutRemovals are the changes that remove no pods.
func withoutRemovals(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Kind == ChangeRemove })
}

// mayHarm reports whether a change may do more than let the pod on the node.
func (x *whyNot) mayHarm(c Change) bool {
	switch c.Kind {
	case ChangeRequest, ChangeHostPort, ChangeSpread, ChangeAffinity, ChangeAntiAffinity:
		return false
	case ChangeToleration:
		return slices.ContainsFunc(x.spread, func(s api.TopologySpreadConstraint) bool {
			return s.NodeTaintsPolicy != nil && *s.NodeTaintsPolicy == api.NodeInclusionPolicyHonor
		})
	case ChangeNodeSelector, ChangeNodeAffinity, ChangePin:
		return len(x.spread) > 0
	}
	return true
}

// monotone reports whether the removal of more pods of the nodes can never harm: not if the
// pod requires other pods, or if nodes are of several domains of a spread constraint.
func (x *whyNot) monotone(s *framework.Snapshot, pod *framework.PodInfo, nodes []*framework.NodeInfo) bool {
	if a := x.pod.Spec.Affinity; a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return false
	}
	for _, c := range x.planner.sched.SpreadConstraints(pod) {
		own := s.Node(x.node.Name).Node.Labels[c.TopologyKey]
		if c.WhenUnsatisfiable == api.DoNotSchedule && slices.ContainsFunc(nodes, func(n *framework.NodeInfo) bool { return n.Node.Labels[c.TopologyKey] != own }) {
			return false
		}
	}
	return true
}
