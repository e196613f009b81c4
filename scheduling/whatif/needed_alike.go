package whatif

import (
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// alikePods are replicas of one pod: they are placed until one fails, and then all fail. So
// how many are placed is the headroom of the pod.
type alikePods struct {
	perNode bool
	// If perNode is set: what the nodes of the snapshot take, and a new one of each type.
	here int
	each []int
}

// findAlike finds out whether the pods are replicas that can be counted. The snapshot has one
// new node of each type.
func (x *nodeSearch) findAlike(s *framework.Snapshot) error {
	if len(x.pods) < 2 {
		return nil
	}
	first := x.pods[0]
	if first.HasClaims() || namesNodes(first.Pod) {
		return nil
	}
	for _, pod := range x.pods {
		if !sameClass(first, pod) || pod.Pod.DeletionTimestamp != nil { // it does not count where pods spread
			return nil
		}
	}
	if _, ok, err := x.planner.sched.CommonClassKey(s, x.pods...); !ok || err != nil {
		return err
	}
	h, ok, err := x.headroom(s, first)
	if !ok || err != nil {
		return err
	}
	x.alike = &alikePods{perNode: h.perNode, here: h.Total}
	for _, n := range x.fresh {
		i := slices.IndexFunc(h.Nodes, func(other NodeHeadroom) bool { return other.Node == n.Name() })
		x.alike.each = append(x.alike.each, h.Nodes[i].Pods)
		x.alike.here -= h.Nodes[i].Pods
	}
	return nil
}

func sameClass(a, b *framework.PodInfo) bool {
	const fields = framework.FieldNamespace | framework.FieldLabels | framework.FieldSpec
	return a.ClassKey(fields) == b.ClassKey(fields)
}

// namesNodes reports whether the pod may tell new nodes of one type apart.
func namesNodes(p *api.Pod) bool {
	if _, ok := p.Spec.NodeSelector[api.LabelHostname]; ok || p.Spec.NodeName != "" {
		return true
	}
	return slices.ContainsFunc(requiredTerms(p), func(t api.NodeSelectorTerm) bool {
		return len(t.MatchFields) > 0 || slices.ContainsFunc(t.MatchExpressions, func(r api.NodeSelectorRequirement) bool { return r.Key == api.LabelHostname })
	})
}

// mostOnNode is how many replicas a node is filled with to count what it takes. Nodes with more
// places are rare, and their replicas are placed one by one, as many as there are.
const mostOnNode = 10_000

// headroom counts replicas in the snapshot; ok is false if they cannot be counted. Otherwise
// the order of their decisions does not matter.
func (x *nodeSearch) headroom(s *framework.Snapshot, pod *framework.PodInfo) (h *headroom, ok bool, err error) {
	f, err := x.planner.sched.Filtering(s, pod)
	if err != nil || len(f.ReadingNodes()) > 0 {
		return nil, false, err
	}
	p := &Planner{profile: x.planner.profile, snapshot: s, sched: x.planner.sched, start: x.planner.start}
	h = newHeadroom(p, pod, max(len(x.pods), mostOnNode))
	err = p.try(func(s *framework.Snapshot) error {
		ok, err = h.counted(s)
		return err
	})
	return h, ok, err
}

// countAlike is count for replicas; ok is false if they cannot be counted.
func (x *nodeSearch) countAlike(counts []int) (placed int, ok bool, err error) {
	a := x.alike
	if a == nil {
		return 0, false, nil
	}
	if a.perNode {
		placed = min(len(x.pods), a.here)
		for i, n := range counts {
			if rest := len(x.pods) - placed; a.each[i] > 0 {
				placed += min(n, (rest-1)/a.each[i]+1) * a.each[i]
			}
			placed = min(placed, len(x.pods))
		}
		return placed, true, nil
	}
	err = x.with(counts, func(s *framework.Snapshot) error {
		x.spent += s.Len()
		h, counted, err := x.headroom(s, x.pods[0])
		if counted && err == nil {
			placed, ok = min(h.Total, len(x.pods)), true
		}
		return err
	})
	return placed, ok, err
}

// maxCoverWork bounds the work of cover.
const maxCoverWork = 100_000_000

// cover is the cheapest choice of nodes that take what the snapshot does not, if what a node
// takes does not depend on others; nil if it does, or if that is too much work.
//
// The nodes of a type are taken in lots of 1, 2, 4 and so on, and each lot or not: the least
// price for any number of replicas then follows from the lots before.
func (x *nodeSearch) cover() []int {
	a := x.alike
	if a == nil || !a.perNode {
		return nil
	}
	need := x.goal - a.here
	type lot struct{ of, nodes int }
	var lots []lot
	for i, each := range a.each {
		if each == 0 {
			continue
		}
		most := min(x.most[i], (need-1)/each+1)
		for n := 1; most > 0; n *= 2 {
			lots = append(lots, lot{i, min(n, most)})
			most -= min(n, most)
		}
	}
	if need <= 0 || len(lots)*need > maxCoverWork {
		return nil
	}
	const never = math.MaxInt64
	price := make([]int64, need+1) // of at least so many replicas
	for k := 1; k <= need; k++ {
		price[k] = never
	}
	taken := make([][]uint64, len(lots)) // by number of replicas
	for l, lot := range lots {
		taken[l] = make([]uint64, need/64+1)
		gives := min(need, lot.nodes*min(need, a.each[lot.of]))
		costs := x.types[lot.of].price() * int64(lot.nodes)
		for k := need; k > 0; k-- {
			if before := price[max(0, k-gives)]; before != never && before+costs < price[k] {
				price[k] = before + costs
				taken[l][k/64] |= 1 << (k % 64)
			}
		}
	}
	if price[need] == never {
		return nil
	}
	counts := make([]int, len(x.types))
	for l, k := len(lots)-1, need; l >= 0; l-- {
		if lot := lots[l]; taken[l][k/64]>>(k%64)&1 != 0 {
			counts[lot.of] += lot.nodes
			k = max(0, k-lot.nodes*a.each[lot.of])
		}
	}
	return counts
}
