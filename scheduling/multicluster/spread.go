package multicluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A SpreadRule says which spread constraints selection meets, and how. A constraint
// binds the clusters that are selected; division may leave some of them without
// replicas. Both rules ignore all constraints if the strategy is StaticWeight,
// because static weights name the clusters themselves; the exception is a
// WeightPreference without weights.
type SpreadRule uint8

// The spread rules.
const (
	// Thorough meets all constraints, on clusters, regions, zones and providers,
	// together with capacity. It goes through the groups in Karmada's order of
	// preference and takes the first ones whose clusters suffice. It is the zero
	// value.
	//
	// Thorough gives Karmada's answer if that meets everything, there is a
	// constraint on clusters, and there is none on zones and providers. Karmada's
	// API demands the first, and Karmada does not look at the others. If preferred
	// groups lead to no choice, Thorough searches all choices of clusters. That
	// search is exact for some twenty clusters, and for more if constraints are
	// tight. It ends after a quarter of a million steps; the error then says so.
	Thorough SpreadRule = iota
	// AsKarmada meets constraints as Karmada does: only those on regions and
	// clusters. With a constraint on regions, capacity has no effect. Then MaxGroups
	// of clusters, 0 included, bounds only the clusters added to the one in each
	// region.
	AsKarmada
)

// A SpreadError says which spread constraint cannot be met.
type SpreadError struct {
	Field SpreadField
	// Reason is Karmada's text where Karmada has one.
	Reason string
	// Available and Wanted are set if some choice of clusters meets every constraint
	// but cannot take all replicas. Such a choice can take Available of Wanted
	// replicas, existing ones included. Available is the most of all choices that
	// were tried.
	Available, Wanted int64
}

// Error returns the reason.
func (e *SpreadError) Error() string { return e.Reason }

// A member is a feasible cluster with the data that selection reads.
type member struct {
	cluster   *api.Cluster
	at        int // in the list of clusters
	tier      int
	score     int64
	available int64 // what it can take and what it has
	place     int   // in the usual order, during selection
}

// sortMembers puts members in the usual order: by overflow tier, score,
// availability, name.
func sortMembers(members []member) {
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.score, a.score), cmp.Compare(b.available, a.available), cmp.Compare(a.cluster.Name, b.cluster.Name))
	})
}

// bounds holds the constraints by field. A field without a constraint has the zero
// SpreadConstraint. present lists the constrained fields.
type bounds struct {
	of      map[SpreadField]SpreadConstraint
	present []SpreadField
	effort  *effort // that the searches may still make
}

func boundsOf(constraints []SpreadConstraint, left *effort) bounds {
	b := bounds{of: map[SpreadField]SpreadConstraint{}, effort: left}
	for _, c := range constraints {
		b.of[c.field()] = c
		b.present = append(b.present, c.field())
	}
	return b
}

func (b *bounds) has(f SpreadField) bool {
	_, ok := b.of[f]
	return ok
}

// groupsOf returns the groups of a field that the cluster belongs to.
func groupsOf(c *api.Cluster, f SpreadField) []string {
	switch f {
	case SpreadByRegion:
		return notEmpty(c.Spec.Region)
	case SpreadByProvider:
		return notEmpty(c.Spec.Provider)
	case SpreadByZone:
		return zonesOf(c)
	}
	return []string{c.Name}
}

func notEmpty(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// A Group is a region, zone or provider, with its score and its clusters.
type Group struct {
	Name     string   `json:"name"`
	Score    int64    `json:"score"`
	Clusters []string `json:"clusters"`
}

// A group holds its members in the usual order.
type group struct {
	name    string
	score   int64
	members []member
}

// scored groups the members by a field and scores each group. Members must be in the
// usual order. Groups come back by name.
func scored(members []member, f SpreadField, b *bounds, w *Workload, divided bool) []group {
	index := map[string]int{}
	var groups []group
	for _, m := range members {
		for _, name := range groupsOf(m.cluster, f) {
			i, ok := index[name]
			if !ok {
				i = len(groups)
				index[name] = i
				groups = append(groups, group{name: name})
			}
			groups[i].members = append(groups[i].members, m)
		}
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.name, b.name) })
	for i := range groups {
		if divided {
			groups[i].score = dividedScore(groups[i].members, w.wanted(), b.of[f].MinGroups, b.of[SpreadByCluster].MinGroups)
		} else {
			groups[i].score = duplicatedScore(groups[i].members, w.wanted())
		}
	}
	return groups
}

// scoreUnit ranks capacity before the clusters' scores, which are at most 100 for
// each scorer.
const scoreUnit = 1000

// duplicatedScore scores a group by the number of its clusters that can take all
// replicas, then by the mean score of these.
//
// Source: Karmada 1.18. Earlier versions panic if no cluster can.
func duplicatedScore(members []member, replicas int64) int64 {
	var able, sum int64
	for _, m := range members {
		if m.available >= replicas {
			able++
			sum += m.score
		}
	}
	if able == 0 {
		return 0
	}
	return scoreUnit*able + sum/able
}

// dividedScore scores a group by its capacity for its share of the replicas,
// ceil(replicas/minGroups): how many of them its best clusters can take, then the
// mean score of these clusters.
//
// Source: Karmada 1.13.
//
// A minimum of 0 counts as 1; see SpreadConstraint.MinGroups.
func dividedScore(members []member, replicas int64, minGroups, minClusters int) int64 {
	groups := int64(max(1, minGroups))
	share := replicas / groups
	if replicas%groups > 0 {
		share++
	}
	least := max(int64(minClusters), groups)
	var room, sum, count int64
	for _, m := range members {
		room += m.available
		sum += m.score
		count++
		if count >= least && room >= share {
			break
		}
	}
	if room < share {
		return scoreUnit*room + sum/int64(len(members))
	}
	return scoreUnit*share + sum/count
}

func exported(groups []group) []Group {
	out := make([]Group, len(groups))
	for i, g := range groups {
		out[i] = Group{Name: g.name, Score: g.score, Clusters: names(g.members)}
	}
	return out
}

func names(members []member) []string {
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.cluster.Name
	}
	return out
}

func shortOf(chosen []member, wanted int64) *SpreadError {
	return &SpreadError{
		Field: SpreadByCluster, Reason: fmt.Sprintf("no enough resource when selecting %d clusters", len(chosen)),
		Available: clusterCapacity(chosen), Wanted: wanted,
	}
}
