package capacity

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// An EstimateBasis is the data behind an estimate.
type EstimateBasis string

// The bases of estimates.
const (
	FromNothing EstimateBasis = "nothing" // the cluster reports no resources
	FromPods    EstimateBasis = "pods"    // only the number of pods counts
	FromSummary EstimateBasis = "summary" // the sums of the cluster's resources
	FromModels  EstimateBasis = "models"  // the numbers of nodes of each grade
	FromNodes   EstimateBasis = "nodes"   // the nodes themselves
	FromQuota   EstimateBasis = "quota"   // the resource quotas of a namespace
)

// A ClusterReport gives the reasons for an estimate. Its JSON form is stable.
type ClusterReport struct {
	Cluster   string `json:"cluster"`
	Estimator string `json:"estimator"`
	Estimate
	// From is the data behind the estimate.
	From EstimateBasis `json:"from"`
	// Fallback says why the estimate ignores the models that the cluster has.
	Fallback string `json:"fallback,omitempty"`
	// FreePods is how many more pods the cluster admits.
	FreePods int64 `json:"freePods"`
	// AssumedPods is how many pods are assumed in the cluster in addition to the
	// counted ones.
	AssumedPods int64 `json:"assumedPods,omitempty"`
	// Limit is the limiting resource, the first by name if there are several:
	// "pods" for the number of pods, "" if nothing limits.
	Limit resource.Name `json:"limit,omitempty"`
	// Quota names the limiting resource quota.
	Quota string `json:"quota,omitempty"`
	// Resources says how many replicas each requested resource allows: by name
	// according to the summary, or quota by quota.
	Resources []ResourceReport `json:"resources,omitempty"`
	// Grades says how many replicas each grade allows, in the order of the models.
	Grades []GradeReport `json:"grades,omitempty"`
	// Nodes says how many replicas each node allows, in the snapshot's order.
	Nodes []NodeReport `json:"nodes,omitempty"`
}

// A ResourceReport says how many replicas one resource allows.
type ResourceReport struct {
	Name resource.Name `json:"name"`
	// Free is the free amount of the resource in the whole cluster, and Request the
	// request of one replica.
	Free    resource.Quantity `json:"free"`
	Request resource.Quantity `json:"request"`
	// Missing means that the cluster does not have the resource at all.
	Missing  bool  `json:"missing,omitempty"`
	Replicas int64 `json:"replicas"`
}

// A GradeReport says how many replicas the nodes of one grade allow.
type GradeReport struct {
	Grade uint  `json:"grade"`
	Nodes int64 `json:"nodes"`
	// PerNode is how many replicas one node of the grade counts for.
	PerNode int64 `json:"perNode"`
	// Assumed is how many of the nodes hold assumed replicas, and so may allow
	// fewer replicas.
	Assumed  int64 `json:"assumed,omitempty"`
	Replicas int64 `json:"replicas"`
	// Limit is the limiting resource on a node.
	Limit resource.Name `json:"limit,omitempty"`
	// Unfit means that the grade is too small for a replica.
	Unfit bool `json:"unfit,omitempty"`
}

// A NodeReport says how many replicas one node allows.
type NodeReport struct {
	Node     string        `json:"node"`
	Replicas int64         `json:"replicas"`
	Limit    resource.Name `json:"limit,omitempty"`
	// Plugin and Reasons say which plugin rejected the node, and why.
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// String returns the report as a line such as
//
//	member1: 7 replicas by models: grade 2: 1 node x 1, grade 3: 6 nodes x 1
//
// and for a summary "member1: 6 replicas by summary, limited by cpu".
func (r *ClusterReport) String() string {
	var b strings.Builder
	if r.NoOpinion {
		fmt.Fprintf(&b, "%s: no opinion", r.Cluster)
		return b.String()
	}
	fmt.Fprintf(&b, "%s: %s by %s", r.Cluster, plural(r.Replicas, "replica"), r.From)
	if r.Limit != "" {
		fmt.Fprintf(&b, ", limited by %s", r.Limit)
	}
	separator := ": "
	for _, g := range r.Grades {
		if g.Replicas == 0 {
			continue
		}
		fmt.Fprintf(&b, "%sgrade %d: %s x %d", separator, g.Grade, plural(g.Nodes, "node"), g.PerNode)
		separator = ", "
	}
	if r.Fallback != "" {
		fmt.Fprintf(&b, " (%s)", r.Fallback)
	}
	return b.String()
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
