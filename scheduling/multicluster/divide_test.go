package multicluster_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/scheduling/multicluster"
)

func candidates(pairs ...any) []multicluster.Candidate {
	var out []multicluster.Candidate
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, multicluster.Candidate{Name: pairs[i].(string), Available: int64(pairs[i+1].(int))})
	}
	return out
}

func TestDivide(t *testing.T) {
	three := candidates("m1", 6, "m2", 12, "m3", 18)
	for _, c := range []struct {
		name       string
		demand     multicluster.Demand
		candidates []multicluster.Candidate
		step       multicluster.Step
		want       []multicluster.Target
		err        string
	}{
		{name: "no clusters", demand: multicluster.Demand{Replicas: 1}, err: "no clusters available to schedule"},
		{
			name: "no replicas", demand: multicluster.Demand{Strategy: multicluster.Aggregated}, candidates: three,
			step: multicluster.StepNone, want: targets("m1", 0, "m2", 0, "m3", 0),
		},
		{
			name: "duplicated", demand: multicluster.Demand{Replicas: 7}, candidates: three,
			step: multicluster.StepDuplicated, want: targets("m1", 7, "m2", 7, "m3", 7),
		},
		{
			name: "static, no weights", demand: multicluster.Demand{Replicas: 7, Strategy: multicluster.StaticWeight}, candidates: three,
			step: multicluster.StepStatic, want: targets("m1", 3, "m2", 2, "m3", 2),
		},
		{
			name: "dynamic", demand: multicluster.Demand{Replicas: 12, Strategy: multicluster.DynamicWeight}, candidates: three,
			step: multicluster.StepScaleUp, want: targets("m1", 2, "m2", 4, "m3", 6),
		},
		{
			name: "aggregated", demand: multicluster.Demand{Replicas: 20, Strategy: multicluster.Aggregated}, candidates: three,
			step: multicluster.StepScaleUp, want: targets("m2", 8, "m3", 12),
		},
		{
			name: "too many", demand: multicluster.Demand{Replicas: 40, Strategy: multicluster.DynamicWeight}, candidates: three,
			err: "failed to scale up: Clusters available replicas 36 are not enough to schedule.",
		},
		{
			name:   "too many anew",
			demand: multicluster.Demand{Replicas: 40, Strategy: multicluster.DynamicWeight, Fresh: true, Previous: targets("m1", 1)}, candidates: three,
			err: "failed to do fresh scale: Clusters available replicas 37 are not enough to schedule.",
		},
		{
			name:       "unchanged",
			demand:     multicluster.Demand{Replicas: 12, Strategy: multicluster.DynamicWeight, Previous: targets("m2", 4, "m1", 8, "m3", 0)},
			candidates: candidates("m1", 0, "m2", 0, "m3", 100), step: multicluster.StepUnchanged, want: targets("m1", 8, "m2", 4),
		},
		{
			name:       "up, to clusters that have some first",
			demand:     multicluster.Demand{Replicas: 14, Strategy: multicluster.Aggregated, Previous: targets("m1", 4, "m2", 4)},
			candidates: candidates("m1", 0, "m2", 6, "m3", 100), step: multicluster.StepScaleUp, want: targets("m1", 4, "m2", 10),
		},
		{
			name:       "down, in proportion",
			demand:     multicluster.Demand{Replicas: 6, Strategy: multicluster.DynamicWeight, Previous: targets("m1", 8, "m2", 4)},
			candidates: candidates("m1", 0, "m2", 0), step: multicluster.StepScaleDown, want: targets("m1", 4, "m2", 2),
		},
		{
			name:       "down from more than an int64 can say",
			demand:     multicluster.Demand{Replicas: math.MaxInt64, Strategy: multicluster.DynamicWeight, Previous: targets("m1", math.MaxInt64, "m2", math.MaxInt64)},
			candidates: candidates("m1", 0, "m2", 0), err: `cluster m2: weight: "9223372036854775807": the sum of the weights exceeds 2^63-1`,
		},
		{
			name:       "down, nothing for a cluster that is gone",
			demand:     multicluster.Demand{Replicas: 5, Strategy: multicluster.DynamicWeight, Previous: targets("m1", 8, "x", 2), Method: multicluster.Floor},
			candidates: candidates("m1", 0), step: multicluster.StepScaleDown, want: targets("m1", 5),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := multicluster.Divide(c.demand, c.candidates)
			if err != nil || c.err != "" {
				if fmt.Sprint(err) != c.err {
					t.Errorf("Divide: %v, want %s", err, c.err)
				}
				return
			}
			if got.Step != c.step {
				t.Errorf("Step = %s, want %s", got.Step, c.step)
			}
			if diff := cmp.Diff(c.want, got.Targets); diff != "" {
				t.Errorf("Targets differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDivideErrors(t *testing.T) {
	for _, c := range []struct {
		name       string
		demand     multicluster.Demand
		candidates []multicluster.Candidate
		want       string
	}{
		{"replicas", multicluster.Demand{Replicas: -1}, nil, `replicas: "-1": must not be negative`},
		{"strategy", multicluster.Demand{Strategy: 9}, nil, `strategy: "Strategy(9)": unknown strategy`},
		{"method", multicluster.Demand{Method: 9}, nil, `method: "Method(9)": unknown method`},
		{"available", multicluster.Demand{}, candidates("m", -1), `cluster m: available: "-1": must not be negative`},
		{"weight", multicluster.Demand{}, []multicluster.Candidate{{Name: "m", Weight: -1}}, `cluster m: weight: "-1": must not be negative`},
		{"twice", multicluster.Demand{}, candidates("m", 1, "m", 1), `cluster m: name: "m": the cluster is named twice`},
		{"previous", multicluster.Demand{Previous: targets("m", -1)}, nil, `cluster m: previous: "-1": must not be negative`},
		{"previous twice", multicluster.Demand{Previous: targets("m", 1, "m", 1)}, nil, `cluster m: previous: "1": the cluster is named twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := multicluster.Divide(c.demand, c.candidates); fmt.Sprint(err) != c.want {
				t.Errorf("Divide: %v, want %s", err, c.want)
			}
		})
	}
}

// A division sums to the request. With the dynamic strategies, nothing exceeds what
// a cluster can take, scaling up removes nothing, scaling down adds nothing, and the
// division fails exactly when there is not enough.
func TestDivideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var from []multicluster.Candidate
		d := multicluster.Demand{
			Replicas: rapid.Int64Range(1, 60).Draw(t, "replicas"),
			Strategy: rapid.SampledFrom([]multicluster.Strategy{multicluster.StaticWeight, multicluster.DynamicWeight, multicluster.Aggregated}).Draw(t, "strategy"),
			Method:   rapid.SampledFrom([]multicluster.Method{multicluster.Webster, multicluster.Floor}).Draw(t, "method"),
			Ties:     multicluster.NameOrder(rapid.Bool().Draw(t, "descending")),
			Fresh:    rapid.Bool().Draw(t, "fresh"),
		}
		room := int64(0)
		has := map[string]int64{}
		for i := range rapid.IntRange(1, 7).Draw(t, "clusters") {
			c := multicluster.Candidate{
				Name: fmt.Sprint("m", i), Available: rapid.Int64Range(0, 25).Draw(t, "available"), Weight: rapid.Int64Range(0, 3).Draw(t, "weight"),
				Rank: rapid.IntRange(0, 2).Draw(t, "rank"), Tier: rapid.IntRange(0, 1).Draw(t, "tier"),
			}
			from = append(from, c)
			room += c.Available
			if rapid.Bool().Draw(t, "has some") {
				has[c.Name] = rapid.Int64Range(0, 20).Draw(t, "has")
				d.Previous = append(d.Previous, multicluster.Target{Name: c.Name, Replicas: has[c.Name]})
			}
		}
		var have int64
		for _, n := range has {
			have += n
		}
		if rapid.Bool().Draw(t, "one is gone") {
			d.Previous = append(d.Previous, multicluster.Target{Name: "gone", Replicas: 9})
		}
		got, err := multicluster.Divide(d, from)
		dynamic := d.Strategy != multicluster.StaticWeight
		enough := !dynamic || have+room >= d.Replicas
		var short *multicluster.ShortageError
		if errors.As(err, &short) != !enough {
			t.Fatalf("error %v with room for %d beside %d, wanted %d", err, room, have, d.Replicas)
		}
		if !enough {
			return
		}
		var sum int64
		for _, x := range got.Targets {
			sum += x.Replicas
			i := slices.IndexFunc(from, func(c multicluster.Candidate) bool { return c.Name == x.Name })
			if i < 0 {
				t.Fatalf("%s is no candidate", x.Name)
			}
			if dynamic && x.Replicas > from[i].Available+has[x.Name] {
				t.Fatalf("%s has %d and can take %d more, gets %d", x.Name, has[x.Name], from[i].Available, x.Replicas)
			}
			if got.Step == multicluster.StepScaleDown && x.Replicas > has[x.Name] {
				t.Fatalf("scaling down gives %s %d, it had %d", x.Name, x.Replicas, has[x.Name])
			}
		}
		if sum != d.Replicas {
			t.Fatalf("%d replicas given out, want %d", sum, d.Replicas)
		}
		if got.Step == multicluster.StepScaleUp {
			for name, n := range has {
				i := slices.IndexFunc(got.Targets, func(x multicluster.Target) bool { return x.Name == name })
				if n > 0 && (i < 0 || got.Targets[i].Replicas < n) {
					t.Fatalf("scaling up takes replicas from %s", name)
				}
			}
		}
		d.Previous = rapid.Permutation(d.Previous).Draw(t, "previous")
		again, err := multicluster.Divide(d, rapid.Permutation(from).Draw(t, "permuted"))
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("the order of the candidates, or of what was before, matters: %v\n%s", err, diff)
		}
	})
}

// If clusters can take equally many, the smaller rank comes first, then the smaller
// name, whatever the order of the candidates.
func TestDivideByRank(t *testing.T) {
	d := multicluster.Demand{Replicas: 3, Strategy: multicluster.Aggregated}
	for _, c := range []struct {
		name       string
		candidates []multicluster.Candidate
		want       []multicluster.Target
	}{
		{"by name", candidates("a", 5, "b", 5), targets("a", 3)},
		{"by name, backwards", candidates("b", 5, "a", 5), targets("a", 3)},
		{"by rank", []multicluster.Candidate{{Name: "a", Available: 5, Rank: 1}, {Name: "b", Available: 5}}, targets("b", 3)},
		{"by room before rank", []multicluster.Candidate{{Name: "a", Available: 6, Rank: 1}, {Name: "b", Available: 5}}, targets("a", 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := multicluster.Divide(d, c.candidates)
			if diff := cmp.Diff(c.want, got.Targets); err != nil || diff != "" {
				t.Errorf("Divide: %v; Targets differ (-want +got):\n%s", err, diff)
			}
		})
	}
}
