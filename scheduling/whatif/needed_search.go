package whatif

import (
	"cmp"
	"slices"
	"sort"

	"github.com/berth-sched/berth/framework"
)

// maxSpent bounds the work of a search that tries one choice after the other. Until it has found
// some nodes of one type that suffice, or of a set of types, the answer may be all nodes, so it goes on
// up to maxSpentInVain.
const maxSpent, maxSpentInVain = 60_000_000, 6 * maxSpent

// ended reports whether the search keeps the answer that it has, because its work is spent.
func (x *nodeSearch) ended() bool {
	return x.spent >= maxSpentInVain || x.found && x.spent >= maxSpent
}

// search finds how many nodes of each type to add.
func (x *nodeSearch) search() ([]int, error) {
	if err := x.survey(); err != nil {
		return nil, err
	}
	none := make([]int, len(x.types))
	best, err := x.placeEach()
	if err == nil && best == nil {
		best, err = x.setGoal()
	}
	if err != nil {
		return nil, err
	}
	if len(x.types) == 1 {
		if err := x.raise(); err != nil {
			return nil, err
		}
	}
	if ok, err := x.suffices(none); ok || err != nil {
		return none, err
	}
	if len(x.types) == 1 {
		return x.fewest()
	}
	if counts := x.cover(); counts != nil {
		x.cheapest = true
		return counts, nil
	}
	consider := func(counts []int, err error) error {
		if err == nil && counts != nil && x.price(counts) < x.price(best) {
			best = counts
		}
		return err
	}
	for i := range x.types {
		if err := consider(x.alone(i)); err != nil {
			return nil, err
		}
	}
	for _, set := range x.sets { // again, if the goal is not to place each pod
		if err := consider(x.together(set, maxSpentInVain)); err != nil {
			return nil, err
		}
	}
	if err := consider(x.greedy()); err != nil {
		return nil, err
	}
	return x.cheaper(best)
}

// setGoal sets the goal to the most pods that all nodes of the types place, or all of one
// type: pods that come with nodes may harm others. It returns the nodes.
func (x *nodeSearch) setGoal() (best []int, err error) {
	best = x.most
	if x.goal, err = x.count(best); err != nil || len(x.types) == 1 {
		return best, err
	}
	for i := range x.types {
		if x.goal == len(x.pods) {
			break
		}
		counts := make([]int, len(x.types))
		counts[i] = x.most[i]
		x.goal++ // a count ends when this is out of reach
		placed, err := x.count(counts)
		if err != nil {
			return nil, err
		}
		if x.goal--; placed > x.goal {
			best, x.goal = counts, placed
		}
	}
	return best, nil
}

// raise raises the goal to the most pods that any number of nodes of the only type places,
// as far as a part of maxSpent lets it look: with more nodes, fewer pods may be placed.
func (x *nodeSearch) raise() error {
	end := x.spent + maxSpent/6
	for n := 0; n < x.most[0] && x.goal < len(x.pods); n++ {
		if x.open = x.spent >= end; x.open {
			return nil
		}
		x.goal++ // a count ends when this is out of reach
		placed, err := x.count([]int{n})
		if err != nil {
			return err
		}
		if x.goal--; placed > x.goal {
			x.goal, x.reached = placed, n
		}
	}
	return nil
}

// fewest is the smallest number of nodes of the only type that suffices, as far as maxSpent
// lets it look. More nodes need not be better in the eyes of a scheduler, so that every
// number below one that suffices has to be tried.
func (x *nodeSearch) fewest() (counts []int, err error) {
	if x.from, err = x.lowerCount(); err != nil {
		return nil, err
	}
	x.from = max(x.from, 1)
	high, err := x.climb(x.from)
	if err != nil {
		return nil, err
	}
	for ; x.from < high && x.spent < maxSpent; x.from++ {
		if ok, err := x.suffices([]int{x.from}); ok || err != nil {
			return []int{x.from}, err
		}
	}
	if ok, err := x.suffices([]int{high}); !ok || err != nil {
		return []int{x.reached}, err
	}
	return []int{high}, nil
}

// climb is a number of nodes of the only type, from one on, that suffices: the end of steps
// that double, and of a bisection of the last step. If it finds none, it is the largest.
func (x *nodeSearch) climb(from int) (int, error) {
	low, high := from, from // below low nothing suffices, as far as it was tried
	for step := 1 + from/8; high < x.most[0]; step *= 2 {
		ok, err := x.suffices([]int{high})
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		low, high = high+1, min(high+step, x.most[0])
	}
	counts, err := x.least([]int{high}, 0, low)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// alone is a number of nodes of one type that suffices without the others, nil if there
// is none, or the search has ended.
func (x *nodeSearch) alone(i int) ([]int, error) {
	if x.ended() {
		return nil, nil
	}
	counts := make([]int, len(x.types))
	counts[i] = x.most[i]
	if ok, err := x.suffices(counts); !ok || err != nil {
		return nil, err
	}
	counts, err := x.least(counts, i, 0)
	x.found = err == nil
	return counts, err
}

// least lowers the number of one type as far as bisection finds that the pods fit, but not
// below low. If the search ends first, it is the lowest number found so far.
func (x *nodeSearch) least(counts []int, i, low int) ([]int, error) {
	counts = slices.Clone(counts)
	var failed error
	counts[i] = low + sort.Search(counts[i]-low, func(n int) bool {
		if failed != nil || x.ended() {
			return false // only a number that suffices lowers the answer
		}
		fewer := slices.Clone(counts)
		fewer[i] = low + n
		ok, err := x.suffices(fewer)
		if err != nil {
			failed = err
		}
		return ok
	})
	return counts, failed
}

// greedy adds, as long as pods are left, nodes of the type that holds the most for its
// price, or of a set of types where no single one holds any. It returns nil if it does not get to the
// goal with what maxSpent lets it spend.
func (x *nodeSearch) greedy() ([]int, error) {
	counts := make([]int, len(x.types))
	for x.spent < maxSpent {
		if ok, err := x.suffices(counts); ok || err != nil {
			return counts, err
		}
		var next []int // nodes by type
		held, missing, taken := 0.0, 0, 0
		err := x.with(counts, func(s *framework.Snapshot) error {
			left, err := x.leftOver(s)
			if err != nil {
				return err
			}
			missing = len(left)
			for _, more := range x.steps(counts) {
				if held > 0 && more.isSet {
					break
				}
				value, pods, err := x.value(s, more.nodes, left)
				if err != nil {
					return err
				}
				if value /= float64(x.price(more.nodes)); value > held {
					next, held, taken = more.nodes, value, pods
				}
			}
			return nil
		})
		if err != nil || next == nil {
			return nil, err
		}
		// Several at once, while many pods are left: half of what the rest would need.
		times := max(1, missing/max(1, 2*taken))
		for i, n := range next {
			counts[i] = min(x.most[i], counts[i]+n*times)
		}
	}
	return nil, nil
}

// A step is how many nodes of each type to add next.
type step struct {
	nodes []int
	isSet bool // of several types
}

// steps lists one node of each type that has more, and then of each set of such types.
func (x *nodeSearch) steps(counts []int) (list []step) {
	add := func(types ...int) {
		if slices.ContainsFunc(types, func(i int) bool { return counts[i] == x.most[i] }) {
			return
		}
		s := step{make([]int, len(x.types)), len(types) > 1}
		for _, i := range types {
			s.nodes[i] = 1
		}
		list = append(list, s)
	}
	for i := range x.types {
		add(i)
	}
	for _, set := range x.sets {
		add(set...)
	}
	return list
}

// leftOver places the pods and returns those that fit nowhere.
func (x *nodeSearch) leftOver(s *framework.Snapshot) (left []*framework.PodInfo, err error) {
	x.spent += x.classes * s.Len()
	for _, pod := range x.pods {
		x.spend(s, pod)
		_, err := x.planner.assume(s, pod)
		if err == nil {
			continue
		}
		if _, err = missed(pod, err); err != nil {
			return nil, err
		}
		left = append(left, pod)
	}
	return left, nil
}

// value is how much of the pods so many more nodes of each type hold: the sum of their sizes,
// and their number. The size of a pod is its largest share of any resource of the
// largest type.
func (x *nodeSearch) value(s *framework.Snapshot, nodes []int, pods []*framework.PodInfo) (sum float64, placed int, err error) {
	f := s.Fork()
	for i, n := range nodes {
		if _, err := x.addNodes(f, i, n); err != nil {
			return 0, 0, err
		}
	}
	largest := x.largest(f.Schema().Len(), s)
	misses := 0
	for k, pod := range pods {
		if misses > 100 { // the node is as good as full
			break
		}
		if x.spent++; k < x.classes {
			x.spent += f.Len() // as if each were the first of its class
		}
		_, err := x.planner.assume(f, pod)
		if err != nil {
			if _, err = missed(pod, err); err != nil {
				return 0, 0, err
			}
			misses++
			continue
		}
		size := 1e-3
		for k, amount := range pod.Requests {
			if k < len(largest) && largest[k] > 0 {
				size = max(size, float64(amount)/float64(largest[k]))
			}
		}
		sum, placed = sum+size, placed+1
	}
	return sum, placed, nil
}

// largest is the most that a type has of each resource.
func (x *nodeSearch) largest(n int, s *framework.Snapshot) []int64 {
	most := make([]int64, n)
	for i := range x.types {
		for k, amount := range s.Schema().Vector(x.types[i].Node.Status.Allocatable) {
			if k < n {
				most[k] = max(most[k], amount)
			}
		}
	}
	return most
}

// cheaper leaves nodes out, and replaces nodes by cheaper ones, as long as it helps.
func (x *nodeSearch) cheaper(counts []int) ([]int, error) {
	order := make([]int, len(x.types))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.types[b].price(), x.types[a].price()) })
	for {
		before := x.price(counts)
		for _, i := range order {
			var err error
			if counts, err = x.least(counts, i, 0); err != nil {
				return nil, err
			}
		}
		for _, i := range order {
			for _, k := range order {
				var err error
				if counts, err = x.swap(counts, i, k); err != nil {
					return nil, err
				}
			}
		}
		if x.price(counts) == before || x.spent >= maxSpent {
			return counts, nil
		}
	}
}

// swap replaces nodes of type i, one after the other, by as many of the cheaper type k
// as still cost less.
func (x *nodeSearch) swap(counts []int, i, k int) ([]int, error) {
	for counts[i] > 0 && x.spent < maxSpent {
		n := int(min((x.types[i].price()-1)/x.types[k].price(), int64(x.most[k]-counts[k])))
		if n <= 0 {
			break
		}
		other := slices.Clone(counts)
		other[i]--
		other[k] += n
		ok, err := x.suffices(other)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		counts = other
	}
	return counts, nil
}
