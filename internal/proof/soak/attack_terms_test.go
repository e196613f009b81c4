package soak

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestAttackTermsOfEverNewKeys measures one attempt for a pod with 50 preferred terms of
// topology keys that no node has, beside pods like it: with n pods, all attempts take time
// that grows with n squared, and each term about 1 µs.
func TestAttackTermsOfEverNewKeys(t *testing.T) {
	w, err := newTown()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 801 {
		b := hpod(i)
		for k := range 50 {
			b = b.PreferPodAntiAffinity(1, fmt.Sprint("key", i, "-", k), "app")
		}
		p := api.Clone(b.Labels("app", "x").Obj())
		inAllNamespaces(p)
		w.d.Apply(lifecycle.Update(p))
		began := time.Now()
		w.d.ScheduleOne(context.Background())
		took := time.Since(began)
		if i%100 == 0 {
			t.Logf("attempt beside %d terms of others: %v", 50*i, took)
		}
		if i%200 == 0 {
			for _, unique := range []bool{false, true} {
				began := time.Now()
				for k := range 50 {
					b := api.MakePod(fmt.Sprint("innocent-", unique, i, "-", k)).Namespace("innocent").Labels("app", "a").Requests("10m", "1Mi")
					if unique {
						b = b.Labels("app", "a", "statefulset.kubernetes.io/pod-name", fmt.Sprint("a-", i, "-", k))
					}
					w.d.Apply(lifecycle.Update(b.Obj()))
					w.d.ScheduleOne(context.Background())
				}
				t.Logf("  innocent pods, each with a label of its own: %v: %v for each", unique, time.Since(began)/50)
			}
		}
		if i == 800 && took > 20*time.Millisecond {
			t.Errorf("one attempt takes %v", took)
		}
	}
}
