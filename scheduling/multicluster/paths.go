package multicluster

import (
	"cmp"
	"container/heap"
	"slices"
)

// maxPathSteps bounds the search for combinations of groups, whose number grows
// exponentially.
const maxPathSteps = 1 << 20

// maxScoreTable bounds the table that lets the search skip combinations that cannot
// be among the best.
const maxScoreTable = 1 << 22

// A path is a combination of groups, by score and then by name.
type path struct {
	groups   []group
	score    int64
	clusters int
}

// pathsOf returns the keep best combinations of least to most groups that have at
// least target clusters. It leaves out a combination if a smaller beginning of it
// would do. The order is by the sum of scores, then by the number of clusters, then
// by the order of the search, which takes small groups first. There is one
// exception: if a beginning of the first combination is a combination too, it comes
// before all others.
//
// The search takes its steps from the given number. If none are left it ends, and
// combinations that it has not reached are missing.
//
// Source: Karmada 1.13, select_groups.go.
//
// The search skips combinations that cannot become one of the kept ones, so its steps
// go far. For that it keeps a table, if it may have so many sums.
func pathsOf(groups []group, least, most, target, keep int, steps *int, table int) []path {
	return newPathSearch(groups, most, target, steps, table).paths(least, keep)
}

// newPathSearch returns a search for combinations of at most most groups.
func newPathSearch(groups []group, most, target int, steps *int, table int) *pathSearch {
	s := &pathSearch{groups: slices.Clone(groups), most: min(most, len(groups)), target: target, steps: steps}
	slices.SortFunc(s.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(a.members), len(b.members)), cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	s.prepare(table)
	return s
}

// paths does what pathsOf says.
func (s *pathSearch) paths(least, keep int) []path {
	s.least, s.keep, s.order, s.found = least, keep, 0, nil
	s.visit(0, 0, 0)
	slices.SortFunc(s.found, func(a, b combination) int {
		if a.worse(&b) {
			return 1
		}
		return -1
	})
	s.preferBeginning()
	paths := make([]path, len(s.found))
	for i, c := range s.found {
		paths[i] = path{groups: s.byScore(c.indices), score: c.score, clusters: c.clusters}
	}
	return paths
}

// A combination is a path during the search: the indices of its groups.
type combination struct {
	indices  []int
	score    int64
	clusters int
	order    int // in which it was found
}

func (c *combination) worse(o *combination) bool {
	return cmp.Or(cmp.Compare(c.score, o.score), cmp.Compare(c.clusters, o.clusters), cmp.Compare(o.order, c.order)) < 0
}

// combinations is a heap with the worst one on top.
type combinations []combination

func (h combinations) Len() int           { return len(h) }
func (h combinations) Less(i, j int) bool { return h[i].worse(&h[j]) }
func (h combinations) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *combinations) Push(x any)        { *h = append(*h, x.(combination)) }
func (h *combinations) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

type pathSearch struct {
	groups              []group // small ones first
	rest                []int   // clusters in the groups from an index on
	scores              []int64 // the largest sums of scores, see prepare
	least, most, target int
	keep                int
	steps               *int
	order               int
	chosen              []int
	found               combinations
}

// prepare computes the sums that bound the search, at most so many.
func (s *pathSearch) prepare(table int) {
	n := len(s.groups)
	s.rest = make([]int, n+1)
	for i := n - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + len(s.groups[i].members)
	}
	width := s.most + 1
	if (n+1)*width > table {
		return
	}
	s.scores = make([]int64, (n+1)*width)
	var best []int64 // scores of the groups from i on, the largest first
	for i := n - 1; i >= 0; i-- {
		at, _ := slices.BinarySearchFunc(best, s.groups[i].score, func(a, b int64) int { return cmp.Compare(b, a) })
		best = slices.Insert(best, at, s.groups[i].score)
		row := s.scores[i*width : (i+1)*width]
		for k := 1; k < width; k++ {
			row[k] = row[k-1]
			if k <= len(best) {
				row[k] += best[k-1]
			}
		}
	}
}

// mostClusters returns the most clusters that n groups from index begin on can have.
// The last groups are the largest.
func (s *pathSearch) mostClusters(begin, n int) int {
	return s.rest[max(begin, len(s.groups)-n)]
}

// visit extends the chosen groups, which have the given score and number of
// clusters, by groups from index begin on.
func (s *pathSearch) visit(score int64, clusters, begin int) {
	if *s.steps <= 0 {
		return
	}
	*s.steps--
	n := len(s.chosen)
	if clusters >= s.target && n >= s.least && n <= s.most {
		s.record(score, clusters)
		return
	}
	for i := begin; i < len(s.groups) && s.promising(score, clusters, i); i++ {
		s.chosen = append(s.chosen, i)
		s.visit(score+s.groups[i].score, clusters+len(s.groups[i].members), i+1)
		s.chosen = s.chosen[:n]
	}
}

// promising reports whether groups from index begin on can make the chosen ones a
// combination worth keeping. If not, groups from a later index on cannot either.
func (s *pathSearch) promising(score int64, clusters, begin int) bool {
	n := len(s.chosen)
	clusters += s.mostClusters(begin, s.most-n)
	if n >= s.most || n+len(s.groups)-begin < s.least || clusters < s.target {
		return false
	}
	if len(s.found) < s.keep || s.scores == nil {
		return true
	}
	best := combination{score: score + s.scores[begin*(s.most+1)+s.most-n], clusters: clusters, order: s.order}
	return s.found[0].worse(&best)
}

func (s *pathSearch) record(score int64, clusters int) {
	c := combination{score: score, clusters: clusters, order: s.order}
	s.order++
	if len(s.found) == s.keep {
		if c.worse(&s.found[0]) {
			return
		}
		heap.Pop(&s.found)
	}
	c.indices = slices.Clone(s.chosen)
	heap.Push(&s.found, c)
}

// byScore returns groups in the order that a path has.
func (s *pathSearch) byScore(indices []int) []group {
	groups := make([]group, len(indices))
	for i, k := range indices {
		groups[i] = s.groups[k]
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	return groups
}

// preferBeginning finds the shortest beginning of the first combination, in its
// order by score, that is a combination too. It puts that one first.
func (s *pathSearch) preferBeginning() {
	if len(s.found) == 0 {
		return
	}
	first := slices.Clone(s.found[0].indices)
	slices.SortFunc(first, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.groups[b].score, s.groups[a].score), cmp.Compare(s.groups[a].name, s.groups[b].name))
	})
	var c combination
	last := 0 // of the groups so far, as the search takes them
	for n := 1; n < len(first); n++ {
		k := first[n-1]
		c.score += s.groups[k].score
		c.clusters += len(s.groups[k].members)
		last = max(last, k)
		if n < s.least || c.clusters < s.target || n-1 >= s.least && c.clusters-len(s.groups[last].members) >= s.target {
			continue // too few groups or clusters, or more groups than needed
		}
		c.indices = slices.Sorted(slices.Values(first[:n]))
		s.found = slices.DeleteFunc(s.found, func(o combination) bool { return slices.Equal(o.indices, c.indices) })
		s.found = slices.Insert(s.found, 0, c)
		s.found = s.found[:min(len(s.found), s.keep)]
		return
	}
}
