package capacity

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// A Combined is what several estimators together say about one cluster.
type Combined struct {
	Cluster string `json:"cluster"`
	// Estimate is the smallest estimate; NoOpinion if no estimator has one.
	Estimate
	// By names the estimator whose estimate it is, the first of several equal.
	By string `json:"by,omitempty"`
	// Err joins the errors of the estimators that failed for this cluster; each
	// names its estimator. Their estimates are missing from the minimum.
	Err error `json:"-"`
}

// An EstimatorError says that an estimator failed for a cluster.
type EstimatorError struct {
	Estimator string
	Cluster   string
	Err       error
}

// Error returns "estimator X: cluster Y: " and the cause, which may already
// name the cluster.
func (e *EstimatorError) Error() string {
	var named *api.InvalidError
	if errors.As(e.Err, &named) && named.Object == "cluster "+e.Cluster {
		return "estimator " + e.Estimator + ": " + e.Err.Error()
	}
	return "estimator " + e.Estimator + ": cluster " + e.Cluster + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *EstimatorError) Unwrap() error { return e.Err }

var errOutOfRange = errors.New("must be 0 to 2147483647")

// Combine asks every estimator about a cluster and returns the smallest
// estimate. Estimators without an opinion, and those that fail, are left out;
// an estimate outside of 0 to [MaxReplicas] counts as a failure.
//
// Source: Karmada 1.13, calAvailableReplicas.
//
// Differs: a failure concerns one cluster. Karmada drops all answers of an
// estimator that fails for a single cluster. Where no estimator has an opinion
// Karmada takes the replicas asked for; here that is left to the caller.
func Combine(estimators []ClusterEstimator, cluster *api.Cluster, replica *Replica) Combined {
	c := Combined{Cluster: clusterName(cluster), Estimate: Estimate{NoOpinion: true}}
	if cluster == nil {
		c.Err = errNilCluster
		return c
	}
	var failed []error
	for i, e := range estimators {
		if e == nil {
			failed = append(failed, &api.InvalidError{Object: "cluster " + cluster.Name, Field: fmt.Sprintf("estimators[%d]", i), Value: "null", Err: errNil})
			continue
		}
		answer, err := e.Estimate(cluster, replica)
		if err == nil && !answer.NoOpinion && (answer.Replicas < 0 || answer.Replicas > MaxReplicas) {
			err = &api.InvalidError{Field: "estimate", Value: fmt.Sprint(answer.Replicas), Err: errOutOfRange}
		}
		switch {
		case err != nil:
			failed = append(failed, &EstimatorError{Estimator: e.Name(), Cluster: cluster.Name, Err: err})
		case answer.NoOpinion:
		case c.NoOpinion || answer.Replicas < c.Replicas:
			c.Estimate, c.By = answer, e.Name()
		}
	}
	c.Err = errors.Join(failed...)
	return c
}
