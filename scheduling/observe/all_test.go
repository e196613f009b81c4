package observe_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
)

// evictions are the victims that an observer is told of.
type evictions struct{ names []string }

func (*evictions) Attempt(*lifecycle.Attempt)      {}
func (e *evictions) Evicting(v lifecycle.Eviction) { e.names = append(e.names, v.Victim.Name) }

// onlyScores is an observer of scores.
type onlyScores struct{ lifecycle.ScoreObserver }

func (onlyScores) Attempt(*lifecycle.Attempt) {}

// TestAllPassesEvictionsOn: whatever else the observers want to know, those of evictions learn of them.
func TestAllPassesEvictionsOn(t *testing.T) {
	for _, beside := range []lifecycle.Observer{nil, observe.NewMetrics(), onlyScores{}} {
		seen := &evictions{}
		o, ok := observe.All(beside, seen).(lifecycle.EvictionObserver)
		if !ok {
			t.Fatalf("beside %T: evictions are not observed", beside)
		}
		o.Evicting(lifecycle.Eviction{Victim: api.MakePod("victim").Obj(), Node: "n"})
		if len(seen.names) != 1 {
			t.Errorf("beside %T: told of %v", beside, seen.names)
		}
	}
}
