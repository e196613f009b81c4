package multicluster

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/match"
)

// The fields of a cluster that a FieldSelector knows.
const (
	fieldProvider = "provider"
	fieldRegion   = "region"
	fieldZone     = "zone"
)

// Matches reports whether the affinity selects the cluster. A malformed
// selector selects nothing.
//
// Source: Karmada 1.13, ClusterMatches.
func (a *ClusterAffinity) Matches(c *framework.Cluster) bool {
	if slices.Contains(a.ExcludeClusters, c.Name) {
		return false
	}
	if a.LabelSelector != nil {
		s, err := match.NewLabelSelector(a.LabelSelector)
		if err != nil || !s.Matches(c.Labels) {
			return false
		}
	}
	if a.FieldSelector != nil && !a.FieldSelector.matches(c) {
		return false
	}
	return len(a.ClusterNames) == 0 || slices.Contains(a.ClusterNames, c.Name)
}

func (s *FieldSelector) matches(c *framework.Cluster) bool {
	var others []framework.NodeSelectorRequirement
	for _, e := range s.MatchExpressions {
		if e.Key != fieldZone {
			others = append(others, e)
		} else if !matchesZones(&e, zonesOf(c)) {
			return false
		}
	}
	if len(others) == 0 {
		return true
	}
	// Provider and region are matched as the labels of a node would be.
	fields := framework.Node{ObjectMeta: framework.ObjectMeta{Labels: map[string]string{}}}
	if c.Spec.Provider != "" {
		fields.Labels[fieldProvider] = c.Spec.Provider
	}
	if c.Spec.Region != "" {
		fields.Labels[fieldRegion] = c.Spec.Region
	}
	selector := match.NewNodeSelector(&framework.NodeSelector{
		NodeSelectorTerms: []framework.NodeSelectorTerm{{MatchExpressions: others}},
	})
	return selector.Matches(&fields)
}

func matchesZones(e *framework.NodeSelectorRequirement, zones []string) bool {
	wanted := func(zone string) bool { return slices.Contains(e.Values, zone) }
	switch e.Operator {
	case framework.NodeSelectorOpIn:
		return len(zones) > 0 && !slices.ContainsFunc(zones, func(z string) bool { return !wanted(z) })
	case framework.NodeSelectorOpNotIn:
		return !slices.ContainsFunc(zones, wanted)
	case framework.NodeSelectorOpExists:
		return len(zones) > 0
	case framework.NodeSelectorOpDoesNotExist:
		return len(zones) == 0
	}
	return false
}

// zonesOf returns the zones of a cluster. Karmada's API server moves the old
// field zone to zones; here it counts where zones is empty.
func zonesOf(c *framework.Cluster) []string {
	if len(c.Spec.Zones) == 0 && c.Spec.Zone != "" {
		return []string{c.Spec.Zone}
	}
	return c.Spec.Zones
}
