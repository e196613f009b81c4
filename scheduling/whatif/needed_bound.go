package whatif

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// needs is what the pods of the goal want at least beyond what is free now, by
// resource; the entry after the last counts pods.
func (x *nodeSearch) needs() []int64 {
	s := x.planner.snapshot
	n := s.Schema().Len()
	needs := make([]int64, n+1)
	amounts := make([]int64, len(x.pods))
	for k := range n + 1 {
		for i, pod := range x.pods {
			amounts[i] = 1
			if k < n {
				amounts[i] = pod.Requests.At(k)
			}
		}
		slices.Sort(amounts) // whichever pods are placed, they want as much as the smallest
		sum := new(big.Int)
		for _, amount := range amounts[:x.goal] {
			sum.Add(sum, big.NewInt(amount))
		}
		for _, node := range s.All() {
			free := node.AllowedPods - int64(len(node.Pods))
			if k < n {
				free = node.Allocatable.At(k) - node.Requested.At(k)
			}
			sum.Sub(sum, big.NewInt(max(free, 0)))
		}
		if sum.Sign() > 0 && sum.IsInt64() {
			needs[k] = sum.Int64()
		}
	}
	return needs
}

// gives is what one node of a type has of each resource, and of places for pods.
func (x *nodeSearch) gives(i int) ([]int64, error) {
	s := x.planner.snapshot.Fork()
	before := s.Len()
	if err := x.types[i].add(s, 1); err != nil {
		return nil, err
	}
	var node *framework.NodeInfo
	for _, n := range s.All() {
		if x.planner.snapshot.Node(n.Name()) == nil {
			node = n
		}
	}
	if node == nil || s.Len() != before+1 {
		return nil, errUnknownNode
	}
	n := s.Schema().Len()
	gives := make([]int64, n+1)
	for k := range n {
		gives[k] = max(0, node.Allocatable.At(k)-node.Requested.At(k))
	}
	gives[n] = max(0, node.AllowedPods-int64(len(node.Pods)))
	return gives, nil
}

// lowerCount is a number of nodes of the only type below which the goal is out of
// reach.
func (x *nodeSearch) lowerCount() (int, error) {
	gives, err := x.gives(0)
	if err != nil {
		return 0, err
	}
	lowest := int64(0)
	for k, need := range x.needs() {
		if need > 0 && gives[k] > 0 && x.counted(k) {
			lowest = max(lowest, (need-1)/gives[k]+1)
		}
	}
	byClass, err := x.lowerByClass()
	return max(byClass, int(min(lowest, int64(x.most[0])))), err
}

// counted reports whether the profile limits the resource, so that needs bound the
// number of nodes: whether a full node rejects a pod that wants it.
func (x *nodeSearch) counted(k int) bool {
	n := x.planner.snapshot.Schema().Len()
	for _, plugin := range x.planner.profile.Filter {
		if plugin.Name() == "NodeResourcesFit" {
			return k == n || k < 3 // extended resources may be ignored by configuration
		}
	}
	return false
}

// lowerPrice is the least that nodes can cost that have what the pods need.
func (x *nodeSearch) lowerPrice() int64 {
	lowest := new(big.Int)
	for k, need := range x.needs() {
		if need == 0 || !x.counted(k) {
			continue
		}
		var cheapest *big.Int // price of what is needed, if one type had to give all
		for i := range x.types {
			gives, err := x.gives(i)
			if err != nil || k >= len(gives) || gives[k] == 0 {
				continue
			}
			price := new(big.Int).Mul(big.NewInt(need), big.NewInt(x.types[i].price()))
			price.Add(price, big.NewInt(gives[k]-1)).Div(price, big.NewInt(gives[k]))
			if cheapest == nil || price.Cmp(cheapest) < 0 {
				cheapest = price
			}
		}
		if cheapest != nil && cheapest.Cmp(lowest) > 0 {
			lowest = cheapest
		}
	}
	if !lowest.IsInt64() {
		return 0
	}
	return lowest.Int64()
}

// classes bounds the number of groups of equal pods that lowerByClass looks at.
const classes = 8

// lowerByClass bounds the number of nodes by each of the largest groups of equal pods:
// what does not fit on the nodes that there are must go to new ones, and each takes no
// more than it takes alone. That helps if something else than resources limits, such as
// anti-affinity or ports. It holds only if all pods are in the goal, and for pods that
// no other pod can help.
func (x *nodeSearch) lowerByClass() (int, error) {
	if x.goal < len(x.pods) {
		return 0, nil
	}
	groups := map[string][]*framework.PodInfo{}
	for _, pod := range x.pods {
		if pod.HasSpread() || attracted(pod) {
			continue
		}
		key := pod.ClassKey(framework.FieldNamespace | framework.FieldLabels | framework.FieldSpec)
		groups[key] = append(groups[key], pod)
	}
	var list [][]*framework.PodInfo
	for _, pod := range x.pods { // in the order of their first pods
		key := pod.ClassKey(framework.FieldNamespace | framework.FieldLabels | framework.FieldSpec)
		if g := groups[key]; len(g) > 1 {
			list = append(list, g)
			delete(groups, key)
		}
	}
	slices.SortStableFunc(list, func(a, b []*framework.PodInfo) int { return cmp.Compare(len(b), len(a)) })
	lowest := 0
	for _, g := range list[:min(classes, len(list))] {
		here, err := x.planner.Headroom(g[0], len(g))
		if err != nil {
			return 0, err
		}
		each, err := x.aloneOnOne(g[0], len(g))
		if err != nil {
			return 0, err
		}
		if rest := len(g) - here.Total; rest > 0 && each > 0 {
			lowest = max(lowest, (rest-1)/each+1)
		}
	}
	return lowest, nil
}

// attracted reports whether the pod has required pod affinity.
func attracted(p *framework.PodInfo) bool {
	a := p.Pod.Spec.Affinity
	return a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// aloneOnOne is how many of the pod one new node takes if there is nothing else.
func (x *nodeSearch) aloneOnOne(pod *framework.PodInfo, atMost int) (int, error) {
	s := x.planner.snapshot.Fork()
	for _, n := range slices.Clone(s.Slots()) {
		if err := s.RemoveNode(s.AtSlot(n).Name()); err != nil {
			return 0, err
		}
	}
	if err := x.types[0].add(s, 1); err != nil {
		return 0, err
	}
	one := &Planner{profile: x.planner.profile, snapshot: s, sched: x.planner.sched, start: x.planner.start}
	h, err := one.Headroom(pod, atMost)
	if err != nil {
		return 0, err
	}
	return h.Total, nil
}
