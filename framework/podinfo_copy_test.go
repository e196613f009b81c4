package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestNamed checks that a replica equals a PodInfo derived from the renamed object.
func TestNamed(t *testing.T) {
	for seed := range uint64(40) {
		s, pending, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pending {
			got, err := p.Named("other")
			if err != nil {
				t.Fatal(err)
			}
			pod := *p.Pod
			pod.Name, pod.UID = "other", ""
			want, err := s.NewPodInfo(&pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(framework.PodInfo{}), cmp.AllowUnexported()); diff != "" {
				t.Errorf("Named (-want +got):\n%s", diff)
			}
			if got.ClassKey(framework.FieldsAll) != want.ClassKey(framework.FieldsAll) || got.Schema() != want.Schema() {
				t.Errorf("the class keys of %s differ", p.Pod.Key())
			}
			if got.HasPodAffinity() != want.HasPodAffinity() || got.HasSpread() != want.HasSpread() || got.HasVolumes() != want.HasVolumes() || got.IsNominated() != want.IsNominated() {
				t.Errorf("the parts of %s differ", p.Pod.Key())
			}
			if _, err := p.Named(""); err == nil {
				t.Error("Named accepts an empty name")
			}
		}
	}
}
