package scheduling

import (
	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scoring"
)

// LoadAware registers Koordinator's LoadAwareScheduling, by the rules of a
// version and with the estimators that its arguments may name, so that
// Koordinator's configuration files can be used as they are:
//
//	err := r.Register("LoadAwareScheduling", scheduling.LoadAware(estimator.Koordinator18, estimator.KnownEstimators()))
//
// The plugin serves Reserve, too, since these files say so, and does nothing
// there: the ledger of pods that were placed and not yet measured is kept in the
// snapshot, which knows of every pod that comes and goes.
func LoadAware(rules estimator.Rules, known estimator.Estimators) Registration {
	return Registration{
		Like: Parts{filter.LoadAware{}, scoring.LoadAware{}, loadAwareReserve{}},
		Args: args.LoadAware(rules),
		New: func(decoded any, _ framework.Handle) (framework.Plugin, error) {
			load, err := decoded.(*args.LoadAwareScheduling).Load(known)
			if err != nil {
				return nil, err
			}
			return Parts{filter.LoadAware{Load: load}, scoring.LoadAware{Load: load}, loadAwareReserve{}}, nil
		},
	}
}

// loadAwareReserve stands at Reserve for the snapshot, which has counted the pod.
type loadAwareReserve struct{}

// Name implements [framework.Plugin].
func (loadAwareReserve) Name() string { return filter.LoadAware{}.Name() }

// Reserve implements [framework.ReservePlugin].
func (loadAwareReserve) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// Unreserve implements [framework.ReservePlugin].
func (loadAwareReserve) Unreserve(*framework.Cycle, *framework.NodeInfo) {}
