package capacity

import (
	"math"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// MaxReplicas is the largest number of replicas in an estimate, because a workload
// cannot have more.
const MaxReplicas = math.MaxInt32

// A Replica describes one copy of a workload for cluster estimators.
type Replica struct {
	// Request is the request of one copy. Zero and negative quantities count as not
	// requested.
	Request resource.List
	// Pod is the copy itself, for estimators that read nodes; others ignore it. It
	// may be nil.
	Pod *api.Pod
}

// ReplicaOf returns the replica for a pod. It requests [api.PodRequests], including
// pod-level requests. For a nil pod it requests nothing.
//
// Differs: sidecar containers and pod-level requests.
// Original: Karmada counts sidecars like other init containers, and ignores pod-level
// requests.
// Here: both count as in kube-scheduler.
// Why: the pod must fit where kube-scheduler places it.
//
// Differs: a limit without a request.
// Original: Karmada takes the limit as the request.
// Here: it is no request.
// Switch: [api.DefaultPod] fills in the request first.
func ReplicaOf(pod *api.Pod) *Replica {
	if pod == nil {
		return &Replica{}
	}
	return &Replica{Request: api.PodRequests(pod, api.RequestOptions{PodLevel: true}), Pod: pod}
}

// An Estimate is the answer of an estimator for one cluster. Its zero value means
// that nothing fits.
type Estimate struct {
	// Replicas is how many copies the cluster can take, 0 to [MaxReplicas].
	Replicas int64 `json:"replicas"`
	// NoOpinion means that the estimator does not know the cluster; ignore Replicas
	// then.
	NoOpinion bool `json:"noOpinion,omitempty"`
}

// A ClusterEstimator estimates how many replicas a cluster can take.
type ClusterEstimator interface {
	// Name identifies the estimator in explanations.
	Name() string
	// Estimate must not change its arguments, and must give the same answer for the
	// same arguments. It may be called for several clusters at once. An error means
	// that the estimate of this cluster failed; for an unknown cluster, set
	// Estimate.NoOpinion instead.
	Estimate(cluster *api.Cluster, replica *Replica) (Estimate, error)
}

// A ClusterExplainer is a ClusterEstimator that can give reasons.
type ClusterExplainer interface {
	ClusterEstimator
	// Explain returns the report on the estimate that Estimate returns for the same
	// arguments.
	Explain(cluster *api.Cluster, replica *Replica) (ClusterReport, error)
}

// A demand is one resource that a replica requests.
type demand struct {
	name     resource.Name
	quantity resource.Quantity
	units    int64 // as unitsOf counts them, at least 1
}

// demands returns the resources with a positive request, sorted by name.
func demands(request resource.List) []demand {
	ds := make([]demand, 0, len(request))
	for _, name := range request.Names() {
		if q := request[name]; q.Sign() > 0 {
			ds = append(ds, demand{name, q, unitsOf(name, q)})
		}
	}
	return ds
}

// unitsOf returns q in the unit of estimates: thousandths for CPU, whole units for
// everything else, rounded up.
func unitsOf(name resource.Name, q resource.Quantity) int64 {
	if name == resource.CPU {
		return q.MilliValue()
	}
	return q.Value()
}

// counted reports whether schedulers account for a resource on nodes.
func counted(name resource.Name) bool {
	switch name {
	case resource.CPU, resource.Memory, resource.EphemeralStorage:
		return true
	}
	return name.IsScalar()
}
