//go:build full

package estimator

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestStatistic(t *testing.T) {
	use := func(cpu int64) api.ResourceMap {
		return api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(cpu)})
	}
	period := func(minutes int, p50, p95 api.ResourceMap) api.AggregatedUsage {
		return api.AggregatedUsage{
			Duration: api.Duration{Duration: time.Duration(minutes) * time.Minute},
			Usage:    map[api.AggregationType]api.ResourceMap{api.P50: p50, api.P95: p95},
		}
	}
	empty := api.ResourceMap{}
	usual := []api.AggregatedUsage{period(5, use(5), use(50)), period(30, use(30), empty), period(10, use(10), use(100)), period(10, use(11), use(110))}
	const none = -1
	tests := []struct {
		name             string
		periods          []api.AggregatedUsage
		of               statistic
		by18, by16, by14 int64
	}{
		{"average", usual, statistic{}, 1, 1, 1},
		{"longest", usual, statistic{kind: api.P50}, 30, 30, 30},
		{"longest that has the kind", usual, statistic{kind: api.P95}, 110, 100, none},
		{"one of two", usual, statistic{api.P95, 10 * time.Minute}, 110, 100, 100},
		{"empty", usual, statistic{api.P95, 30 * time.Minute}, none, none, none},
		{"unknown period", usual, statistic{api.P95, time.Minute}, none, none, none},
		{"unknown kind", usual, statistic{kind: "p42"}, 1, 1, none},
		{"no periods", nil, statistic{kind: api.P50}, 1, none, none},
		{"no periods, one asked for", nil, statistic{api.P50, time.Minute}, none, none, none},
		{"of no duration", []api.AggregatedUsage{period(0, use(7), empty)}, statistic{kind: api.P50}, 7, 1, 7},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			info := &api.NodeMetricInfo{NodeUsage: use(1), AggregatedNodeUsages: test.periods}
			cpu := func(use api.ResourceMap, ok bool) int64 {
				if !ok {
					return none
				}
				return use.Quantity(resource.CPU).MilliValue()
			}
			if got := cpu(test.of.of(info)); got != test.by18 {
				t.Errorf("by 1.8: %d, want %d", got, test.by18)
			}
			for rules, want := range map[Rules]int64{Koordinator16: test.by16, Koordinator14: test.by14} {
				l := &Load{traits: rules.traits()}
				if got := cpu(l.legacyStatistic(test.of, info)); got != want {
					t.Errorf("by %s: %d, want %d", rules, got, want)
				}
			}
		})
	}
}
