package capacity

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// A Combined is the combined answer of several estimators for one cluster.
type Combined struct {
	Cluster string `json:"cluster"`
	// Estimate is the smallest estimate, or NoOpinion if no estimator has an
	// opinion.
	Estimate
	// By names the estimator with that estimate, the first of several equal ones.
	By string `json:"by,omitempty"`
	// Err joins the errors of the estimators that failed for this cluster; each
	// names its estimator. The minimum does not include these estimators.
	Err error `json:"-"`
}

// An EstimatorError reports that an estimator failed for a cluster.
type EstimatorError struct {
	Estimator string
	Cluster   string
	Err       error
}

// Error returns "estimator X: cluster Y: " and the cause. If the cause names the
// cluster already, Error does not repeat it.
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

// Combine asks every estimator about a cluster and returns the smallest estimate.
// It ignores estimators that fail or have no opinion; an estimate outside of 0 to
// [MaxReplicas] counts as a failure.
//
// Source: Karmada 1.13, calAvailableReplicas.
//
// Differs: an estimator that fails for one cluster.
// Original: Karmada drops all answers of this estimator.
// Here: only its answer for this cluster is dropped.
// Why: one bad cluster must not hide the others.
//
// Differs: a cluster that no estimator knows.
// Original: Karmada takes the requested replicas.
// Here: the result says so, and the caller decides.
// Why: the estimators do not know the wanted replicas.
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
