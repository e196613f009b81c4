package multicluster

import (
	"cmp"
	"slices"
)

// maxPathSteps bounds the search for combinations of groups, whose number grows
// exponentially.
const maxPathSteps = 1 << 20

// A path is a combination of groups, by score and then by name.
type path struct {
	groups   []group
	score    int64
	clusters int
}

// pathsOf returns the combinations of least to most groups that have at least
// target clusters, and of which no smaller beginning would do, most preferred
// first: by the sum of scores, then by the number of clusters, then in the
// order of the search, which takes small groups first. But a combination is
// preferred to the one before all others if it is a beginning of it.
//
// Source: Karmada 1.13, select_groups.go.
//
// Differs: the search ends after about a million steps.
func pathsOf(groups []group, least, most, target int) []path {
	s := pathSearch{groups: slices.Clone(groups), least: least, most: most, target: target}
	slices.SortFunc(s.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(a.members), len(b.members)), cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	s.rest = make([]int, len(s.groups)+1)
	for i := len(s.groups) - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + len(s.groups[i].members)
	}
	s.visit(0, 0)
	slices.SortStableFunc(s.found, func(a, b path) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.clusters, a.clusters))
	})
	best := 0
	for i := range s.found {
		if s.found[i].begins(&s.found[best]) {
			best = i
		}
	}
	if best > 0 {
		first := s.found[best]
		s.found = slices.Insert(slices.Delete(s.found, best, best+1), 0, first)
	}
	return s.found
}

// begins reports whether p is a beginning of q and shorter.
func (p *path) begins(q *path) bool {
	if len(p.groups) >= len(q.groups) {
		return false
	}
	for i := range p.groups {
		if p.groups[i].name != q.groups[i].name {
			return false
		}
	}
	return true
}

type pathSearch struct {
	groups              []group // small ones first
	rest                []int   // clusters in the groups from an index on
	least, most, target int
	chosen              []int
	found               []path
	steps               int
}

// visit extends the chosen groups, which have the given number of clusters, by
// groups from index begin on.
func (s *pathSearch) visit(clusters, begin int) {
	if s.steps++; s.steps > maxPathSteps {
		return
	}
	n := len(s.chosen)
	if clusters >= s.target && n >= s.least && n <= s.most {
		s.record(clusters)
		return
	}
	if n >= s.most || n+len(s.groups)-begin < s.least || clusters+s.rest[begin] < s.target {
		return
	}
	for i := begin; i < len(s.groups); i++ {
		s.chosen = append(s.chosen, i)
		s.visit(clusters+len(s.groups[i].members), i+1)
		s.chosen = s.chosen[:n]
	}
}

func (s *pathSearch) record(clusters int) {
	p := path{clusters: clusters}
	for _, i := range s.chosen {
		p.groups = append(p.groups, s.groups[i])
		p.score += s.groups[i].score
	}
	slices.SortFunc(p.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	s.found = append(s.found, p)
}
