package volumes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// keyOf returns the key of a pod that mounts claims of these names. They wait for the pod, and have selected a node of
// that name.
func keyOf(t *testing.T, node string, mounts ...string) string {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}
	if err := framework.Put(s, class); err != nil {
		t.Fatal(err)
	}
	pod := api.MakePod("pod")
	for _, name := range mounts {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{api.AnnSelectedNode: node}}}
		c.Spec.StorageClassName = new("csi")
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
		pod = pod.Claim(name)
	}
	p, err := s.NewPodInfo(pod.Obj())
	if err != nil {
		t.Fatal(err)
	}
	return string(volumes.AppendBindingKey(nil, s, p))
}

// A claim that is mounted again takes a few bytes, whatever it says, and is not taken for another.
func TestKeyOfMounts(t *testing.T) {
	long := strings.Repeat("n", 1000)
	names := []string{"a"}
	for range 500 {
		names = append(names, "a", "b")
	}
	if key := keyOf(t, long, names...); len(key) > 5000 {
		t.Errorf("the key has %d bytes for 2 claims of 1,000", len(key))
	}
	known := map[string]string{}
	for _, mounts := range []string{"a", "a a", "a b", "a b a", "a b b", "a a b", "a b c", "a a a"} {
		key := keyOf(t, "n", strings.Fields(mounts)...)
		if other, ok := known[key]; ok {
			t.Errorf("%s and %s have one key", mounts, other)
		}
		known[key] = mounts
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint("c", i))
	}
	if keyOf(t, "n", append(many, "c98")...) == keyOf(t, "n", append(many, "c99")...) {
		t.Error("of 100 claims, the last two are taken for each other")
	}
}
