//go:build full

package openb_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
)

// published returns the default trace and its published tables, which lie beside the
// checkout, or where BERTH_OPENB says.
func published(t testing.TB) (*openb.Trace, openb.Tables) {
	t.Helper()
	dir := os.Getenv("BERTH_OPENB")
	if dir == "" {
		dir = "../../../../shared/data/openb"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the OpenB trace is not there; name its directory in BERTH_OPENB")
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	const workload = "openb_pod_list_default"
	trace, err := openb.Read(workload, read("openb_node_list_gpu_node.csv"), read(workload+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := openb.ReadTables(os.DirFS(dir), workload)
	if err != nil {
		t.Fatal(err)
	}
	return trace, tables
}

// The seeds of the published tables.
const firstSeed, lastSeed = 42, 51

// seeds are those that tests run.
func seeds() (list []int64) {
	for seed := int64(firstSeed); seed <= lastSeed; seed++ {
		if effort.Full() || seed == firstSeed {
			list = append(list, seed)
		}
	}
	return list
}

// run runs one policy.
func run(t testing.TB, trace *openb.Trace, c openb.Config) *openb.Series {
	t.Helper()
	s, err := openb.Run(trace, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPublished compares every published figure: 3 tables of 131 columns, for 5 policies
// and 10 seeds.
func TestPublished(t *testing.T) {
	if testing.Short() {
		t.Skip("places ten thousand pods a run")
	}
	trace, tables := published(t)
	equal := 0
	for _, policy := range openb.Published() {
		if policy.IsRandom() {
			continue
		}
		for _, seed := range seeds() {
			want := tables[openb.Key{Policy: policy, Seed: seed}]
			if want == nil {
				t.Fatalf("%s, seed %d is not published", policy, seed)
			}
			e, different, first := run(t, trace, openb.Config{Policy: policy, Seed: seed}).Compare(want)
			if different > 0 {
				t.Errorf("%s, seed %d: %d of %d figures differ, the first is %s", policy, seed, different, e+different, first)
			}
			equal += e
		}
	}
	if want := 5 * len(seeds()) * 3 * openb.Columns; equal != want {
		t.Errorf("%d figures are equal, want %d", equal, want)
	}
}

// TestRandom compares the means of the policy that draws with the published ones. They may
// differ by two standard errors of their difference.
func TestRandom(t *testing.T) {
	if !effort.Full() || testing.Short() {
		t.Skip("needs all seeds")
	}
	trace, tables := published(t)
	var ours, theirs [openb.Columns][]float64
	for _, seed := range seeds() {
		got, want := run(t, trace, openb.Config{Policy: openb.Random, Seed: seed}), tables[openb.Key{Policy: openb.Random, Seed: seed}]
		for c := range ours {
			ours[c] = append(ours[c], got.Allocation[c])
			theirs[c] = append(theirs[c], want.Allocation[c])
		}
	}
	for _, c := range []int{80, 90, 100, 110, 120, 130} {
		a, b := openb.Summarize(ours[c]), openb.Summarize(theirs[c])
		limit := 2 * math.Sqrt((a.Deviation*a.Deviation+b.Deviation*b.Deviation)/float64(len(seeds())))
		if math.Abs(a.Mean-b.Mean) > limit {
			t.Errorf("Random at %d %%: %.3f, published %.3f: differ by more than %.3f", c, a.Mean, b.Mean, limit)
		}
		t.Logf("at %d %%: %.3f, published %.3f, two standard errors %.3f", c, a.Mean, b.Mean, limit)
	}
}

// TestArrivals checks how many pods the seeds make of the trace.
func TestArrivals(t *testing.T) {
	trace, _ := published(t)
	if len(trace.Typical) != 35 {
		t.Errorf("%d typical pods, want 35", len(trace.Typical))
	}
	for i, want := range []int{10866, 10793, 10863, 10813, 10814, 10831, 10805, 10835, 10766, 10859} {
		if got := len(trace.SequenceOf(int64(firstSeed + i)).Arrivals); got != want {
			t.Errorf("seed %d: %d pods come, want %d", firstSeed+i, got, want)
		}
	}
}

// verified is how many pods of the trace TestVerified places: all of them if BERTH_LONG is
// set.
func verified(pods int) int {
	switch {
	case os.Getenv("BERTH_LONG") != "":
		return pods
	case effort.Full():
		return min(pods, 2000)
	}
	return min(pods, 100)
}

// TestVerified makes the decisions of the trace on both paths, for each policy.
func TestVerified(t *testing.T) {
	if testing.Short() {
		t.Skip("takes both paths")
	}
	trace, _ := published(t)
	for _, policy := range openb.Policies() {
		r, err := openb.Prepare(trace, openb.Config{Policy: policy, Seed: firstSeed, Cache: scheduling.CacheConfig{Verify: true}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range verified(r.Len()) {
			if _, err := r.Place(i); err != nil && !errors.As(err, new(*scheduling.FitError)) {
				t.Fatalf("%s, pod %d: %v", policy, i, err)
			}
		}
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
	}
}
