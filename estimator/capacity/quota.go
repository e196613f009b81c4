package capacity

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Quota estimates how much the resource quotas of a namespace allow. It has an
// opinion only if a quota applies and bounds a requested resource.
//
//	estimate = min over the quotas that apply, and over their bounds of
//	           CPU, memory and extended resources, of (hard - used) / request
//
// hard and used come from the quota's status; a resource must be in both to be
// bounded. "requests.cpu" is the same as "cpu", and so on; limits and numbers of
// objects do not count. CPU is divided in thousandths, everything else in whole
// units.
//
// A quota applies to the namespace of the replica's pod. If it has scopes, at least
// one must match; only the scope PriorityClass can match.
//
// Source: Karmada 1.16 and 1.18, the plugin ResourceQuotaEstimator of its
// accurate estimator, with the gate ResourceQuotaEstimate. (1.13 looks at one
// quota of a namespace with several.)
//
// Differs: an overdrawn quota.
// Original: Karmada computes a negative number of replicas, and treats -1 as unknown.
// Here: it allows nothing.
// Why: a negative number of replicas helps nobody.
//
// Differs: assumed workloads.
// Original: if they use up any resource of the quota, Karmada allows nothing.
// Here: they count only against requests of the same resource.
// Why: a replica that does not request the resource still fits.
//
// Differs: a quota that bounds one resource under both names ("cpu" and
// "requests.cpu").
// Original: in Karmada, the second bound counts.
// Here: the smaller bound counts.
// Why: a cluster enforces both.
//
// Differs: a malformed scope selector.
// Original: Karmada ignores it.
// Here: it is an error.
// Why: nobody can say whether the quota applies.
//
// Kubernetes itself requires all scopes to match; Karmada, and so this estimator,
// requires one.
type Quota struct {
	// Quotas holds the quotas by cluster. The estimator has no opinion about other
	// clusters.
	Quotas map[string][]*api.ResourceQuota
	// Assumed holds, by cluster, workloads that were given to it and that the
	// status of quotas does not count yet; see [Assumed].
	Assumed map[string][]Assumed
}

// Name returns "ResourceQuotaEstimator", Karmada's name.
func (q Quota) Name() string { return "ResourceQuotaEstimator" }

// Estimate returns how many replicas the quotas of the pod's namespace allow. A
// replica without a pod has no namespace, so no quota bounds it.
func (q Quota) Estimate(cluster *api.Cluster, replica *Replica) (Estimate, error) {
	r, err := q.Explain(cluster, replica)
	return r.Estimate, err
}

// Explain reports which quota and which resource limit the replicas.
func (q Quota) Explain(cluster *api.Cluster, replica *Replica) (ClusterReport, error) {
	var one []Component
	if replica != nil {
		one = []Component{{Replicas: 1, Request: replica.Request, Pod: replica.Pod}}
	}
	return q.ofSet(cluster, one)
}

// EstimateSets returns how many whole sets of components the quotas allow. A quota
// counts only the components that it applies to.
func (q Quota) EstimateSets(cluster *api.Cluster, components []Component) (Estimate, error) {
	r, err := q.ofSet(cluster, components)
	return r.Estimate, err
}

// ofSet estimates for a set of components.
func (q Quota) ofSet(cluster *api.Cluster, components []Component) (ClusterReport, error) {
	r := ClusterReport{Cluster: clusterName(cluster), Estimator: q.Name(), Estimate: Estimate{NoOpinion: true}, From: FromQuota}
	if cluster == nil {
		return r, errNilCluster
	}
	assumed := q.Assumed[cluster.Name]
	if err := checkAssumed(assumed); err != nil {
		return r, ofCluster(cluster, err)
	}
	if _, err := podsOf(components); err != nil {
		return r, ofCluster(cluster, err)
	}
	for i, quota := range q.Quotas[cluster.Name] {
		if quota == nil {
			return r, &api.InvalidError{
				Object: "cluster " + cluster.Name, Field: fmt.Sprintf("quotas[%d]", i), Value: "null", Err: errNil,
			}
		}
		b := quotaBounds{quota: quota}
		if err := b.count(components, assumed); err != nil {
			return r, ofCluster(cluster, err)
		}
		b.apply(&r)
	}
	return r, nil
}

// quotaBounds holds one quota and the demands on it.
type quotaBounds struct {
	quota *api.ResourceQuota
	want  map[resource.Name]int64 // by a set
	taken map[resource.Name]int64 // by the assumed workloads
}

// count adds up the demands on the quota.
func (b *quotaBounds) count(components []Component, assumed []Assumed) error {
	b.want, b.taken = map[resource.Name]int64{}, map[resource.Name]int64{}
	for i := range components {
		if c := &components[i]; c.Pod != nil && c.Pod.Namespace == b.quota.Namespace {
			if err := b.add(c, b.want); err != nil {
				return err
			}
		}
	}
	if len(b.want) == 0 {
		return nil // what is in flight in the namespace of the quota is nobody else's concern
	}
	for _, a := range assumed {
		if a.Namespace != b.quota.Namespace {
			continue
		}
		for i := range a.Components {
			if err := b.add(&a.Components[i], b.taken); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *quotaBounds) add(c *Component, sums map[resource.Name]int64) error {
	class := ""
	if c.Pod != nil {
		class = c.Pod.Spec.PriorityClassName
	}
	applies, err := b.appliesTo(class)
	if err != nil || !applies {
		return err
	}
	for _, d := range demands(c.Request) {
		sums[d.name] = resource.SatAdd(sums[d.name], resource.SatMul(c.Replicas, d.units))
	}
	return nil
}

// apply lowers the estimate of r to the amount that the quota allows.
func (b *quotaBounds) apply(r *ClusterReport) {
	for _, bounded := range b.quota.Status.Hard.Names() {
		name := resource.Name(strings.TrimPrefix(string(bounded), "requests."))
		want := b.want[name]
		used, known := b.quota.Status.Used[bounded]
		if !known || want == 0 || !boundable(name) {
			continue
		}
		left := b.quota.Status.Hard[bounded].Sub(used)
		units := max(0, resource.SatSub(unitsOf(name, left), b.taken[name]))
		n := units / want
		if n >= MaxReplicas {
			continue // bounds nothing
		}
		r.Resources = append(r.Resources, ResourceReport{
			Name: name, Free: quantityOf(name, units), Request: quantityOf(name, want), Replicas: n,
		})
		if r.NoOpinion || n < r.Replicas {
			r.Estimate, r.Limit, r.Quota = Estimate{Replicas: n}, name, b.quota.Key()
		}
	}
}

// boundable reports whether the estimator considers a resource.
func boundable(name resource.Name) bool {
	return name == resource.CPU || name == resource.Memory || name.IsExtended()
}

var (
	errOperator  = errors.New("is not a valid scope selector operator")
	errNoValues  = errors.New("the operator needs values")
	errAnyValues = errors.New("the operator takes no values")
)

// appliesTo reports whether the quota counts pods of a priority class.
func (b *quotaBounds) appliesTo(class string) (bool, error) {
	spec := &b.quota.Spec
	applies := len(spec.Scopes) == 0
	for _, scope := range spec.Scopes {
		if scope == api.ResourceQuotaScopePriorityClass && class != "" {
			applies = true
		}
	}
	if spec.ScopeSelector == nil || len(spec.ScopeSelector.MatchExpressions) == 0 {
		return applies, nil
	}
	applies = applies && len(spec.Scopes) > 0
	for i := range spec.ScopeSelector.MatchExpressions {
		e := &spec.ScopeSelector.MatchExpressions[i]
		fits, field, err := fitsScope(e, class)
		if err != nil {
			value := string(e.Operator)
			if field == "values" {
				value = fmt.Sprint(e.Values)
			}
			return false, &api.InvalidError{
				Field: fmt.Sprintf("quota %s: spec.scopeSelector.matchExpressions[%d].%s", b.quota.Key(), i, field), Value: value, Err: err,
			}
		}
		applies = applies || fits && e.ScopeName == api.ResourceQuotaScopePriorityClass
	}
	return applies, nil
}

// fitsScope reports whether a priority class, "" for none, meets a requirement. If
// the requirement is malformed, it returns the bad field and an error.
func fitsScope(e *api.ScopedResourceSelectorRequirement, class string) (fits bool, field string, err error) {
	listed := slices.Contains(e.Values, class) && class != ""
	switch e.Operator {
	case api.ScopeSelectorOpIn, api.ScopeSelectorOpNotIn:
		if len(e.Values) == 0 {
			return false, "values", errNoValues
		}
		return listed == (e.Operator == api.ScopeSelectorOpIn), "", nil
	case api.ScopeSelectorOpExists, api.ScopeSelectorOpDoesNotExist:
		if len(e.Values) > 0 {
			return false, "values", errAnyValues
		}
		return (class != "") == (e.Operator == api.ScopeSelectorOpExists), "", nil
	}
	return false, "operator", errOperator
}
