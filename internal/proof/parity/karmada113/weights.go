package karmada

import (
	"cmp"
	"math/rand/v2"
	"slices"

	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/helper"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
)

func (v Version) weights(r *rand.Rand) live.Outcome {
	n := int32(r.IntN(200))
	switch {
	case random.Chance(r, 10) && v.RandomTies:
		n = r.Int32()
	case random.Chance(r, 3):
		n = r.Int32N(100_000) // one by one is slow
	}
	var theirs helper.ClusterWeightInfoList
	var ours []multicluster.Weight
	for i := range 1 + r.IntN(12) {
		w := int64(r.IntN(40))
		if random.Chance(r, 10) {
			w = r.Int64N(1 << 30)
		}
		last := int32(0)
		if random.Chance(r, 40) {
			last = int32(r.IntN(10))
		}
		theirs = append(theirs, helper.ClusterWeightInfo{ClusterName: random.Name(i), Weight: w, LastReplicas: last})
		ours = append(ours, multicluster.Weight{Name: random.Name(i), Weight: w, Previous: int64(last)})
	}
	var init []workv1.TargetCluster
	var held []multicluster.Target
	if random.Chance(r, 40) {
		for i := range r.IntN(5) {
			init = append(init, workv1.TargetCluster{Name: random.Name(2 * i), Replicas: int32(r.IntN(9))})
			held = append(held, multicluster.Target{Name: random.Name(2 * i), Replicas: int64(init[i].Replicas)})
		}
	}
	input := []any{n, ours, held}
	uid := random.UID(r)
	want := v.Share(n, theirs, init, uid)
	got, err := v.Scheduler.Method.Divide(int64(n), ours, held, multicluster.NameOrderOf(api.UID(uid)))
	if err != nil {
		return live.Differ("Divide", want, err.Error(), input)
	}
	return v.compareShares(targetsOf(want), got, ours, input)
}

func targetsOf(list []workv1.TargetCluster) []multicluster.Target {
	out := []multicluster.Target{}
	for _, t := range list {
		out = append(out, multicluster.Target{Name: t.Name, Replicas: int64(t.Replicas)})
	}
	slices.SortFunc(out, func(a, b multicluster.Target) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// compareShares compares results. If ties are random, several clusters with the same
// weight and the same previous replicas may differ in which of them gets one more.
func (v Version) compareShares(want, got []multicluster.Target, weights []multicluster.Weight, input any) live.Outcome {
	if slices.Equal(want, got) {
		return live.Outcome{}
	}
	if !v.RandomTies {
		return live.Differ("shares", want, got, input)
	}
	type class struct{ weight, previous int64 }
	of := map[string]class{}
	for _, w := range weights {
		of[w.Name] = class{w.Weight, w.Previous}
	}
	difference := map[class]int64{} // how many more berth gives
	for i, sign := range []int64{-1, 1} {
		for _, t := range [][]multicluster.Target{want, got}[i] {
			difference[of[t.Name]] += sign * t.Replicas
		}
	}
	has := func(list []multicluster.Target, name string) int64 {
		for _, t := range list {
			if t.Name == name {
				return t.Replicas
			}
		}
		return 0
	}
	for _, w := range weights {
		if d := has(want, w.Name) - has(got, w.Name); d < -1 || d > 1 {
			return live.Differ("shares", want, got, input)
		}
	}
	for _, d := range difference {
		if d != 0 {
			return live.Differ("shares", want, got, input)
		}
	}
	for _, t := range want {
		if _, ok := of[t.Name]; !ok && has(got, t.Name) != t.Replicas {
			return live.Differ("shares", want, got, input)
		}
	}
	return live.Outcome{Fault: "random tie"}
}
