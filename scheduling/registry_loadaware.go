package scheduling

import (
	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scoring"
)

// RegisterLoadAware registers Koordinator's LoadAwareScheduling with the rules of a
// version and the estimators that its arguments may name. Koordinator's
// configuration files then work unchanged:
//
//	err := r.Register("LoadAwareScheduling", scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators()))
//
// Filter and score of a profile share one [estimator.Load], and the sums that the
// snapshot's [estimator.Ledger] keeps for it. Reserve enters the pod in that ledger,
// so the next decision counts it before any metric does. Unreserve takes it out
// again; see [estimator.Assigner].
func RegisterLoadAware(rules estimator.Rules, known estimator.Estimators) Registration {
	return Registration{
		Like: Combined{filter.LoadAware{}, scoring.LoadAware{}, estimator.Assigner{}},
		Args: args.LoadAware(rules),
		New: func(decoded any, _ framework.Handle) (framework.Plugin, error) {
			load, err := decoded.(*args.LoadAwareScheduling).Load(known)
			if err != nil {
				return nil, err
			}
			return Combined{filter.LoadAware{Load: load}, scoring.LoadAware{Load: load}, estimator.Assigner{}}, nil
		},
	}
}
