package multicluster

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A Selection says which clusters were chosen, and why. Its JSON form is stable.
type Selection struct {
	// Clusters lists the chosen clusters in the order of choice.
	Clusters []string `json:"clusters"`
	// By is the field that led the choice. Empty means that all clusters were
	// chosen.
	By SpreadField `json:"by,omitempty"`
	// Groups holds the scored groups of each constrained field, by name.
	Groups map[SpreadField][]Group `json:"groups,omitempty"`
	// ChosenGroups names the chosen groups of field By.
	ChosenGroups []string `json:"chosenGroups,omitempty"`
	// Swaps lists the exchanges that were made to get enough capacity.
	Swaps []Swap `json:"swaps,omitempty"`
}

// A Swap is the exchange of a chosen cluster for one that can take more.
type Swap struct {
	Out string `json:"out"`
	In  string `json:"in"`
}

// selectClusters chooses among the feasible clusters. members must be in the usual
// order.
func selectClusters(w *Workload, members []member, strategy Strategy, rule SpreadRule) ([]member, Selection, error) {
	var s Selection
	if len(w.Placement.SpreadConstraints) == 0 || ignoresSpread(&w.Placement, strategy) {
		s.Clusters = names(members)
		return members, s, nil
	}
	b := boundsOf(w.Placement.SpreadConstraints)
	groups := map[SpreadField][]group{}
	for _, f := range []SpreadField{SpreadByRegion, SpreadByZone, SpreadByProvider} {
		if !b.has(f) {
			continue
		}
		groups[f] = scored(members, f, &b, w, strategy != Duplicated)
		if s.Groups == nil {
			s.Groups = map[SpreadField][]Group{}
		}
		s.Groups[f] = exported(groups[f])
	}
	need := w.wanted()
	if strategy == Duplicated {
		need = 0 // each cluster takes all replicas, whether it can or not
	}
	choose := chooseThoroughly
	if rule == AsKarmada {
		choose = chooseAsKarmada
	}
	chosen, err := choose(&b, members, groups, need, &s)
	s.Clusters = names(chosen)
	return chosen, s, err
}

// ignoresSpread reports whether spread constraints do not count, because static
// weights name the clusters themselves.
func ignoresSpread(p *Placement, strategy Strategy) bool {
	if strategy != StaticWeight {
		return false
	}
	weights := p.ReplicaScheduling.WeightPreference
	return weights == nil || len(weights.StaticWeightList) > 0
}

func clusterCapacity(members []member) int64 {
	var sum int64
	for _, m := range members {
		sum += m.available
	}
	return sum
}

// trade exchanges chosen clusters, from the last one on, for the spare ones that can
// take most, until there is room for need replicas. allowed reports whether all
// constraints still hold after exchanging chosen[i] for spare[j].
//
// Source: Karmada 1.13, selectClustersByAvailableResource.
func trade(chosen, spare []member, need int64, s *Selection, allowed func(i, j int) bool) bool {
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

func always(int, int) bool { return true }

// The reasons of Karmada.
const (
	reasonClusters = "the number of feasible clusters is less than spreadConstraint.MinGroups"
	reasonRegions  = "the number of feasible region is less than spreadConstraint.MinGroups"
	reasonFewer    = "the number of clusters is less than the cluster spreadConstraint.MinGroups"
	// reasonUnfinished is not a text of Karmada.
	reasonUnfinished = "no choice of clusters that meets all spread constraints was found in %d steps; there may be one"
	reasonSupported  = "just support cluster and region spread constraint"
)

// chooseAsKarmada chooses by region or by cluster.
//
// Source: Karmada 1.13, SelectBestClusters.
func chooseAsKarmada(b *bounds, members []member, groups map[SpreadField][]group, need int64, s *Selection) ([]member, error) {
	switch {
	case b.has(SpreadByRegion):
		s.By = SpreadByRegion
		return byRegionAsKarmada(b, groups[SpreadByRegion], s)
	case b.has(SpreadByCluster):
		s.By = SpreadByCluster
		c := b.of[SpreadByCluster]
		if len(members) < c.MinGroups {
			return nil, &SpreadError{Field: SpreadByCluster, Reason: reasonClusters}
		}
		n := min(len(members), c.MaxGroups)
		all := slices.Clone(members)
		if !trade(all[:n], all[n:], need, s, always) || n == 0 && need > 0 {
			return nil, shortOf(all[:n], need)
		}
		return all[:n], nil
	}
	return nil, &SpreadError{Field: b.present[0], Reason: reasonSupported}
}

func byRegionAsKarmada(b *bounds, regions []group, s *Selection) ([]member, error) {
	r, c := b.of[SpreadByRegion], b.of[SpreadByCluster]
	if len(regions) < r.MinGroups {
		return nil, &SpreadError{Field: SpreadByRegion, Reason: reasonRegions}
	}
	steps := maxPathSteps
	paths := pathsOf(regions, r.MinGroups, r.MaxGroups, c.MinGroups, 1, &steps)
	if len(paths) == 0 {
		reason := reasonFewer
		if steps == 0 {
			reason = fmt.Sprintf(reasonUnfinished, maxPathSteps)
		}
		return nil, &SpreadError{Field: SpreadByCluster, Reason: reason}
	}
	var chosen, others []member
	for _, g := range paths[0].groups {
		s.ChosenGroups = append(s.ChosenGroups, g.name)
		chosen = append(chosen, g.members[0])
		others = append(others, g.members[1:]...)
	}
	sortMembers(others)
	if more := min(len(others), c.MaxGroups-len(chosen)); more > 0 {
		chosen = append(chosen, others[:more]...)
	}
	return chosen, nil
}

// limit returns the largest number of groups that a field may have.
func (b *bounds) limit(f SpreadField, of int) int {
	if c, ok := b.of[f]; ok && c.MaxGroups > 0 {
		return min(c.MaxGroups, of)
	}
	return of
}

// countGroups returns how many groups of a field the members belong to.
func countGroups(members []member, f SpreadField) int {
	seen := map[string]bool{}
	for _, m := range members {
		for _, name := range groupsOf(m.cluster, f) {
			seen[name] = true
		}
	}
	return len(seen)
}

// groupFields are the fields that group clusters. The first constrained one leads
// the choice.
var groupFields = [...]SpreadField{SpreadByRegion, SpreadByZone, SpreadByProvider}

// maxChoices bounds the combinations of groups to try. There may be millions that do
// not suffice.
const maxChoices = 1 << 10

// chooseThoroughly meets all constraints. The first constrained field of region,
// zone and provider leads. It tries combinations of the field's groups, most
// preferred first, and more groups if fewer do not suffice. If none leads to a
// choice, it tries clusters one by one.
func chooseThoroughly(b *bounds, members []member, groups map[SpreadField][]group, need int64, s *Selection) ([]member, error) {
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
		for _, p := range pathsOf(groups[lead], least, most, c.MinGroups, maxChoices-tried, &steps) {
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

// fill chooses clusters from the groups of a path. It takes the best one of each
// group, then clusters that other fields need, then the best others. Finally it
// exchanges clusters for capacity.
func (b *bounds) fill(p path, lead SpreadField, need int64, s *Selection) ([]member, *SpreadError) {
	s.Swaps, s.ChosenGroups = nil, nil
	f := filler{bounds: b, lead: lead, within: map[string]bool{}}
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
	if !trade(f.chosen, f.spare, need, s, f.exchangeable) {
		return nil, shortOf(f.chosen, need)
	}
	return f.chosen, nil
}

func unmet(f SpreadField) *SpreadError {
	return &SpreadError{Field: f, Reason: "no choice of clusters meets the spread constraint on field " + string(f) + " together with the others"}
}

// A filler chooses clusters one by one.
type filler struct {
	bounds        *bounds
	lead          SpreadField
	within        map[string]bool // groups of lead; empty: no limit
	chosen, spare []member
	most          int
}

// inside reports whether the member's groups of the leading field are all on the
// path.
func (f *filler) inside(m member) bool {
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

// cover takes a cluster of the group, unless one is already chosen.
func (f *filler) cover(field SpreadField, name string) bool {
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

// widen takes a cluster that adds a group of the field.
func (f *filler) widen(field SpreadField) bool {
	have := countGroups(f.chosen, field)
	for i := range f.spare {
		if countGroups(append(slices.Clone(f.chosen), f.spare[i]), field) > have && f.take(i) {
			return true
		}
	}
	return false
}

// takeMore takes the best spare clusters, as many as it may.
func (f *filler) takeMore() {
	for i := 0; i < len(f.spare) && len(f.chosen) < f.most; {
		if !f.take(i) {
			i++
		}
	}
}

// take moves a spare cluster to the chosen ones, if no maximum forbids it.
func (f *filler) take(i int) bool {
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

// exchangeable reports whether all constraints hold after an exchange.
func (f *filler) exchangeable(i, j int) bool {
	after := slices.Clone(f.chosen)
	after[i] = f.spare[j]
	for _, field := range groupFields {
		c, ok := f.bounds.of[field]
		if !ok {
			continue
		}
		n := countGroups(after, field)
		if n < c.MinGroups || c.MaxGroups > 0 && n > c.MaxGroups {
			return false
		}
	}
	return true
}
