package whatif

import (
	"cmp"
	"slices"
	"sort"

	"github.com/berth-sched/berth/framework"
)

// search finds how many nodes of each type to add.
func (x *nodeSearch) search() ([]int, error) {
	none := make([]int, len(x.types))
	all, err := x.place(x.most)
	if err != nil {
		return nil, err
	}
	x.goal = len(all.Placed)
	if ok, err := x.suffices(none); ok || err != nil {
		return none, err
	}
	if len(x.types) == 1 {
		return x.fewest()
	}
	best := x.most
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
	if err := consider(x.greedy()); err != nil {
		return nil, err
	}
	return x.cheaper(best)
}

// fewest is the smallest number of nodes of the only type that suffices. It tries one
// after the other: more nodes need not be better in the eyes of a scheduler.
func (x *nodeSearch) fewest() ([]int, error) {
	from, err := x.lowerCount()
	if err != nil {
		return nil, err
	}
	for n := max(from, 1); n < x.most[0]; n++ {
		if ok, err := x.suffices([]int{n}); ok || err != nil {
			return []int{n}, err
		}
	}
	return slices.Clone(x.most), nil
}

// alone is a number of nodes of one type that suffices without the others, nil if there
// is none.
func (x *nodeSearch) alone(i int) ([]int, error) {
	counts := make([]int, len(x.types))
	counts[i] = x.most[i]
	if ok, err := x.suffices(counts); !ok || err != nil {
		return nil, err
	}
	return x.least(counts, i)
}

// least lowers the number of one type as far as bisection finds that the pods fit.
func (x *nodeSearch) least(counts []int, i int) ([]int, error) {
	counts = slices.Clone(counts)
	var failed error
	counts[i] = sort.Search(counts[i], func(n int) bool {
		fewer := slices.Clone(counts)
		fewer[i] = n
		ok, err := x.suffices(fewer)
		if err != nil {
			failed = err
		}
		return ok
	})
	return counts, failed
}

// greedy adds, as long as pods are left, nodes of the type that holds the most for its
// price. It returns nil if it does not get to the goal.
func (x *nodeSearch) greedy() ([]int, error) {
	counts := make([]int, len(x.types))
	for {
		if ok, err := x.suffices(counts); ok || err != nil {
			return counts, err
		}
		best, held, missing := -1, 0.0, 0
		taken := 0
		err := x.with(counts, func(s *framework.Snapshot) error {
			left, err := x.leftOver(s)
			if err != nil {
				return err
			}
			missing = len(left)
			for i := range x.types {
				if counts[i] == x.most[i] {
					continue
				}
				value, pods, err := x.value(s, i, left)
				if err != nil {
					return err
				}
				if value /= float64(x.types[i].price()); value > held {
					best, held, taken = i, value, pods
				}
			}
			return nil
		})
		if err != nil || best < 0 {
			return nil, err
		}
		// Several at once, while many pods are left: half of what the rest would need.
		counts[best] = min(x.most[best], counts[best]+max(1, missing/max(1, 2*taken)))
	}
}

// leftOver places the pods and returns those that fit nowhere.
func (x *nodeSearch) leftOver(s *framework.Snapshot) (left []*framework.PodInfo, err error) {
	for _, pod := range x.pods {
		_, err := x.planner.sched.Place(s, pod)
		if err == nil {
			continue
		}
		if _, err = unplaced(pod, err); err != nil {
			return nil, err
		}
		left = append(left, pod)
	}
	return left, nil
}

// value is how much of the pods one more node of a type holds: the sum of their sizes,
// and their number. The size of a pod is its largest share of any resource of the
// largest type.
func (x *nodeSearch) value(s *framework.Snapshot, i int, pods []*framework.PodInfo) (sum float64, placed int, err error) {
	f := s.Fork()
	if err := x.types[i].add(f, 1); err != nil {
		return 0, 0, err
	}
	largest := x.largest(f.Schema().Len(), s)
	misses := 0
	for _, pod := range pods {
		if misses > 100 { // the node is as good as full
			break
		}
		_, err := x.planner.sched.Place(f, pod)
		if err != nil {
			if _, err = unplaced(pod, err); err != nil {
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
			if counts, err = x.least(counts, i); err != nil {
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
		if x.price(counts) == before {
			return counts, nil
		}
	}
}

// swap replaces nodes of type i, one after the other, by as many of the cheaper type k
// as still cost less.
func (x *nodeSearch) swap(counts []int, i, k int) ([]int, error) {
	for counts[i] > 0 {
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
