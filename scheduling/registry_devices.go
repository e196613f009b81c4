package scheduling

import (
	"fmt"
	"math"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scoring"
)

// dynamicResources registers DynamicResources. It has a handle for PreEnqueue, and
// scores since 1.36.
func dynamicResources(scores bool) Registration {
	parts := func(f filter.DynamicResources) Combined {
		if !scores {
			return Combined{f}
		}
		return Combined{f, scoring.DynamicResources{BindingTimeout: f.BindingTimeout, MaxSteps: f.MaxSteps, Choice: f.Choice}}
	}
	return Registration{
		Like: parts(filter.DynamicResources{}),
		Args: decodeInto[args.DynamicResources],
		New: func(decoded any, h framework.Handle) (framework.Plugin, error) {
			a, ok := decoded.(*args.DynamicResources)
			if !ok {
				return nil, fmt.Errorf("got args of type %T, want %T", decoded, a)
			}
			return parts(filter.DynamicResources{
				BindingTimeout: a.BindingTimeout.Duration, MaxSteps: stepsIn(a.FilterTimeout.Duration), Handle: h,
			}), nil
		},
	}
}

// stepsIn turns kube-scheduler's limit of time into one of steps: the default stands for
// 10 s, and 0 for no limit.
func stepsIn(timeout time.Duration) int {
	const usual = 10 * time.Second
	if timeout == 0 {
		return math.MaxInt
	}
	return max(1, int(min(float64(timeout)/float64(usual)*devices.DefaultSteps, math.MaxInt32)))
}
