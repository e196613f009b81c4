//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRenew checks, on random clusters, that a table and filters that are renewed for one
// pod and snapshot after the other answer like new ones.
func TestRenew(t *testing.T) {
	rejections, choices, failures := 0, 0, 0
	profile := scheduling.Kubernetes137()
	renewing, fresh := scheduler(profile), scheduler(profile)
	var table *scheduling.ScoreTable
	var filters *scheduling.Filtering
	for seed := range uint64(80) {
		s, waiting, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range waiting {
			renewing.Seek(fresh.Position())
			newFilters, wantErr := fresh.Filtering(s, pod)
			if filters == nil {
				filters, err = renewing.Filtering(s, pod)
			} else {
				err = filters.Renew(s, pod)
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d: Filtering.Renew: %v, want %v", seed, err, wantErr)
			}
			for _, n := range s.All() {
				if err != nil {
					break
				}
				want, err := newFilters.Rejections(n)
				got, gotErr := filters.Rejections(n)
				if fmt.Sprint(err) != fmt.Sprint(gotErr) {
					t.Fatalf("seed %d: Rejections: %v, want %v", seed, gotErr, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d, %s on %s (-want +got):\n%s", seed, pod.Pod.Key(), n.Name(), diff)
				}
				rejections += len(got)
			}
			newTable, wantErr := fresh.ScoreTable(s, pod)
			if table == nil {
				table, err = renewing.ScoreTable(s, pod)
			} else {
				err = table.Renew(s, pod)
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d: ScoreTable.Renew: %v, want %v", seed, err, wantErr)
			}
			if err != nil {
				failures++
				continue
			}
			if got, want := renewing.Position(), fresh.Position(); got != want {
				t.Fatalf("seed %d: position %v, want %v", seed, got, want)
			}
			other := fresh.Weights()
			for i := range other {
				other[i] = int64(i)
			}
			for _, weights := range [][]int64{fresh.Weights(), other} {
				want, wantErr := newTable.Choose(weights)
				got, gotErr := table.Choose(weights)
				if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
					t.Fatalf("seed %d: Choose: %v, want %v", seed, gotErr, wantErr)
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(scheduling.Decision{})); diff != "" {
					t.Fatalf("seed %d, %s, weights %v (-want +got):\n%s", seed, pod.Pod.Key(), weights, diff)
				}
				if gotErr == nil {
					choices++
				}
			}
			if diff := cmp.Diff(newTable.Plugins(), table.Plugins()); diff != "" {
				t.Fatalf("seed %d: Plugins (-want +got):\n%s", seed, diff)
			}
			for _, n := range s.All() {
				if diff := cmp.Diff(newTable.Scores(n.Name()), table.Scores(n.Name())); diff != "" {
					t.Fatalf("seed %d: Scores(%s) (-want +got):\n%s", seed, n.Name(), diff)
				}
			}
		}
	}
	t.Logf("%d rejections, %d choices, %d pods that cannot be decided about", rejections, choices, failures)
	if rejections < 200 || choices < 200 {
		t.Error("the test shows too little")
	}
	if err := table.Renew(nil, nil); err == nil {
		t.Error("ScoreTable.Renew(nil, nil) is no error")
	}
	if err := filters.Renew(nil, nil); err == nil {
		t.Error("Filtering.Renew(nil, nil) is no error")
	}
}
