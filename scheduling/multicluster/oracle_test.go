//go:build full

package multicluster

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
)

// Selection gives the answer of a plain version of it, which counts groups anew for each
// cluster that it looks at.
func TestThoroughOracle(t *testing.T) {
	outcomes := map[string]int{}
	check := func(t *rapid.T) {
		var members []member
		n := rapid.IntRange(1, 14).Draw(t, "clusters")
		kinds := rapid.IntRange(1, 6).Draw(t, "kinds")
		name := func(f string) string {
			if rapid.IntRange(0, 11).Draw(t, "none") == 0 {
				return ""
			}
			return fmt.Sprint(f, rapid.IntRange(0, kinds).Draw(t, f))
		}
		for i := range n {
			c := &api.Cluster{}
			c.Name, c.Spec.Region, c.Spec.Provider = fmt.Sprintf("m%02d", i), name("r"), name("p")
			for range rapid.IntRange(0, 3).Draw(t, "zones") {
				c.Spec.Zones = append(c.Spec.Zones, fmt.Sprint("z", rapid.IntRange(0, kinds).Draw(t, "zone")))
			}
			members = append(members, member{cluster: c, tier: rapid.IntRange(0, 1).Draw(t, "tier"), score: rapid.Int64Range(0, 1).Draw(t, "score"), available: rapid.Int64Range(0, 6).Draw(t, "available")})
		}
		sortMembers(members)
		for i := range members {
			members[i].place = i
		}
		w := &Workload{Replicas: rapid.Int64Range(0, 40).Draw(t, "replicas")}
		for _, f := range []SpreadField{SpreadByCluster, SpreadByRegion, SpreadByZone, SpreadByProvider} {
			if rapid.Bool().Draw(t, string(f)) {
				least := rapid.IntRange(0, 4).Draw(t, "least")
				w.Placement.SpreadConstraints = append(w.Placement.SpreadConstraints, SpreadConstraint{SpreadByField: f, MinGroups: least, MaxGroups: least + rapid.IntRange(0, 3).Draw(t, "more")})
			}
		}
		left := new(effort)
		left.begin()
		b := boundsOf(w.Placement.SpreadConstraints, left)
		groups := map[SpreadField][]group{}
		for _, f := range groupFields {
			if b.has(f) {
				groups[f] = scored(members, f, &b, w, true)
			}
		}
		var s, want Selection
		wantChosen, wantErr := oracleChooseThoroughly(&b, members, groups, w.Replicas, &want)
		chosen, err := chooseThoroughly(&b, members, groups, w.Replicas, &s)
		if !slices.Equal(names(chosen), names(wantChosen)) || !reflect.DeepEqual(s, want) || !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("%v, %+v, %v; want %v, %+v, %v", names(chosen), s, err, names(wantChosen), want, wantErr)
		}
		outcome := "chosen"
		var short *SpreadError
		switch {
		case err == nil && len(s.Swaps) > 0:
			outcome = "exchanged"
		case errors.As(err, &short) && short.Wanted > 0:
			outcome = "short"
		case err != nil:
			outcome = "unmet"
		}
		outcomes[outcome]++
	}
	enough.Check(t, outcomes, map[string]int{"chosen": 1000, "exchanged": 5, "short": 100, "unmet": 500}, check)
}

func oracleTrade(chosen, spare []member, need int64, s *Selection, allowed func(i, j int) bool) bool {
	for i := len(chosen) - 1; i >= 0 && clusterCapacity(chosen) < need; i-- {
		best := -1
		for j := range spare {
			if spare[j].available > chosen[i].available && (best < 0 || spare[j].available > spare[best].available) && allowed(i, j) {
				best = j
			}
		}
		if best < 0 {
			continue
		}
		s.Swaps = append(s.Swaps, Swap{Out: chosen[i].cluster.Name, In: spare[best].cluster.Name})
		chosen[i], spare[best] = spare[best], chosen[i]
	}
	return clusterCapacity(chosen) >= need
}

func countGroups(members []member, f SpreadField) int {
	seen := map[string]bool{}
	for _, m := range members {
		for _, name := range groupsOf(m.cluster, f) {
			seen[name] = true
		}
	}
	return len(seen)
}

func oracleChooseThoroughly(b *bounds, members []member, groups map[SpreadField][]group, need int64, s *Selection) ([]member, error) {
	c := b.of[SpreadByCluster]
	if len(members) < c.MinGroups {
		return nil, &SpreadError{Field: SpreadByCluster, Reason: reasonClusters}
	}
	lead := SpreadByCluster
	for _, f := range groupFields {
		if !b.has(f) {
			continue
		}
		if lead == SpreadByCluster {
			lead = f
		}
		if len(groups[f]) < b.of[f].MinGroups {
			return nil, &SpreadError{Field: f, Reason: "the number of feasible " + string(f) + " is less than spreadConstraint.MinGroups"}
		}
	}
	s.By = lead
	if lead == SpreadByCluster {
		chosen, err := b.fill(path{groups: []group{{members: members}}}, lead, need, s)
		if err != nil {
			return nil, err // with one field, fill finds the most there is
		}
		return chosen, nil
	}
	most := min(b.limit(lead, len(groups[lead])), b.limit(SpreadByCluster, len(members)))
	var first *SpreadError
	tried, steps := 0, maxPathSteps
	for least := max(1, b.of[lead].MinGroups); least <= most && tried < maxChoices && steps > 0; least++ {
		for _, p := range pathsOf(groups[lead], least, most, c.MinGroups, maxChoices-tried, &steps, maxScoreTable) {
			tried++
			chosen, err := b.fill(p, lead, need, s)
			if err == nil {
				return chosen, nil
			}
			if first == nil || err.Wanted > 0 && (first.Wanted == 0 || err.Available > first.Available) {
				first = err
			}
		}
	}
	if first == nil {
		first = &SpreadError{Field: SpreadByCluster, Reason: reasonFewer}
	}
	return b.chooseExhaustively(members, lead, need, first, s)
}

func (b *bounds) fill(p path, lead SpreadField, need int64, s *Selection) ([]member, *SpreadError) {
	s.Swaps, s.ChosenGroups = nil, nil
	f := oracleFiller{bounds: b, lead: lead, within: map[string]bool{}}
	for _, g := range p.groups {
		if lead != SpreadByCluster {
			s.ChosenGroups = append(s.ChosenGroups, g.name)
			f.within[g.name] = true
		}
	}
	seen := map[*api.Cluster]bool{}
	for _, g := range p.groups {
		for _, m := range g.members {
			if !seen[m.cluster] && f.inside(m) {
				seen[m.cluster] = true
				f.spare = append(f.spare, m)
			}
		}
	}
	sortMembers(f.spare)
	f.most = b.limit(SpreadByCluster, len(f.spare))
	if lead != SpreadByCluster {
		for _, g := range p.groups {
			if !f.cover(lead, g.name) {
				return nil, unmet(lead)
			}
		}
	}
	for _, field := range groupFields {
		for field != lead && countGroups(f.chosen, field) < b.of[field].MinGroups {
			if !f.widen(field) {
				return nil, unmet(field)
			}
		}
	}
	f.takeMore()
	if len(f.chosen) < b.of[SpreadByCluster].MinGroups {
		return nil, &SpreadError{Field: SpreadByCluster, Reason: reasonFewer}
	}
	if !oracleTrade(f.chosen, f.spare, need, s, f.exchangeable) {
		return nil, shortOf(f.chosen, need)
	}
	return f.chosen, nil
}

type oracleFiller struct {
	bounds        *bounds
	lead          SpreadField
	within        map[string]bool // groups of lead; empty: no limit
	chosen, spare []member
	most          int
}

func (f *oracleFiller) inside(m member) bool {
	if len(f.within) == 0 {
		return true
	}
	for _, name := range groupsOf(m.cluster, f.lead) {
		if !f.within[name] {
			return false
		}
	}
	return true
}

func (f *oracleFiller) cover(field SpreadField, name string) bool {
	in := func(m member) bool { return slices.Contains(groupsOf(m.cluster, field), name) }
	if slices.ContainsFunc(f.chosen, in) {
		return true
	}
	for i := range f.spare {
		if in(f.spare[i]) && f.take(i) {
			return true
		}
	}
	return false
}

func (f *oracleFiller) widen(field SpreadField) bool {
	have := countGroups(f.chosen, field)
	for i := range f.spare {
		if countGroups(append(slices.Clone(f.chosen), f.spare[i]), field) > have && f.take(i) {
			return true
		}
	}
	return false
}

func (f *oracleFiller) takeMore() {
	for i := 0; i < len(f.spare) && len(f.chosen) < f.most; {
		if !f.take(i) {
			i++
		}
	}
}

func (f *oracleFiller) take(i int) bool {
	if len(f.chosen) >= f.most {
		return false
	}
	with := append(slices.Clone(f.chosen), f.spare[i])
	for _, field := range groupFields {
		if c := f.bounds.of[field]; c.MaxGroups > 0 && countGroups(with, field) > c.MaxGroups {
			return false
		}
	}
	f.chosen = with
	f.spare = slices.Delete(f.spare, i, i+1)
	return true
}

func (f *oracleFiller) exchangeable(i, j int) bool {
	after := slices.Clone(f.chosen)
	after[i] = f.spare[j]
	return f.bounds.oracleMet(after)
}

// chooseExhaustively tries every set of clusters, in the order of taking each or leaving
// it out.
func (b *bounds) chooseExhaustively(members []member, lead SpreadField, need int64, failed *SpreadError, s *Selection) ([]member, error) {
	members = slices.DeleteFunc(slices.Clone(members), func(m member) bool { return len(groupsOf(m.cluster, lead)) == 0 })
	size, most := b.limit(SpreadByCluster, len(members)), int64(-1)
	if failed.Wanted > 0 {
		most = failed.Available
	}
	var best []member
	found := false // none at all may be enough, which leads nowhere either
	var try func(chosen, left []member)
	try = func(chosen, left []member) {
		if len(chosen) > size || found && most >= need {
			return
		}
		if room := clusterCapacity(chosen); room > most && len(chosen) >= max(1, b.of[SpreadByCluster].MinGroups) && b.oracleMet(chosen) {
			best, most, found = chosen, room, true
		}
		if len(left) > 0 {
			try(append(slices.Clone(chosen), left[0]), left[1:])
			try(chosen, left[1:])
		}
	}
	try(nil, members)
	s.Swaps, s.ChosenGroups = nil, nil
	if best == nil {
		return nil, failed
	}
	if most < need {
		return nil, shortOf(best, need)
	}
	f := oracleFiller{bounds: b, lead: lead, most: size, chosen: best}
	for _, m := range members {
		if !slices.ContainsFunc(best, func(c member) bool { return c.cluster == m.cluster }) {
			f.spare = append(f.spare, m)
		}
	}
	f.takeMore()
	for _, m := range f.chosen {
		s.ChosenGroups = append(s.ChosenGroups, groupsOf(m.cluster, lead)...)
	}
	slices.Sort(s.ChosenGroups)
	s.ChosenGroups = slices.Compact(s.ChosenGroups)
	return f.chosen, nil
}

// oracleMet reports whether the groups of chosen are neither too few nor too many.
func (b *bounds) oracleMet(chosen []member) bool {
	for _, field := range groupFields {
		c := b.of[field]
		if n := countGroups(chosen, field); b.has(field) && (n < c.MinGroups || c.MaxGroups > 0 && n > c.MaxGroups) {
			return false
		}
	}
	return true
}
