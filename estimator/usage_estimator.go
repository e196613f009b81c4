package estimator

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/resource"
)

// An Estimator predicts the use of a pod and the capacity of a node. It is called
// once per object, so its answers must depend on the object alone. Several
// goroutines may call it at once. A panic counts as an error.
type Estimator interface {
	// EstimatePod returns the expected use by resource: cpu in thousandths,
	// everything else in whole units. After an error the pod counts as using
	// nothing, and scores are 0.
	EstimatePod(p *api.Pod) (map[resource.Name]int64, error)
	// EstimateNode returns the capacity of the node. After an error the filter lets
	// the node pass, and its score is 0.
	EstimateNode(n *api.Node) (resource.List, error)
}

// asked returns what a method of the estimator answers; a panic is an error that names it.
func asked[T any](e Estimator, method string, call func() (T, error)) (answer T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("estimator %T: %s: panic: %v", e, method, v)
		}
	}()
	answer, err = call()
	return answer, errtext.Safe(err)
}

// A PodReader is an Estimator that declares which parts of a pod EstimatePod reads,
// so that pods equal in these parts form one equivalence class. Without it every
// pod is a class of its own.
type PodReader interface {
	PodReads() framework.PodFields
}

// DefaultEstimatorName is the name of [DefaultEstimator] in configurations.
const DefaultEstimatorName = "defaultEstimator"

// Estimators maps the names in configurations to functions that make an estimator
// for a configuration. It is not global: pass your own set to your scheduler,
// usually [KnownEstimators] with additions.
type Estimators map[string]func(LoadConfig) (Estimator, error)

// KnownEstimators returns a new set with the estimators of Koordinator:
// [DefaultEstimator].
func KnownEstimators() Estimators {
	return Estimators{
		DefaultEstimatorName: func(c LoadConfig) (Estimator, error) { return NewDefaultEstimator(c), nil },
	}
}

// New makes the estimator of that name for a configuration. "" means
// [DefaultEstimatorName], which is known even if e does not list it. An unknown
// name is an error that lists the known ones; a nil estimator is an error too.
//
// Differs: an unknown name.
// Original: Koordinator uses the default estimator.
// Here: it is an error.
// Switch: [Estimators.OrDefault].
func (e Estimators) New(name string, c LoadConfig) (Estimator, error) {
	if name == "" {
		name = DefaultEstimatorName
	}
	fail := func(err error) (Estimator, error) {
		return nil, &api.InvalidError{Object: loadAwareObject, Field: "estimator", Value: name, Err: err}
	}
	all := KnownEstimators()
	maps.Copy(all, e)
	make, ok := all[name]
	switch {
	case !ok:
		return fail(fmt.Errorf("unknown estimator, want one of %s", quoteList(slices.Sorted(maps.Keys(all))...)))
	case make == nil:
		return fail(errors.New("is registered without a function that makes it"))
	}
	made, err := make(c)
	if err == nil && made == nil {
		return fail(errors.New("the function registered for it made none: return an estimator or an error"))
	}
	return made, err
}

// OrDefault makes the estimator of that name or, like Koordinator, the default
// estimator if the name is unknown.
func (e Estimators) OrDefault(name string, c LoadConfig) (Estimator, error) {
	if _, ok := e[name]; !ok {
		name = DefaultEstimatorName
	}
	return e.New(name, c)
}
