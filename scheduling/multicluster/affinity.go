package multicluster

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// The fields of a cluster that a FieldSelector can name.
const (
	fieldProvider = "provider"
	fieldRegion   = "region"
	fieldZone     = "zone"
)

// A ZoneRule says when operator In of a FieldSelector selects a cluster by its
// zones.
type ZoneRule uint8

// The zone rules.
const (
	// AnyZone selects a cluster if at least one of its zones is among the values. It
	// is the rule of Karmada 1.18, and the zero value.
	AnyZone ZoneRule = iota
	// EveryZone selects a cluster if it has zones and all of them are among the
	// values. It is the rule of Karmada up to 1.16.
	EveryZone
)

// Matches reports whether the affinity selects the cluster, by [AnyZone]. A
// malformed selector selects nothing. No affinity selects a nil cluster; a nil
// affinity selects every other cluster.
//
// Source: Karmada 1.18, ClusterMatches.
func (a *ClusterAffinity) Matches(c *api.Cluster) bool { return a.matches(c, AnyZone) }

func (a *ClusterAffinity) matches(c *api.Cluster, zones ZoneRule) bool {
	if a == nil || c == nil {
		return c != nil
	}
	if slices.Contains(a.ExcludeClusters, c.Name) {
		return false
	}
	if a.LabelSelector != nil {
		s, err := match.NewLabelSelector(a.LabelSelector)
		if err != nil || !s.Matches(c.Labels) {
			return false
		}
	}
	if a.FieldSelector != nil && !a.FieldSelector.matches(c, zones) {
		return false
	}
	return len(a.ClusterNames) == 0 || slices.Contains(a.ClusterNames, c.Name)
}

func (s *FieldSelector) matches(c *api.Cluster, zones ZoneRule) bool {
	var others []api.NodeSelectorRequirement
	for _, e := range s.MatchExpressions {
		if e.Key != fieldZone {
			others = append(others, e)
		} else if !matchesZones(&e, zonesOf(c), zones) {
			return false
		}
	}
	if len(others) == 0 {
		return true
	}
	// Provider and region match like the labels of a node.
	fields := api.Node{ObjectMeta: api.ObjectMeta{Labels: map[string]string{}}}
	if c.Spec.Provider != "" {
		fields.Labels[fieldProvider] = c.Spec.Provider
	}
	if c.Spec.Region != "" {
		fields.Labels[fieldRegion] = c.Spec.Region
	}
	selector := match.NewNodeSelector(&api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: others}},
	})
	return selector.Matches(&fields)
}

func matchesZones(e *api.NodeSelectorRequirement, zones []string, rule ZoneRule) bool {
	wanted := func(zone string) bool { return slices.Contains(e.Values, zone) }
	switch e.Operator {
	case api.NodeSelectorOpIn:
		if rule == EveryZone {
			return len(zones) > 0 && !slices.ContainsFunc(zones, func(z string) bool { return !wanted(z) })
		}
		return slices.ContainsFunc(zones, wanted)
	case api.NodeSelectorOpNotIn:
		return !slices.ContainsFunc(zones, wanted)
	case api.NodeSelectorOpExists:
		return len(zones) > 0
	case api.NodeSelectorOpDoesNotExist:
		return len(zones) == 0
	}
	return false
}

// zonesOf returns the zones of a cluster. Karmada's API server moves the old field
// zone to zones; here zone counts if zones is empty.
func zonesOf(c *api.Cluster) []string {
	if len(c.Spec.Zones) == 0 && c.Spec.Zone != "" {
		return []string{c.Spec.Zone}
	}
	return c.Spec.Zones
}
