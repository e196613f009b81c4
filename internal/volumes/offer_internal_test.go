//go:build full

package volumes

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Claims of one class read the capacities of the cluster once for all of them, however many a
// pod has, and each finds those that are large enough for it.
func TestClaimsShareCapacities(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	driver := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "csi"}}
	driver.Spec.StorageCapacity = new(true)
	err := errors.Join(framework.Put(s, driver), framework.Put(s, &api.StorageClass{
		ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "csi", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	}))
	const nodes = 8 // node n has room for a volume of n Gi
	for n := range nodes {
		c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", n), Namespace: "d"}, StorageClassName: "local"}
		c.NodeTopology = &api.LabelSelector{MatchLabels: map[string]string{"host": fmt.Sprint("n", n)}}
		c.Capacity = new(resource.MustParse(fmt.Sprint(n, "Gi")))
		err = errors.Join(err, framework.Put(s, c), s.AddNode(api.MakeNode(fmt.Sprint("n", n), "1", "1Gi").Labels("host", fmt.Sprint("n", n)).Obj()))
	}
	pod := api.MakePod("p").Obj()
	for i, size := range []string{"2Gi", "4Gi", "2Gi", ""} {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("pvc", i), Namespace: "default"}}
		if c.Spec.StorageClassName = new("local"); size != "" {
			c.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse(size)}
		}
		v := api.Volume{Name: c.Name}
		v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}
		pod.Spec.Volumes = append(pod.Spec.Volumes, v, v) // mounted twice
		err = errors.Join(err, framework.Put(s, c))
	}
	info, problem := s.NewPodInfo(pod)
	if err := errors.Join(err, problem); err != nil {
		t.Fatal(err)
	}
	var f Finder
	if status := f.Prepare(s, info); !status.IsSuccess() {
		t.Fatal(status)
	}
	for i := range f.waiting {
		if f.waiting[i].provision.offer != f.waiting[0].provision.offer {
			t.Errorf("claim %d of %d has another offer than the first", i, len(f.waiting))
		}
	}
	if len(f.waiting) != 8 {
		t.Errorf("%d claims wait, want 8", len(f.waiting))
	}
	for n := range nodes {
		found, reasons, err := f.Find(s.Node(fmt.Sprint("n", n)), Found{})
		if want := n >= 4; err != nil || (reasons == 0) != want {
			t.Errorf("node %d: reasons %d, %v; want that it has room: %t", n, reasons, err, want)
		}
		for _, p := range found.Provisions {
			_, asks := p.Claim.Spec.Resources.Requests[resource.Storage]
			if from := p.From; asks != (from != nil) || asks && from.Name != fmt.Sprint("c", n) {
				t.Errorf("node %d: claim %s gets its volume from %v", n, p.Claim.Name, from)
			}
		}
	}
}
