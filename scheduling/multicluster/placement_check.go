package multicluster

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

var (
	errUnknown       = errors.New("is not a known value")
	errBothAffinity  = errors.New("clusterAffinities can not co-exist with clusterAffinity")
	errMaxBelowMin   = errors.New("maxGroups lower than minGroups is not allowed")
	errByLabel       = errors.New("spreading by label is not supported")
	errTermTwice     = errors.New("each affinity term in a policy must have a unique name")
	errOverflow      = errors.New("overflowAffinities can only be used together with dynamic weight or aggregated scheduling")
	errOverflowAlone = errors.New("overflowAffinities can only be used together with the inline ClusterAffinity")
	errOverflowTwice = errors.New("overflow affinity name must be unique and must not duplicate the primary group's affinityName")
	errLabelKey      = errors.New("is not a valid label key")
	errSameKey       = errors.New("affinity and antiAffinity must not use the same groupByLabelKey")
	errTwoOfOneField = errors.New("multiple spread constraints of one field are not allowed")
)

// Validate reports all errors of the placement, joined. Each is a
// [*api.InvalidError] that names the field and the value.
func (p *Placement) Validate() error {
	var all []error
	if p.ClusterAffinity != nil {
		if len(p.ClusterAffinities) > 0 {
			all = append(all, &api.InvalidError{
				Field: placementField + "clusterAffinities", Value: fmt.Sprintf("%d affinities", len(p.ClusterAffinities)), Err: errBothAffinity,
			})
		}
		all = append(all, checkAffinity(placementField+"clusterAffinity", p.ClusterAffinity))
	}
	named := map[string]bool{}
	for i := range p.ClusterAffinities {
		all = append(all, p.checkTerm(i, named))
	}
	all = append(all, checkWorkloadAffinity(p.WorkloadAffinity))
	all = append(all, checkSpread(p.SpreadConstraints))
	if _, err := p.Strategy(); err != nil {
		all = append(all, err)
	}
	if r := p.ReplicaScheduling; r != nil && r.WeightPreference != nil {
		all = append(all, checkWeights(r.WeightPreference))
	}
	return errors.Join(all...)
}

// checkTerm checks one of the affinities and its overflow affinities. named has the names of
// those before it.
func (p *Placement) checkTerm(i int, named map[string]bool) error {
	term := &p.ClusterAffinities[i]
	at := fmt.Sprintf("%sclusterAffinities[%d]", placementField, i)
	all := []error{checkAffinity(at, &term.ClusterAffinity)}
	if named[term.AffinityName] {
		all = append(all, &api.InvalidError{Field: at + ".affinityName", Value: term.AffinityName, Err: twice(term.AffinityName, errTermTwice)})
	}
	named[term.AffinityName] = true
	if len(term.OverflowAffinities) == 0 {
		return errors.Join(all...)
	}
	overflow := fmt.Sprintf("%d affinities", len(term.OverflowAffinities))
	if s, err := p.Strategy(); err == nil && s != DynamicWeight && s != Aggregated {
		all = append(all, &api.InvalidError{Field: at + ".overflowAffinities", Value: overflow, Err: errOverflow})
	}
	if term.isEmpty() {
		all = append(all, &api.InvalidError{Field: at + ".overflowAffinities", Value: overflow, Err: errOverflowAlone})
	}
	seen := map[string]bool{term.AffinityName: true}
	for j := range term.OverflowAffinities {
		tier, at := &term.OverflowAffinities[j], fmt.Sprintf("%s.overflowAffinities[%d]", at, j)
		all = append(all, checkAffinity(at, &tier.ClusterAffinity))
		if seen[tier.AffinityName] {
			all = append(all, &api.InvalidError{Field: at + ".affinityName", Value: tier.AffinityName, Err: twice(tier.AffinityName, errOverflowTwice)})
		}
		seen[tier.AffinityName] = true
	}
	return errors.Join(all...)
}

// twice returns the error for a repeated name. If the name is empty, it says that
// instead, which helps more.
func twice(name string, wrong error) error {
	if name == "" {
		return errNoName
	}
	return wrong
}

// isEmpty reports whether the affinity sets no condition.
func (a *ClusterAffinity) isEmpty() bool {
	return a.LabelSelector == nil && a.FieldSelector == nil && len(a.ClusterNames) == 0 && len(a.ExcludeClusters) == 0
}

func checkWorkloadAffinity(a *WorkloadAffinity) error {
	if a == nil {
		return nil
	}
	var all []error
	const field = placementField + "workloadAffinity"
	check := func(name string, t *WorkloadAffinityTerm) {
		if t == nil || resource.Name(t.GroupByLabelKey).IsQualified() {
			return
		}
		wrong := errLabelKey
		if t.GroupByLabelKey == "" {
			wrong = errNoName
		}
		all = append(all, &api.InvalidError{Field: field + "." + name + ".groupByLabelKey", Value: t.GroupByLabelKey, Err: wrong})
	}
	check("affinity", a.Affinity)
	check("antiAffinity", a.AntiAffinity)
	if a.Affinity != nil && a.AntiAffinity != nil && a.Affinity.GroupByLabelKey != "" && a.Affinity.GroupByLabelKey == a.AntiAffinity.GroupByLabelKey {
		all = append(all, &api.InvalidError{Field: field, Value: a.Affinity.GroupByLabelKey, Err: errSameKey})
	}
	return errors.Join(all...)
}

const placementField = "spec.placement."

func checkAffinity(field string, a *ClusterAffinity) error {
	var all []error
	if a.LabelSelector != nil {
		if _, err := match.NewLabelSelector(a.LabelSelector); err != nil {
			all = append(all, &api.InvalidError{Field: field + ".labelSelector", Value: textOf(a.LabelSelector), Err: err})
		}
	}
	if a.FieldSelector != nil {
		for i, e := range a.FieldSelector.MatchExpressions {
			at := fmt.Sprintf("%s.fieldSelector.matchExpressions[%d]", field, i)
			switch e.Key {
			case fieldProvider, fieldRegion, fieldZone:
			default:
				all = append(all, &api.InvalidError{Field: at + ".key", Value: e.Key, Err: errUnknown})
			}
			switch e.Operator {
			case api.NodeSelectorOpIn, api.NodeSelectorOpNotIn, api.NodeSelectorOpExists, api.NodeSelectorOpDoesNotExist:
			default:
				all = append(all, &api.InvalidError{Field: at + ".operator", Value: string(e.Operator), Err: errUnknown})
			}
		}
	}
	return errors.Join(all...)
}

// textOf writes a selector as its JSON.
func textOf(s *api.LabelSelector) string {
	data, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func checkSpread(constraints []SpreadConstraint) error {
	var all []error
	seen := map[SpreadField]bool{}
	for i, c := range constraints {
		at := fmt.Sprintf("%sspreadConstraints[%d].", placementField, i)
		field := c.field()
		switch field {
		case SpreadByCluster, SpreadByRegion, SpreadByZone, SpreadByProvider:
		default:
			all = append(all, &api.InvalidError{Field: at + "spreadByField", Value: string(field), Err: errUnknown})
		}
		if c.SpreadByLabel != "" {
			all = append(all, &api.InvalidError{Field: at + "spreadByLabel", Value: c.SpreadByLabel, Err: errByLabel})
		}
		if seen[field] {
			all = append(all, &api.InvalidError{Field: at + "spreadByField", Value: string(field), Err: errTwoOfOneField})
		}
		seen[field] = true
		if c.MinGroups < 0 {
			all = append(all, &api.InvalidError{Field: at + "minGroups", Value: fmt.Sprint(c.MinGroups), Err: errNegative})
		}
		switch {
		case c.MaxGroups < 0:
			all = append(all, &api.InvalidError{Field: at + "maxGroups", Value: fmt.Sprint(c.MaxGroups), Err: errNegative})
		case c.MaxGroups > 0 && c.MaxGroups < c.MinGroups:
			all = append(all, &api.InvalidError{Field: at + "maxGroups", Value: fmt.Sprint(c.MaxGroups), Err: errMaxBelowMin})
		}
	}
	return errors.Join(all...)
}

func checkWeights(w *WeightPreference) error {
	var all []error
	const at = placementField + "replicaScheduling.weightPreference."
	if w.DynamicWeight != "" && w.DynamicWeight != DynamicByAvailable {
		all = append(all, &api.InvalidError{Field: at + "dynamicWeight", Value: w.DynamicWeight, Err: errUnknown})
	}
	for i := range w.StaticWeightList {
		rule := &w.StaticWeightList[i]
		field := fmt.Sprintf("%sstaticWeightList[%d]", at, i)
		if rule.Weight < 0 {
			all = append(all, &api.InvalidError{Field: field + ".weight", Value: fmt.Sprint(rule.Weight), Err: errNegative})
		}
		all = append(all, checkAffinity(field+".targetCluster", &rule.TargetCluster))
	}
	return errors.Join(all...)
}

func (c *SpreadConstraint) field() SpreadField {
	if c.SpreadByField == "" {
		return SpreadByCluster
	}
	return c.SpreadByField
}
