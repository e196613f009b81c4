//go:build full

package volumes

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// diskPod is a pod that mounts n disks, each twice, from a number on.
func diskPod(t testing.TB, s *framework.Snapshot, name string, from, n int) *framework.PodInfo {
	t.Helper()
	p := api.MakePod(name).Obj()
	for i := range 2 * n {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: fmt.Sprint("vol-", from+i%n)}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	info, err := s.NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestManyDisks counts the disks of pods that share half of them, few and many.
func TestManyDisks(t *testing.T) {
	for _, n := range []int{2, fewDistinct, fewDistinct + 2, 1000} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if err := s.AddPod(diskPod(t, s, fmt.Sprint("p", i), i*n/2, n), "n"); err != nil {
				t.Fatal(err)
			}
		}
		added, err := EBSDisks.Append(nil, s, diskPod(t, s, "q", n, n))
		if err != nil || len(added) != n {
			t.Fatalf("%d disks, %v, want %d", len(added), err, n)
		}
		there, more, err := EBSDisks.Count(s, s.Node("n"), added)
		if there != int64(n+n/2) || more != int64(n/2) || err != nil {
			t.Errorf("%d disks: %d there, %d more, %v, want %d and %d", n, there, more, err, n+n/2, n/2)
		}
	}
}

// A set of disks has each once. If it has many, it finds them in a map.
func TestDistinct(t *testing.T) {
	var s distinct[Disk]
	for i := range 3 * fewDistinct {
		d := Disk{id: fmt.Sprint("vol-", i)}
		if s.has(d) {
			t.Errorf("%v is there before it was added", d)
		}
		if s = s.with(d); !s.has(d) || len(s.list) != i+1 {
			t.Errorf("%v was added, and there is: %t; %d disks", d, s.has(d), len(s.list))
		}
		if (s.known != nil) != (i >= fewDistinct) || s.known != nil && len(s.known) != len(s.list) {
			t.Errorf("the map of %d disks has %d", len(s.list), len(s.known))
		}
	}
}

// TestManyHeld: each object is held once, however many there are.
func TestManyHeld(t *testing.T) {
	objects := make([]api.PersistentVolume, 3*fewDistinct)
	h := distinct[held]{}
	for range 2 {
		for i := range objects {
			h = h.with(held{volume: &objects[i]})
		}
	}
	if len(h.list) != len(objects) {
		t.Errorf("%d objects are held, want %d", len(h.list), len(objects))
	}
}

// BenchmarkManyDisks counts the disks of a pod with ever more of them. The time for each
// disk must not grow.
func BenchmarkManyDisks(b *testing.B) {
	for _, n := range []int{500, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := framework.NewSnapshot(framework.Arrival)
			node := api.MakeNode("n", "4", "8Gi").Resource("pods", "10").Obj()
			node.Status.Allocatable["pods"] = resource.MustParse("10")
			if err := s.AddNode(node); err != nil {
				b.Fatal(err)
			}
			p := diskPod(b, s, "p", 0, n)
			if err := s.AddPod(p, "n"); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				added, err := EBSDisks.Append(nil, s, p)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := EBSDisks.Count(s, s.Node("n"), added); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/disk")
		})
	}
}
