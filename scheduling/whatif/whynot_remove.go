package whatif

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// maxRemoved bounds the pods among which WhyNot looks for those to remove.
const maxRemoved = 500

// removals finds pods whose removal makes the node feasible with the changes: those of
// the node, or of its topology domains. It returns nil if there are none.
func (x *whyNot) removals(changes []Change) (list []Change, err error) {
	err = x.with(changes, func(s *framework.Snapshot, pod *framework.PodInfo, _ *trial) error {
		f, err := x.sched.Filtering(s, pod)
		if err != nil {
			return err
		}
		n := s.Node(x.node.Name)
		here := []*framework.NodeInfo{n}
		for _, nodes := range [][]*framework.NodeInfo{here, x.domains(s, n)} {
			if list, err = x.removalsFrom(s, f, nodes); err != nil || list != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// domains are the nodes that share a topology domain with the node, as the pod's
// constraints and those of the node's zone see it, in the snapshot's order.
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
	for _, other := range s.All() {
		if slices.ContainsFunc(keys, func(key string) bool {
			value, ok := n.Node.Labels[key]
			return ok && other.Node.Labels[key] == value
		}) {
			list = append(list, other)
		}
	}
	return list
}

// removalsFrom removes all pods of the nodes. If that helps, it puts them back, the
// most important first, as long as the node stays feasible.
func (x *whyNot) removalsFrom(s *framework.Snapshot, f *scheduling.Filtering, nodes []*framework.NodeInfo) ([]Change, error) {
	mark := s.Begin()
	defer s.Rollback(mark)
	var pods []running
	for _, n := range nodes {
		for _, p := range n.Pods {
			pods = append(pods, running{p, n.Name()})
		}
	}
	if len(pods) == 0 || len(pods) > maxRemoved {
		return nil, nil
	}
	byPriority(pods)
	for _, q := range pods {
		if err := s.RemovePod(q.pod, q.node); err != nil {
			return nil, err
		}
	}
	feasible := func() (bool, error) {
		if err := f.Rebind(); err != nil {
			return false, err
		}
		v, err := f.Node(s.Node(x.node.Name))
		return v.Status.IsSuccess(), err
	}
	if ok, err := feasible(); !ok || err != nil {
		return nil, err
	}
	var gone []Change
	for _, q := range pods {
		if err := s.AddPod(q.pod, q.node); err != nil {
			return nil, err
		}
		ok, err := feasible()
		if err != nil {
			return nil, err
		}
		if !ok {
			if err := s.RemovePod(q.pod, q.node); err != nil {
				return nil, err
			}
			gone = append(gone, Change{Kind: ChangeRemove, Name: q.pod.Pod.Key(), From: q.node})
		}
	}
	slices.SortFunc(gone, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return gone, nil
}
