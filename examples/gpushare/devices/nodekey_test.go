//go:build full

package devices_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// TestNodeKeys compares the scores of FGD on nodes with equal keys. The nodes are such that
// each thing in a key is all that tells some of them apart.
func TestNodeKeys(t *testing.T) {
	few, many := 0, 0 // nodes that have the key of another, by their GPUs
	for seed := range uint64(effort.Of(60, 600)) {
		r := rand.New(rand.NewPCG(seed, 21))
		gpus := devices.New(devices.Config{})
		s := crowded(t, r)
		for range 6 {
			c := new(framework.Cycle)
			c.Reset(sharing(t, s, r, "asks"), s, 0, 0)
			filter, status := devices.GPUShare{GPUs: gpus}.PreFilter(c)
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			bound, status := devices.FGD{GPUs: gpus, Workload: anyWorkload(t, r)}.PreScore(c, nil)
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			scorer := bound.(incremental.NodeKeyer)
			first := map[string]*framework.NodeInfo{}
			for _, n := range s.All() {
				if !filter.Filter.Filter(c.Pod, n).IsSuccess() {
					continue
				}
				key := string(scorer.AppendNodeKey(nil, c.Pod, n))
				switch other := first[key]; {
				case other == nil:
					first[key] = n
				case scorer.Score(c.Pod, n) != scorer.Score(c.Pod, other):
					t.Fatalf("seed %d: nodes of one key score %d and %d: %+v, %+v", seed, scorer.Score(c.Pod, n), scorer.Score(c.Pod, other), gpus.Free(s, n), gpus.Free(s, other))
				default:
					if gpus.Free(s, n).GPUs > 8 {
						many++
					} else {
						few++
					}
				}
			}
		}
	}
	if few < 100 || many < 100 {
		t.Errorf("%d nodes with few GPUs and %d with many have the key of another, want 100 each", few, many)
	}
}

// crowded makes nodes of few sorts, with pods on some.
func crowded(t *testing.T, r *rand.Rand) *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 60 {
		name := fmt.Sprint("n", i)
		n := api.MakeNode(name, one(r, "1", "2", "3", "4"), "64Gi").
			Resource(devices.Vendor+"/gpu-count", one(r, "1", "5", "6", "9")).Labels(devices.Vendor+"/gpu-card-model", one(r, "G2", "T4", "A10", "V100")).Obj()
		if err := s.AddNode(n); err != nil {
			t.Fatal(err)
		}
		for k := range r.IntN(3) {
			if err := s.AddPod(sharing(t, s, r, fmt.Sprint(name, "-", k)), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// sharing makes a pod that asks for a GPU or a part of one.
func sharing(t *testing.T, s *framework.Snapshot, r *rand.Rand, name string) *framework.PodInfo {
	p, err := s.NewPodInfo(api.MakePod(name).Requests(one(r, "0", "500m", "1"), "0").Annotations(devices.Vendor+"/gpu-milli", one(r, "300", "500", "1000")).Obj())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func anyWorkload(t *testing.T, r *rand.Rand) *devices.Workload {
	var typical []devices.Typical
	for range 4 {
		milli, err := strconv.ParseInt(one(r, "300", "500", "1000"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		d := asks(r.Int64N(4)*1000, 1+r.Int64N(2), milli)
		d.GPU.Models = one(r, "", "", "G2", "T4|V100")
		typical = append(typical, devices.Typical{Demand: d, Weight: 0.25})
	}
	w, err := devices.NewWorkload(typical)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func one(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }
