package whatif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
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
		if list, err = x.removalsFrom(s, f, pod, []*framework.NodeInfo{n}); err != nil || list != nil {
			return err
		}
		list, err = x.removalsFrom(s, f, pod, x.domains(s, n))
		return err
	})
	return list, err
}

// domains are the nodes that share a topology domain with the node, as the pod's
// constraints and those of the node's zone see it, in the snapshot's order; none if they
// have too many pods.
func (x *whyNot) domains(s *framework.Snapshot, n *framework.NodeInfo) (list []*framework.NodeInfo) {
	keys := []string{api.LabelTopologyZone}
	for _, c := range x.pod.Spec.TopologySpreadConstraints {
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

// removalsFrom finds the fewest pods of the nodes.
func (x *whyNot) removalsFrom(s *framework.Snapshot, f *scheduling.Filtering, pod *framework.PodInfo, nodes []*framework.NodeInfo) ([]Change, error) {
	count := 0
	for _, n := range nodes {
		count += len(n.Pods)
	}
	if count == 0 || count > maxRemoved {
		return nil, nil
	}
	r := &removal{x: x, s: s, f: f, pod: pod}
	for _, n := range nodes {
		for _, p := range n.Pods {
			r.pods = append(r.pods, running{p, n.Name()})
		}
	}
	byPriority(r.pods)
	slices.Reverse(r.pods) // the least important first
	r.gone = make([]bool, len(r.pods))
	mark := s.Begin()
	defer s.Rollback(mark)
	if err := r.find(); err != nil || r.best == nil {
		return nil, err
	}
	var list []Change
	for _, i := range r.best {
		list = append(list, Change{Kind: ChangeRemove, Name: r.pods[i].pod.Pod.Key(), From: r.pods[i].node})
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	if r.proved && x.monotone(s, nodes) {
		x.proved[removed(list)] = true
	}
	return list, nil
}

// removed names the pods that changes remove; "" if none.
func removed(changes []Change) string {
	var names []string
	for _, c := range changes {
		if c.Kind == ChangeRemove {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// monotone reports whether the removal of more pods of the nodes can never harm: not if the
// pod requires other pods, or if nodes are of several domains of a spread constraint.
func (x *whyNot) monotone(s *framework.Snapshot, nodes []*framework.NodeInfo) bool {
	if a := x.pod.Spec.Affinity; a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return false
	}
	for _, c := range x.pod.Spec.TopologySpreadConstraints {
		own := s.Node(x.node.Name).Node.Labels[c.TopologyKey]
		if c.WhenUnsatisfiable == api.DoNotSchedule && slices.ContainsFunc(nodes, func(n *framework.NodeInfo) bool { return n.Node.Labels[c.TopologyKey] != own }) {
			return false
		}
	}
	return true
}
