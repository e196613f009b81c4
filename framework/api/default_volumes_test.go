package api_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// Volumes of Ceph get the default pool in a list of their own, which is copied once.
func TestDefaultPools(t *testing.T) {
	const n = 100
	given := api.MakePod("p").Obj()
	for i := range n {
		var v api.Volume
		v.Name, v.RBD = fmt.Sprint("v", i), &api.RBDVolumeSource{RBDImage: "i"}
		given.Spec.Volumes = append(given.Spec.Volumes, v)
	}
	var made *api.Pod
	allocations := testing.AllocsPerRun(10, func() {
		p := *given
		made = &p
		if err := api.DefaultPod(made, nil); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > n+20 {
		t.Errorf("%.0f allocations for %d volumes", allocations, n)
	}
	for i := range n {
		if got, was := made.Spec.Volumes[i].RBD.RBDPool, given.Spec.Volumes[i].RBD.RBDPool; got != "rbd" || was != "" {
			t.Fatalf("volume %d has pool %q, and the given one %q", i, got, was)
		}
	}
}
