package estimator_test

import (
	"testing"

	"github.com/berth-sched/berth/estimator"
)

// TestDefaultEstimatorNil: nil objects are errors.
func TestDefaultEstimatorNil(t *testing.T) {
	e := estimator.NewDefaultEstimator(estimator.LoadConfig{})
	if _, err := e.EstimatePod(nil); err == nil || err.Error() != "pod: is nil" {
		t.Errorf("EstimatePod(nil): %v, want pod: is nil", err)
	}
	if _, err := e.EstimateNode(nil); err == nil || err.Error() != "node: is nil" {
		t.Errorf("EstimateNode(nil): %v, want node: is nil", err)
	}
}
