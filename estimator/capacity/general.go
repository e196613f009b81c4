package capacity

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Rules says how many replicas a node of a grade is taken to allow. The
// rules are those of successive versions of Karmada.
type Rules uint8

// The model rules. Of a node of a grade, nothing is known but that it has at
// least the minima of the grade free.
const (
	// Karmada118 fills a node of each grade, taken to have exactly the grade's
	// minima free and room for 110 pods, with replicas. It is the rule of
	// Karmada 1.18 and later, and the zero value.
	//
	// Karmada finds the number by placing the replicas one by one; here it is
	// computed at once, as the sum over the grades of
	//
	//	nodes * min(110, min over the requested resources of min / request)
	//
	// rounded down in each grade. Resources that schedulers keep no accounts of
	// ("storage", "pods") do not count.
	Karmada118 Rules = iota
	// Karmada113 counts the grades from the first one on whose minima are at
	// least the request, in each as many replicas per node as the minima allow.
	// It is the rule of Karmada 1.12 to 1.17.
	Karmada113
	// Karmada111 counts the grades from the first one on whose ranges contain the
	// request, or the last one if none does; where the minima allow no replica
	// it counts one per node. It is the rule of Karmada up to 1.11, and the one
	// its documentation describes. It may promise more than fits: a replica of
	// 3 CPUs counts for a node with 2.
	Karmada111
)

var modelRuleNames = [...]string{Karmada118: "Karmada118", Karmada113: "Karmada113", Karmada111: "Karmada111"}

// String returns the rule's name.
func (m Rules) String() string {
	if int(m) < len(modelRuleNames) {
		return modelRuleNames[m]
	}
	return fmt.Sprintf("ModelRule(%d)", uint8(m))
}

// General estimates from what a Cluster object says about the cluster: the
// number of pods it still admits, and the numbers of nodes by grade or, where
// these are missing or do not cover what is requested, the sums of its
// resources. Its zero value follows Karmada 1.18 and later.
//
//	P = pods allocatable - allocated - allocating     (P <= 0: nothing fits)
//	estimate = min(P, by models or by summary)
//	by summary = min over the requested resources of free / request, rounded down
//	free = allocatable - allocated - allocating       (missing or <= 0: nothing fits)
//
// CPU is divided in thousandths, everything else in whole units, each rounded
// up before.
//
// Source: Karmada 1.11, 1.13 and 1.18, the general estimator.
//
// Differs: numbers saturate at [MaxReplicas], where Karmada wraps (3,000,000,000
// free pods make -1,294,967,296 replicas; a replica that requests nothing makes
// -2 on two nodes before 1.18). Karmada118 falls back to the summary when a
// requested resource is in no model, as the earlier rules do; since 1.18 Karmada
// answers 0. A cluster that has counts but no models falls back too, also when
// nothing is requested. What is malformed (a negative quantity or count, models
// that disagree about their resources, fewer counts than models where these are
// matched by position) is an error that names the cluster, the field and the
// value; Karmada panics or computes with it.
type General struct {
	// Rule says how nodes of a grade are counted.
	Rules Rules
	// IgnoreModels estimates from the summary alone, as Karmada does without
	// its feature gate CustomizedClusterResourceModeling.
	IgnoreModels bool
	// Assumed holds, by cluster, workloads that were given to it and are not
	// yet counted in its status; see [Assumed].
	Assumed map[string][]Assumed
}

// Name returns "general-estimator", Karmada's name.
func (g General) Name() string { return "general-estimator" }

// Estimate returns how many replicas the cluster can take on. A cluster that
// reports no resources takes none. A nil replica is limited by the number of
// pods alone.
func (g General) Estimate(cluster *api.Cluster, replica *Replica) (Estimate, error) {
	var r ClusterReport
	n, err := g.estimate(cluster, replica, &r, false)
	return Estimate{Replicas: n}, err
}

// Explain returns the estimate and what it was made from.
func (g General) Explain(cluster *api.Cluster, replica *Replica) (ClusterReport, error) {
	r := ClusterReport{Cluster: clusterName(cluster), Estimator: g.Name()}
	n, err := g.estimate(cluster, replica, &r, true)
	r.Replicas = n
	return r, err
}

// check refuses a rule that does not exist, and what is malformed in any case.
func (g General) check(cluster *api.Cluster) error {
	if cluster == nil {
		return errNilCluster
	}
	if int(g.Rules) >= len(modelRuleNames) {
		return &api.InvalidError{Object: g.Name(), Field: "rule", Value: g.Rules.String(), Err: errUnknownRule}
	}
	if s := cluster.Status.ResourceSummary; s != nil {
		if err := checkSummary(s); err != nil {
			return ofCluster(cluster, err)
		}
	}
	return ofCluster(cluster, checkAssumed(g.Assumed[cluster.Name]))
}

var (
	errNil         = errors.New("is nil")
	errNilCluster  = &api.InvalidError{Object: "cluster", Value: "null", Err: errNil}
	errUnknownRule = errors.New("there is no such model rule")
)

// estimate fills in r, its lists only if explain is set.
func (g General) estimate(cluster *api.Cluster, replica *Replica, r *ClusterReport, explain bool) (int64, error) {
	r.From = FromNothing
	if err := g.check(cluster); err != nil {
		return 0, err
	}
	if cluster.Status.ResourceSummary == nil {
		return 0, nil
	}
	assumed := g.Assumed[cluster.Name]
	summary := besides(cluster.Status.ResourceSummary, assumed)
	r.AssumedPods = podsAssumed(assumed)
	r.From, r.Limit, r.FreePods = FromPods, resource.Pods, freePods(summary)
	if r.FreePods == 0 || replica == nil {
		return min(r.FreePods, MaxReplicas), nil
	}
	n, limit, err := g.byResources(cluster, summary, demands(replica.Request), r, explain)
	if err != nil {
		return 0, ofCluster(cluster, err)
	}
	if n < r.FreePods {
		r.Limit = limit
	}
	return min(n, r.FreePods, MaxReplicas), nil
}

// byResources estimates by models or by the summary, without regard to pods.
func (g General) byResources(cluster *api.Cluster, summary *api.ResourceSummary, wanted []demand, r *ClusterReport, explain bool) (int64, resource.Name, error) {
	if !g.IgnoreModels && len(summary.AllocatableModelings) > 0 {
		m := modelCount{rule: g.Rules, models: cluster.Spec.ResourceModels, counts: summary.AllocatableModelings, wanted: wanted, assumed: g.Assumed[cluster.Name]}
		if g.Rules == Karmada118 {
			m.wanted = countedOnly(wanted)
		}
		fallback, err := m.uncovered()
		if err != nil {
			return 0, "", err
		}
		if r.Fallback = fallback; fallback == "" {
			r.From = FromModels
			if explain {
				m.report = &r.Grades
			}
			n, err := m.replicas()
			return n, "", err
		}
	}
	r.From = FromSummary
	n, limit := bySummary(summary, wanted, r, explain)
	return n, limit, nil
}

// ofCluster adds the cluster to an error about one of its fields.
func ofCluster(cluster *api.Cluster, err error) error {
	if e, ok := err.(*api.InvalidError); ok {
		named := *e
		named.Object = "cluster " + cluster.Name
		return &named
	}
	return err
}

func clusterName(cluster *api.Cluster) string {
	if cluster == nil {
		return ""
	}
	return cluster.Name
}
