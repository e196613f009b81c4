package karmada118

import (
	"math/rand/v2"
	"slices"

	"github.com/karmada-io/karmada/pkg/util/helper"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// Share divides n replicas by weight.
func Share(n int32, weights helper.ClusterWeightInfoList, uid types.UID) []multicluster.Target {
	d := helper.NewDispenser(n, nil, uid)
	d.AllocateByWeight(weights)
	return targets(d.Result)
}

func weights(r *rand.Rand) live.Outcome {
	n := int32(r.IntN(300))
	var theirs helper.ClusterWeightInfoList
	var ours []multicluster.Weight
	for i := range 1 + r.IntN(12) {
		w := int64(r.IntN(40))
		if random.Chance(r, 10) {
			w = r.Int64N(1 << 30)
		}
		theirs = append(theirs, helper.ClusterWeightInfo{ClusterName: random.Name(i), Weight: w})
		ours = append(ours, multicluster.Weight{Name: random.Name(i), Weight: w})
	}
	uid := random.UID(r)
	want := Share(n, theirs, uid)
	got, err := multicluster.Webster.Divide(int64(n), ours, nil, multicluster.NameOrderOf(api.UID(uid)))
	if err != nil {
		return live.Differ("Divide", want, err.Error(), ours)
	}
	if !slices.Equal(want, got) {
		return live.Differ("Divide", want, got, []any{n, ours, uid})
	}
	return live.Outcome{}
}
