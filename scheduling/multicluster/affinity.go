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
	return a.compile().matches(c, newZoneSet(zonesOf(c)), zones)
}

// A compiledAffinity is a ClusterAffinity whose selectors are compiled.
type compiledAffinity struct {
	affinity  *ClusterAffinity
	malformed bool // the label selector: no cluster is selected
	labels    match.LabelSelector
	zones     []*api.NodeSelectorRequirement // those of the field selector
	fields    *match.NodeSelector            // the others, nil for none
}

func (a *ClusterAffinity) compile() *compiledAffinity {
	k := &compiledAffinity{affinity: a}
	if a.LabelSelector != nil {
		s, err := match.NewLabelSelector(a.LabelSelector)
		k.labels, k.malformed = s, err != nil
	}
	if a.FieldSelector == nil {
		return k
	}
	var others []api.NodeSelectorRequirement
	for i := range a.FieldSelector.MatchExpressions {
		if e := &a.FieldSelector.MatchExpressions[i]; e.Key == fieldZone {
			k.zones = append(k.zones, e)
		} else {
			others = append(others, *e)
		}
	}
	if len(others) > 0 {
		fields := match.NewNodeSelector(&api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: others}}})
		k.fields = &fields
	}
	return k
}

func (k *compiledAffinity) matches(c *api.Cluster, zones zoneSet, rule ZoneRule) bool {
	if k.malformed || slices.Contains(k.affinity.ExcludeClusters, c.Name) || !k.labels.Matches(c.Labels) {
		return false
	}
	for _, e := range k.zones {
		if !zones.match(e, rule) {
			return false
		}
	}
	if k.fields != nil && !k.fields.Matches(fieldsOf(c)) {
		return false
	}
	return len(k.affinity.ClusterNames) == 0 || slices.Contains(k.affinity.ClusterNames, c.Name)
}

// fieldsOf returns a node whose labels are the provider and the region of the cluster: they match
// like these.
func fieldsOf(c *api.Cluster) *api.Node {
	fields := &api.Node{ObjectMeta: api.ObjectMeta{Labels: map[string]string{}}}
	if c.Spec.Provider != "" {
		fields.Labels[fieldProvider] = c.Spec.Provider
	}
	if c.Spec.Region != "" {
		fields.Labels[fieldRegion] = c.Spec.Region
	}
	return fields
}

// selects reports whether an affinity of the workload selects the cluster. In a decision, which
// asks about every cluster, the affinity is compiled once.
func (w *Workload) selects(a *ClusterAffinity, c *api.Cluster, zones ZoneRule) bool {
	if a == nil || w.names == nil {
		return a.matches(c, zones)
	}
	return w.names.compiled(a).matches(c, w.names.zoneSetOf(c), zones)
}

// A zoneSet holds the zones of a cluster. To compare it with a requirement costs as much as the
// requirement has values, however many zones there are.
type zoneSet struct {
	list []string
	many map[string]bool // the same, if there are more than fewZones
}

const fewZones = 8

func newZoneSet(list []string) zoneSet {
	z := zoneSet{list: list}
	if len(list) > fewZones {
		z.many = make(map[string]bool, len(list))
		for _, zone := range list {
			z.many[zone] = true
		}
	}
	return z
}

func (z zoneSet) has(zone string) bool {
	if z.many != nil {
		return z.many[zone]
	}
	return slices.Contains(z.list, zone)
}

// match reports whether the zones meet a requirement.
func (z zoneSet) match(e *api.NodeSelectorRequirement, rule ZoneRule) bool {
	switch e.Operator {
	case api.NodeSelectorOpIn:
		if rule == EveryZone {
			return len(z.list) > 0 && z.within(e.Values)
		}
		return slices.ContainsFunc(e.Values, z.has)
	case api.NodeSelectorOpNotIn:
		return !slices.ContainsFunc(e.Values, z.has)
	case api.NodeSelectorOpExists:
		return len(z.list) > 0
	case api.NodeSelectorOpDoesNotExist:
		return len(z.list) == 0
	}
	return false
}

// within reports whether all zones are among the values.
func (z zoneSet) within(values []string) bool {
	if z.many == nil {
		return !slices.ContainsFunc(z.list, func(zone string) bool { return !slices.Contains(values, zone) })
	}
	if len(values) < len(z.many) {
		return false
	}
	found := make(map[string]bool, len(z.many))
	for _, v := range values {
		if z.many[v] {
			found[v] = true
		}
	}
	return len(found) == len(z.many)
}

// zonesOf returns the zones of a cluster. Karmada's API server moves the old field
// zone to zones; here zone counts if zones is empty.
func zonesOf(c *api.Cluster) []string {
	if len(c.Spec.Zones) == 0 && c.Spec.Zone != "" {
		return []string{c.Spec.Zone}
	}
	return c.Spec.Zones
}
