package volumes_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// The claim of an ephemeral volume is made once, for the default class if its template has none, and goes
// with its volume. Classes stay as they are.
func TestMadeClaims(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "fast", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "csi.example.com"}
	atOnce := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "now"}, Provisioner: "csi.example.com", VolumeBindingMode: new(api.VolumeBindingImmediate)}
	for _, c := range []*api.StorageClass{class, atOnce} {
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
	}
	p := api.MakePod("web").UID("u").Obj()
	for _, v := range []struct{ name, class string }{{"a", ""}, {"b", "now"}} {
		template := &api.PersistentVolumeClaimTemplate{}
		if v.class != "" {
			template.Spec.StorageClassName = &v.class
		}
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: v.name, VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{VolumeClaimTemplate: template}}})
	}
	for _, want := range []int{2, 0} {
		if made, err := volumes.MakeClaims(s, p); err != nil || made != want {
			t.Fatalf("%d claims, %v; want %d", made, err, want)
		}
	}
	a, b := framework.Lookup[api.PersistentVolumeClaim](s, "default/web-a"), framework.Lookup[api.PersistentVolumeClaim](s, "default/web-b")
	if a == nil || a.Spec.StorageClassName == nil || *a.Spec.StorageClassName != "fast" || a.Spec.VolumeName != "" || volumes.CheckOwner(p, a) != nil {
		t.Errorf("the claim of the default class: %+v", a)
	}
	if b == nil || !volumes.IsBound(b) || framework.Lookup[api.PersistentVolume](s, b.Spec.VolumeName) == nil {
		t.Errorf("the claim of a class that provisions at once: %+v", b)
	}
	if class.VolumeBindingMode != nil {
		t.Error("a class has changed")
	}
	other := api.MakePod("web").UID("other").Obj()
	other.Spec.Volumes = p.Spec.Volumes
	if volumes.DropClaims(s, other); framework.Lookup[api.PersistentVolumeClaim](s, "default/web-a") == nil {
		t.Error("a claim went with a pod that does not own it")
	}
	volumes.DropClaims(s, p)
	if n := len(framework.List[api.PersistentVolumeClaim](s)) + len(framework.List[api.PersistentVolume](s)); n != 0 {
		t.Errorf("%d claims and volumes are left", n)
	}
}
