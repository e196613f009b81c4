package whatif_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

func TestRebalanceNegativeWeight(t *testing.T) {
	p, err := whatif.New(scheduling.Kubernetes137(), framework.NewSnapshot(0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Rebalance(whatif.RebalanceConfig{UseRequests: true, Weights: map[resource.Name]int64{"cpu": -1}})
	if want := `config: weights[cpu]: "-1": must not be negative`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
