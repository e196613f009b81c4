package estimator

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// An Estimator predicts what a pod will use and what a node can bear. It is
// asked once per object, so its answers must depend on the object alone, and
// it may be called by several goroutines at once.
type Estimator interface {
	// EstimatePod returns the expected use by resource: cpu in thousandths,
	// everything else in whole units. An error means that nothing is known: the
	// pod then counts as using nothing, and scores are 0.
	EstimatePod(p *api.Pod) (map[resource.Name]int64, error)
	// EstimateNode returns what the node can give. After an error the filter
	// lets the node pass, and its score is 0.
	EstimateNode(n *api.Node) (resource.List, error)
}

// A PodReader is an Estimator that says which parts of a pod EstimatePod reads,
// so that pods equal in these are decided as one class. Without it every pod is
// a class of its own.
type PodReader interface {
	PodReads() framework.PodFields
}

// DefaultEstimatorName is the name of [DefaultEstimator] in configurations.
const DefaultEstimatorName = "defaultEstimator"

// Estimators is a set of estimators by the name that configurations use. A
// value makes the estimator for a configuration. It is not global: whoever
// builds a scheduler brings its own, usually [KnownEstimators] with additions.
type Estimators map[string]func(LoadConfig) (Estimator, error)

// KnownEstimators returns the estimators of Koordinator: [DefaultEstimator].
// Every call makes a new set.
func KnownEstimators() Estimators {
	return Estimators{
		DefaultEstimatorName: func(c LoadConfig) (Estimator, error) { return NewDefaultEstimator(c), nil },
	}
}

// New makes the estimator of that name for a configuration; "" stands for
// [DefaultEstimatorName], which is known even if e does not list it. An unknown
// name is an error that lists the known ones, and so is an estimator that is nil.
//
// Differs: Koordinator takes the default estimator for a name that it does not
// know. [Estimators.OrDefault] does so too.
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

// OrDefault makes the estimator of that name, and for an unknown name the
// default one, as Koordinator does.
func (e Estimators) OrDefault(name string, c LoadConfig) (Estimator, error) {
	if _, ok := e[name]; !ok {
		name = DefaultEstimatorName
	}
	return e.New(name, c)
}
