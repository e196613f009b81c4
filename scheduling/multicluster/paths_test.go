//go:build full

package multicluster

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// allPaths finds every combination by trying every set of groups. It returns them in
// the order of preference that pathsOf promises.
func allPaths(groups []group, least, most, target int) []string {
	bySize := slices.Clone(groups)
	slices.SortFunc(bySize, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(a.members), len(b.members)), cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	type set struct {
		at, byScore     []int
		score, clusters int64
	}
	does := func(at []int) (ok bool, s set) {
		s.at = at
		for _, i := range at {
			s.score += bySize[i].score
			s.clusters += int64(len(bySize[i].members))
		}
		s.byScore = slices.Clone(at)
		slices.SortFunc(s.byScore, func(a, b int) int {
			return cmp.Or(cmp.Compare(bySize[b].score, bySize[a].score), cmp.Compare(bySize[a].name, bySize[b].name))
		})
		return s.clusters >= int64(target) && len(at) >= least && len(at) <= most, s
	}
	var found []set
	for mask := range 1 << len(groups) {
		var at []int
		for i := range groups {
			if mask>>i&1 == 1 {
				at = append(at, i)
			}
		}
		ok, s := does(at)
		for n := range at {
			if shorter, _ := does(at[:n]); shorter {
				ok = false
			}
		}
		if ok {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b set) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.clusters, a.clusters), slices.Compare(a.at, b.at))
	})
	for i := 1; i < len(found); i++ {
		if f, b := found[i], found[0]; len(f.byScore) < len(b.byScore) && slices.Equal(f.byScore, b.byScore[:len(f.byScore)]) {
			found = slices.Insert(slices.Delete(found, i, i+1), 0, f)
			// The rest stays in order: the former first one is now second.
			rest := found[1:]
			slices.SortFunc(rest, func(a, b set) int {
				return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.clusters, a.clusters), slices.Compare(a.at, b.at))
			})
		}
	}
	var out []string
	for _, f := range found {
		text := ""
		for _, i := range f.byScore {
			text += bySize[i].name
		}
		out = append(out, text)
	}
	return out
}

func namesOfPaths(paths []path) []string {
	var out []string
	for _, p := range paths {
		text := ""
		for _, g := range p.groups {
			text += g.name
		}
		out = append(out, text)
	}
	return out
}

// The kept paths are the first ones of all.
func TestPathsOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var groups []group
		for i := range rapid.IntRange(1, 8).Draw(t, "groups") {
			groups = append(groups, group{
				name: string(rune('a' + i)), score: rapid.Int64Range(0, 3).Draw(t, "score"),
				members: make([]member, rapid.IntRange(1, 4).Draw(t, "clusters")),
			})
		}
		least := rapid.IntRange(0, 4).Draw(t, "least")
		most := rapid.IntRange(0, 9).Draw(t, "most")
		target := rapid.IntRange(0, 14).Draw(t, "target")
		want := allPaths(groups, least, most, target)
		for _, keep := range []int{1, 3, 1 << 10} {
			steps := maxPathSteps
			got := namesOfPaths(pathsOf(groups, least, most, target, keep, &steps, maxScoreTable))
			if diff := gocmp.Diff(want[:min(keep, len(want))], got); diff != "" && len(want)+len(got) > 0 {
				t.Fatalf("pathsOf, %d kept, differs (-want +got):\n%s", keep, diff)
			}
			if len(want) > 0 && steps == 0 {
				t.Fatal("no steps left")
			}
		}
	})
}

// Small groups come first in the search, but it also finds a choice that needs the
// large ones.
func TestPathsOfManySmallGroups(t *testing.T) {
	var groups []group
	for i := range 30 {
		groups = append(groups, group{name: fmt.Sprintf("s%02d", i), score: 1000, members: make([]member, 1)})
	}
	for i := range 7 {
		groups = append(groups, group{name: fmt.Sprintf("b%d", i), score: 1000, members: make([]member, 4)})
	}
	steps := maxPathSteps
	paths := pathsOf(groups, 1, 12, 33, 1, &steps, maxScoreTable)
	if len(paths) != 1 || paths[0].clusters != 33 || len(paths[0].groups) != 12 {
		t.Errorf("pathsOf = %v with %d steps left, want all 7 large groups and 5 others", namesOfPaths(paths), steps)
	}
}

// Paths that are not kept are not copied.
func TestPathsOfMemory(t *testing.T) {
	var groups []group
	for i := range 200 {
		groups = append(groups, group{name: fmt.Sprintf("r%03d", i), score: int64(i % 7), members: make([]member, 1)})
	}
	allocations := testing.AllocsPerRun(1, func() {
		steps := 1 << 14
		if paths := pathsOf(groups, 100, 100, 1, 1, &steps, maxScoreTable); len(paths) != 1 {
			t.Errorf("%d paths, want 1", len(paths))
		}
	})
	if allocations > 1<<14 {
		t.Errorf("pathsOf allocates %v times for one path", allocations)
	}
}
