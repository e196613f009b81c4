package capacity

import (
	"math"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// MaxReplicas is the largest number of replicas that an estimate may have: a
// workload cannot have more.
const MaxReplicas = math.MaxInt32

// A Replica is one copy of a workload, as cluster estimators see it.
type Replica struct {
	// Request is what one copy requests. Zero and negative quantities count as
	// not requested.
	Request resource.List
	// Pod is the copy itself, for estimators that look at nodes; others do not
	// read it. It may be nil.
	Pod *api.Pod
}

// ReplicaOf returns the replica that a pod is: it requests what
// [api.PodRequests] says, pod-level requests included. Without a pod it
// is a replica that requests nothing.
//
// Differs: Karmada counts sidecar containers like other init containers and
// does not know pod-level requests, and it takes a limit as the request where
// there is none; framework's defaulting of pods does the latter.
func ReplicaOf(pod *api.Pod) *Replica {
	if pod == nil {
		return &Replica{}
	}
	return &Replica{Request: api.PodRequests(pod, api.RequestOptions{PodLevel: true}), Pod: pod}
}

// An Estimate is what an estimator says about one cluster. Its zero value is
// the opinion that nothing fits.
type Estimate struct {
	// Replicas is how many copies the cluster can take on, 0 to [MaxReplicas].
	Replicas int64 `json:"replicas"`
	// NoOpinion tells that the estimator does not know the cluster; Replicas is
	// then to be ignored.
	NoOpinion bool `json:"noOpinion,omitempty"`
}

// A ClusterEstimator says how many replicas a cluster can take.
type ClusterEstimator interface {
	// Name identifies the estimator in explanations.
	Name() string
	// Estimate must not change its arguments, must give the same answer for the
	// same arguments, and may be called for several clusters at once. An error
	// is a failure to estimate this one cluster; not knowing the cluster is
	// none, see Estimate.NoOpinion.
	Estimate(cluster *api.Cluster, replica *Replica) (Estimate, error)
}

// A ClusterExplainer is a ClusterEstimator that can say why.
type ClusterExplainer interface {
	ClusterEstimator
	// Explain returns the report of the estimate that Estimate returns for the
	// same arguments.
	Explain(cluster *api.Cluster, replica *Replica) (ClusterReport, error)
}

// A demand is one resource that a replica requests.
type demand struct {
	name     resource.Name
	quantity resource.Quantity
	units    int64 // as unitsOf counts them, at least 1
}

// demands returns the resources of which the request asks for more than 0,
// sorted by name.
func demands(request resource.List) []demand {
	ds := make([]demand, 0, len(request))
	for _, name := range request.Names() {
		if q := request[name]; q.Sign() > 0 {
			ds = append(ds, demand{name, q, unitsOf(name, q)})
		}
	}
	return ds
}

// unitsOf returns q in the unit in which estimates divide: thousandths for CPU,
// whole units for everything else, rounded up.
func unitsOf(name resource.Name, q resource.Quantity) int64 {
	if name == resource.CPU {
		return q.MilliValue()
	}
	return q.Value()
}

// counted reports whether a scheduler keeps accounts of a resource on nodes.
func counted(name resource.Name) bool {
	switch name {
	case resource.CPU, resource.Memory, resource.EphemeralStorage:
		return true
	}
	return name.IsScalar()
}
