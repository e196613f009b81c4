package multicluster

import (
	"cmp"
	"fmt"
	"slices"
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
func selectClusters(w *Workload, members []member, strategy Strategy, rule SpreadRule, left *effort) ([]member, Selection, error) {
	var s Selection
	if !spreadCounts(&w.Placement, strategy) {
		s.Clusters = names(members)
		return members, s, nil
	}
	for i := range members {
		members[i].place = i
	}
	left.begin()
	b := boundsOf(w.Placement.SpreadConstraints, left)
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

// spreadCounts reports whether there are spread constraints and they count.
func spreadCounts(p *Placement, strategy Strategy) bool {
	return len(p.SpreadConstraints) > 0 && !ignoresSpread(p, strategy)
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
// take most, until there is room for need replicas. exchange makes an exchange in its
// counts and returns true, if all constraints still hold after it.
//
// Source: Karmada 1.13, selectClustersByAvailableResource.
func trade(chosen, spare []member, need int64, s *Selection, exchange func(out, in member) bool) bool {
	room := clusterCapacity(chosen)
	var most []int // indices of the spare clusters, those that can take most first
	larger := func(a, b int) int {
		return cmp.Or(cmp.Compare(spare[b].available, spare[a].available), cmp.Compare(a, b))
	}
	for i := len(chosen) - 1; i >= 0 && room < need; i-- {
		if most == nil {
			most = make([]int, len(spare))
			for j := range most {
				most[j] = j
			}
			slices.SortFunc(most, larger)
		}
		for at, j := range most {
			if spare[j].available <= chosen[i].available {
				break
			}
			if !exchange(chosen[i], spare[j]) {
				continue
			}
			s.Swaps = append(s.Swaps, Swap{Out: chosen[i].cluster.Name, In: spare[j].cluster.Name})
			room += spare[j].available - chosen[i].available
			chosen[i], spare[j] = spare[j], chosen[i]
			// The cluster now at j can take less, so j moves back.
			behind := most[at+1:]
			to, _ := slices.BinarySearchFunc(behind, j, larger)
			copy(most[at:], behind[:to])
			most[at+to] = j
			break
		}
	}
	return room >= need
}

func always(member, member) bool { return true }

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
	steps := b.effort.paths
	paths := pathsOf(regions, r.MinGroups, r.MaxGroups, c.MinGroups, 1, &b.effort.paths, b.effort.table)
	if len(paths) == 0 {
		reason := reasonFewer
		if b.effort.paths == 0 {
			reason = fmt.Sprintf(reasonUnfinished, steps)
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
	f := newFiller(b, members, lead)
	if lead == SpreadByCluster {
		chosen, err := f.fill(path{groups: []group{{members: members}}}, need, s)
		if err != nil {
			return nil, err // with one field, fill finds the most there is
		}
		return chosen, nil
	}
	most := min(b.limit(lead, len(groups[lead])), b.limit(SpreadByCluster, len(members)))
	var first *SpreadError
	tried, left := 0, b.effort
	search := newPathSearch(groups[lead], most, c.MinGroups, &left.paths, left.table)
	for least := max(1, b.of[lead].MinGroups); least <= most && tried < maxChoices && left.paths > 0 && left.looks > 0; least++ {
		for _, p := range search.paths(least, maxChoices-tried) {
			if left.looks <= 0 {
				break
			}
			tried++
			chosen, err := f.fill(p, need, s)
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
	return f.chooseExhaustively(need, first, s)
}
