package capacity

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Rules selects how many replicas a node of a grade counts for. The rules
// follow successive versions of Karmada.
type Rules uint8

// The model rules. The only known fact about a node of a grade is that it has at
// least the minima of the grade free.
const (
	// Karmada118 fills a node of each grade with replicas. It assumes that the node
	// has exactly the grade's minima free and room for 110 pods. It is the rule of
	// Karmada 1.18 and later, and the zero value.
	//
	// Karmada places the replicas one by one. Here the number is computed at once,
	// as the sum over the grades of
	//
	//	nodes * min(110, min over the requested resources of min / request)
	//
	// rounded down in each grade. Resources without scheduler accounting
	// ("storage", "pods") do not count.
	Karmada118 Rules = iota
	// Karmada113 counts all grades from the first one whose minima are at least the
	// request, with as many replicas per node as the minima allow. It is the rule
	// of Karmada 1.12 to 1.17.
	Karmada113
	// Karmada111 counts all grades from the first one whose ranges contain the
	// request, or the last grade if none does. If the minima allow no replica, it
	// counts one per node. It is the rule of Karmada up to 1.11, as its
	// documentation describes it. It may promise more than fits: a replica of 3
	// CPUs counts for a node with 2.
	Karmada111
)

var rulesNames = [...]string{Karmada118: "Karmada118", Karmada113: "Karmada113", Karmada111: "Karmada111"}

// String returns the rule's name.
func (m Rules) String() string {
	if int(m) < len(rulesNames) {
		return rulesNames[m]
	}
	return fmt.Sprintf("Rules(%d)", uint8(m))
}

// General estimates from a Cluster object: the number of pods that the cluster
// still admits, and the numbers of nodes by grade. If these are missing or do not
// cover the request, it uses the sums of the cluster's resources. Its zero value
// follows Karmada 1.18 and later.
//
//	P = pods allocatable - allocated - allocating     (P <= 0: nothing fits)
//	estimate = min(P, by models or by summary)
//	by summary = min over the requested resources of free / request, rounded down
//	free = allocatable - allocated - allocating       (missing or <= 0: nothing fits)
//
// CPU is divided in thousandths, everything else in whole units; each amount is
// rounded up first.
//
// Source: Karmada 1.11, 1.13 and 1.18, the general estimator.
//
// Differs: results beyond [MaxReplicas].
// Original: Karmada wraps: 3,000,000,000 free pods make -1,294,967,296 replicas.
// Before 1.18, a replica that requests nothing makes -2 on two nodes.
// Here: they stop at MaxReplicas.
// Why: a negative number of replicas helps nobody.
//
// Differs: a requested resource that no model has, with [Karmada118].
// Original: Karmada answers 0 since 1.18.
// Here: the summary decides, as with the earlier rules.
// Why: a resource outside of the models is not an empty one.
//
// Differs: a cluster with counts but without models, and a request for nothing.
// Original: before 1.18, Karmada answers 0.
// Here: the summary decides, as for any other request.
// Why: counts say nothing without their models.
//
// Differs: malformed input: a negative quantity or count, models that disagree about
// their resources, and fewer counts than models if these are matched by position.
// Original: Karmada panics or computes with it.
// Here: it is an error with the cluster, the field and the value. What pods without a
// node request of resources that no node has is not read.
// Why: bad input must not end the program, nor give a number.
type General struct {
	// Rules selects how nodes of a grade are counted.
	Rules Rules
	// IgnoreModels estimates from the summary alone, like Karmada without its
	// feature gate CustomizedClusterResourceModeling.
	IgnoreModels bool
	// Assumed holds, by cluster, workloads that were given to it and that its
	// status does not count yet; see [Assumed].
	Assumed map[string][]Assumed
}

// Name returns "general-estimator", Karmada's name.
func (g General) Name() string { return "general-estimator" }

// Estimate returns how many replicas the cluster can take. A cluster that reports
// no resources takes none. For a nil replica, only the number of pods limits.
func (g General) Estimate(cluster *api.Cluster, replica *Replica) (Estimate, error) {
	var r ClusterReport
	n, err := g.estimate(cluster, replica, &r, false)
	return Estimate{Replicas: n}, err
}

// Explain returns the estimate with its reasons.
func (g General) Explain(cluster *api.Cluster, replica *Replica) (ClusterReport, error) {
	r := ClusterReport{Cluster: clusterName(cluster), Estimator: g.Name()}
	n, err := g.estimate(cluster, replica, &r, true)
	r.Replicas = n
	return r, err
}

// check returns an error for unknown rules and for input that is always malformed.
func (g General) check(cluster *api.Cluster) error {
	if cluster == nil {
		return errNilCluster
	}
	if int(g.Rules) >= len(rulesNames) {
		return &api.InvalidError{Object: g.Name(), Field: "rules", Value: g.Rules.String(), Err: errUnknownRule}
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
	errUnknownRule = errors.New("no such rules; take Karmada118, Karmada113 or Karmada111")
)

// estimate fills in r; it fills in the lists of r only if explain is set.
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

// byResources estimates by models or by the summary, and ignores the number of
// pods.
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
