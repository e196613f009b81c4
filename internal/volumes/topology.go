package volumes

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// An Affinity is the compiled node affinity of a volume. The zero value allows
// every node.
type Affinity struct {
	selector match.NodeSelector
	source   *api.NodeSelector // nil if every node is allowed
}

// AffinityOf compiles the node affinity of a volume.
func AffinityOf(a *api.VolumeNodeAffinity) Affinity {
	if a == nil || a.Required == nil {
		return Affinity{}
	}
	return Affinity{match.NewNodeSelector(a.Required), a.Required}
}

// Allows reports whether the node can use the volume. Only the node's labels count:
// every node meets requirements on its name.
//
// Source: k8s.io/component-helpers/storage/volume, CheckNodeAffinity.
func (a *Affinity) Allows(n *api.Node) bool {
	if a.source == nil {
		return true
	}
	unnamed := api.Node{ObjectMeta: api.ObjectMeta{Labels: n.Labels}}
	return a.selector.Matches(&unnamed)
}

// zoneDelimiter separates the zones of a volume in a label.
const zoneDelimiter = "__"

// migratedAffinity returns the node affinity of an in-tree volume for the driver
// that took it over, with zones in the driver's own label. A volume without zones
// in its affinity is limited to the zones of its label.
//
// Source: k8s.io/csi-translation-lib v0.37, translateTopologyFromInTreeToCSI.
func migratedAffinity(v *api.PersistentVolume, driver *inTree) *api.VolumeNodeAffinity {
	affinity := v.Spec.NodeAffinity
	if driver.zone == "" {
		return affinity
	}
	var terms []api.NodeSelectorTerm
	if affinity != nil && affinity.Required != nil {
		terms = affinity.Required.NodeSelectorTerms
	}
	zone, region := topologyLabels(v, terms)
	switch {
	case len(valuesOf(terms, zone)) > 0:
		terms = renamed(terms, zone, driver.zone)
	case v.Labels[zone] != "":
		if zones := zonesOf(v.Labels[zone]); len(zones) > 0 {
			terms = limited(terms, driver.zone, zones)
		}
	}
	if region == api.LabelFailureDomainRegion && len(valuesOf(terms, region)) > 0 {
		terms = renamed(terms, region, api.LabelTopologyRegion)
	}
	if len(terms) == 0 {
		return affinity
	}
	return &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: terms}}
}

// topologyLabels returns the pair of labels, current or old, that a volume uses for
// its zone and region.
func topologyLabels(v *api.PersistentVolume, terms []api.NodeSelectorTerm) (zone, region string) {
	_, present := v.Labels[api.LabelTopologyZone]
	_, old := v.Labels[api.LabelFailureDomainZone]
	switch {
	case mentions(terms, api.LabelTopologyZone):
	case mentions(terms, api.LabelFailureDomainZone), old && !present:
		return api.LabelFailureDomainZone, api.LabelFailureDomainRegion
	}
	return api.LabelTopologyZone, api.LabelTopologyRegion
}

func mentions(terms []api.NodeSelectorTerm, label string) bool {
	return slices.ContainsFunc(terms, func(t api.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(r api.NodeSelectorRequirement) bool { return r.Key == label })
	})
}

// valuesOf returns all values that terms compare a label with.
func valuesOf(terms []api.NodeSelectorTerm, label string) (values []string) {
	for i := range terms {
		for j := range terms[i].MatchExpressions {
			if r := &terms[i].MatchExpressions[j]; r.Key == label {
				values = append(values, r.Values...)
			}
		}
	}
	return values
}

// renamed returns the terms with one label replaced by another.
func renamed(terms []api.NodeSelectorTerm, label, by string) []api.NodeSelectorTerm {
	terms = slices.Clone(terms)
	for i := range terms {
		requirements := slices.Clone(terms[i].MatchExpressions)
		for j := range requirements {
			if requirements[j].Key == label {
				requirements[j].Key = by
			}
		}
		terms[i].MatchExpressions = requirements
	}
	return terms
}

// limited returns the terms, at least one, each with one more requirement.
func limited(terms []api.NodeSelectorTerm, label string, values []string) []api.NodeSelectorTerm {
	if terms = slices.Clone(terms); len(terms) == 0 {
		terms = make([]api.NodeSelectorTerm, 1)
	}
	for i := range terms {
		terms[i].MatchExpressions = append(slices.Clone(terms[i].MatchExpressions),
			api.NodeSelectorRequirement{Key: label, Operator: api.NodeSelectorOpIn, Values: values})
	}
	return terms
}

// zonesOf returns the zones in a label, sorted, without empty ones.
func zonesOf(label string) (zones []string) {
	for zone := range strings.SplitSeq(label, zoneDelimiter) {
		if zone = strings.TrimSpace(zone); zone != "" {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// A Zone is a requirement of a volume on a label of nodes.
type Zone struct {
	Key    string
	Values []string
}

// zoneLabels are the labels of volumes that name zones and regions.
var zoneLabels = [...]string{
	api.LabelFailureDomainZone, api.LabelFailureDomainRegion,
	api.LabelTopologyZone, api.LabelTopologyRegion,
}

// Zoned reports whether a node has any label of a zone or region.
func Zoned(labels map[string]string) bool {
	for _, name := range zoneLabels {
		if _, ok := labels[name]; ok {
			return true
		}
	}
	return false
}

// SameDisk reports whether two versions of a volume stand for one disk, so that they count
// alike on a node.
func SameDisk(a, b *api.PersistentVolume) bool {
	return SameZones(a.Labels, b.Labels) && reflect.DeepEqual(a.Spec.PersistentVolumeSource, b.Spec.PersistentVolumeSource)
}

// SameZones reports whether two sets of labels agree on zones and regions.
func SameZones(a, b map[string]string) bool {
	for _, name := range zoneLabels {
		x, inA := a[name]
		y, inB := b[name]
		if x != y || inA != inB {
			return false
		}
	}
	return true
}

// ZonesOf appends the requirements from the labels of a volume. A label with an
// empty part requires nothing.
//
// Source: kube-scheduler 1.37, plugin VolumeZone, getPVTopologies.
func ZonesOf(zones []Zone, v *api.PersistentVolume) []Zone {
	for _, name := range zoneLabels {
		label, ok := v.Labels[name]
		if !ok {
			continue
		}
		values := strings.Split(label, zoneDelimiter)
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		if !slices.Contains(values, "") {
			zones = append(zones, Zone{name, values})
		}
	}
	return zones
}

// Allows reports whether the labels of a node meet the requirement. The current
// label can stand in for the old one.
func (z *Zone) Allows(labels map[string]string) bool {
	value, ok := labels[z.Key]
	if !ok {
		switch z.Key {
		case api.LabelFailureDomainZone:
			value, ok = labels[api.LabelTopologyZone]
		case api.LabelFailureDomainRegion:
			value, ok = labels[api.LabelTopologyRegion]
		}
	}
	return ok && slices.Contains(z.Values, value)
}
