package whatif

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// A shortage is what the pods of the goal want at least of a resource beyond what the
// nodes that there are can give them. gives is what one new node of each type can give.
type shortage struct {
	need  int64
	gives []int64
}

// shortages returns one for each resource that limits, and one for the places of pods.
// Nodes that take none of the pods give nothing, and amounts that no sum of requests comes
// to are of no use.
func (x *nodeSearch) shortages() (list []shortage) {
	s := x.planner.snapshot
	for k := range s.Schema().Len() + 1 {
		if !x.counted(k) {
			continue
		}
		amounts := make([]int64, len(x.pods))
		for i, pod := range x.pods {
			amounts[i] = x.wanted(pod, k)
		}
		slices.Sort(amounts) // whichever pods are placed, they want as much as the smallest
		need := new(big.Int)
		for _, amount := range amounts[:x.goal] {
			need.Add(need, big.NewInt(amount))
		}
		var here, fresh []int64
		for _, node := range s.All() {
			if x.useful[node.Name()] {
				here = append(here, x.free(node, k))
			}
		}
		for _, node := range x.fresh {
			fresh = append(fresh, x.free(node, k))
		}
		possible := newSums(amounts, slices.Max(slices.Concat(here, fresh, []int64{0})))
		for _, free := range here {
			need.Sub(need, big.NewInt(possible.upTo(free)))
		}
		for i, free := range fresh {
			fresh[i] = possible.upTo(free)
		}
		if need.Sign() > 0 && need.IsInt64() {
			list = append(list, shortage{need.Int64(), fresh})
		}
	}
	return list
}

// wanted is what a pod wants of resource k. The last resource is the place of a pod.
func (x *nodeSearch) wanted(pod *framework.PodInfo, k int) int64 {
	if k == x.planner.snapshot.Schema().Len() {
		return 1
	}
	return pod.Requests.At(k)
}

// free is what a node has left of resource k.
func (x *nodeSearch) free(node *framework.NodeInfo, k int) int64 {
	if k == x.planner.snapshot.Schema().Len() {
		return max(0, node.AllowedPods-int64(len(node.Pods)))
	}
	return max(0, node.Allocatable.At(k)-node.Requested.At(k))
}

// lowerCount is a number of nodes of the only type below which the goal is out of
// reach.
func (x *nodeSearch) lowerCount() (int, error) {
	lowest := int64(0)
	for _, short := range x.shortages() {
		if gives := short.gives[0]; gives > 0 {
			lowest = max(lowest, (short.need-1)/gives+1)
		}
	}
	byClass, err := x.lowerByClass()
	return min(max(byClass, int(min(lowest, math.MaxInt32))), x.most[0]), err
}

// counted reports whether the profile limits the resource, so that needs bound the
// number of nodes: whether a full node rejects a pod that wants it.
func (x *nodeSearch) counted(k int) bool {
	// Extended resources may be ignored by configuration.
	return x.planner.sched.CountsResources() && (k == x.planner.snapshot.Schema().Len() || k < 3)
}

// lowerPrice is the least that nodes can cost that have what the pods need.
func (x *nodeSearch) lowerPrice() int64 {
	lowest := new(big.Int)
	for _, short := range x.shortages() {
		var cheapest *big.Int // price of what is needed, if one type had to give all
		for i, gives := range short.gives {
			if gives == 0 {
				continue
			}
			price := new(big.Int).Mul(big.NewInt(short.need), big.NewInt(x.types[i].price()))
			price.Add(price, big.NewInt(gives-1)).Div(price, big.NewInt(gives))
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
// no other pod can help and that are counted: otherwise the nodes that there are might take
// more if they were placed in another order.
func (x *nodeSearch) lowerByClass() (int, error) {
	if x.goal < len(x.pods) {
		return 0, nil
	}
	groups := map[string][]*framework.PodInfo{}
	for _, pod := range x.pods {
		if x.isHelped(pod) {
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
	var alone *framework.Snapshot
	for _, g := range list[:min(classes, len(list))] {
		here, ok, err := x.headroom(x.planner.snapshot, g[0])
		if err != nil {
			return 0, err
		}
		if !ok || !here.anyOrder || here.Total >= len(g) {
			continue
		}
		if alone == nil {
			if alone, err = x.newNode(); err != nil {
				return 0, err
			}
		}
		each, err := x.aloneOnOne(alone, g[0], len(g))
		if err != nil {
			return 0, err
		}
		if rest := len(g) - here.Total; rest > 0 && each > 0 {
			lowest = max(lowest, (rest-1)/each+1)
		}
	}
	return lowest, nil
}

// newNode is a snapshot with one new node and no others. It has a name that none of these has: objects
// may go by their names.
func (x *nodeSearch) newNode() (*framework.Snapshot, error) {
	s := x.planner.snapshot.Fork()
	others := slices.Clone(s.Slots())
	if _, err := x.addNodes(s, 0, 1); err != nil {
		return nil, err
	}
	for _, n := range others {
		if err := s.RemoveNode(s.AtSlot(n).Name()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// aloneOnOne is how many of the pod the one node of the snapshot takes.
func (x *nodeSearch) aloneOnOne(s *framework.Snapshot, pod *framework.PodInfo, atMost int) (int, error) {
	one := &Planner{profile: x.planner.profile, snapshot: s, sched: x.planner.sched, start: x.planner.start}
	h, err := one.Headroom(pod, atMost)
	if err != nil {
		return 0, err
	}
	return h.Total, nil
}
