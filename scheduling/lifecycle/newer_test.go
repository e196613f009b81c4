//go:build full

package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestRelistKeepsReservations: objects that are put again unchanged, as after a new list
// of an informer, do not undo what a pod has reserved, so two pods never get one volume.
func TestRelistKeepsReservations(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "8", "16Gi").Labels(api.LabelHostname, "n"))
	mode := api.VolumeBindingWaitForFirstConsumer
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "local", ResourceVersion: "10"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &mode}
	volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v", UID: "v", ResourceVersion: "11"}}
	volume.Spec.StorageClassName = "local"
	volume.Spec.Capacity = resource.List{resource.Storage: resource.MustParse("5Gi")}
	volume.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	volume.Status.Phase = api.VolumeAvailable
	claim := func(name string) *api.PersistentVolumeClaim {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID(name), ResourceVersion: "12"}}
		c.Spec.StorageClassName = new("local")
		c.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse("1Gi")}
		c.Spec.AccessModes = volume.Spec.AccessModes
		return c
	}
	pod := func(name string) *api.Pod {
		p := api.MakePod(name).Obj()
		p.Spec.Volumes = []api.Volume{{Name: "data"}}
		p.Spec.Volumes[0].PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
		return p
	}
	relist := func() {
		w.d.Apply(lifecycle.Update(class), lifecycle.Update(api.Clone(volume)), lifecycle.Update(claim("a")), lifecycle.Update(claim("b")))
	}
	relist()
	w.d.Apply(lifecycle.Update(pod("a")))
	if a := w.one(); a.State != lifecycle.Bound {
		t.Fatalf("pod a: %v, %v", a.State, a.Err)
	}
	relist()
	w.d.Apply(lifecycle.Update(pod("b")))
	if a := w.one(); a.State != lifecycle.Failed || !strings.Contains(a.Err.Error(), "didn't find available persistent volumes") {
		t.Errorf("pod b: %v, %v; it got a volume that is reserved for pod a", a.State, a.Err)
	}
	// A newer version ends the reservation.
	freed := api.Clone(volume)
	freed.ResourceVersion = "100"
	w.d.Apply(lifecycle.Update(freed))
	w.d.Flush(w.ctx)
	if got := framework.Lookup[api.PersistentVolume](w.d.Snapshot(), "v"); got != freed {
		t.Errorf("the volume has version %s, want 100", got.ResourceVersion)
	}
	w.noProblems()
}

// TestOlderVersions: what is not newer is ignored, for every kind; another object of the
// same name is never ignored.
func TestOlderVersions(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	node := func(uid, version string) *api.Node {
		n := api.MakeNode("n", "8", "16Gi").Labels("version", version).Obj()
		n.UID, n.ResourceVersion = api.UID(uid), version
		return n
	}
	space := func(uid, version string) *api.Namespace {
		return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "s", UID: api.UID(uid), ResourceVersion: version}}
	}
	pod := func(uid, version, on string) *api.Pod {
		p := api.MakePod("p").UID(api.UID(uid)).Obj()
		p.ResourceVersion, p.Spec.NodeName = version, on
		return p
	}
	for _, step := range []struct {
		uid, version string
		want         string
	}{
		{"a", "9", "9"},
		{"a", "10", "10"},
		{"a", "10", "10"},
		{"a", "9", "10"},
		{"a", "11", "11"},
		{"b", "3", "3"},
		{"b", "2", "3"},
		{"b", "", ""},
		{"b", "x", "x"},
		{"b", "4", "4"},
		{"b", "040", "040"},
	} {
		w.d.Apply(lifecycle.Update(node(step.uid, step.version)), lifecycle.Update(space(step.uid, step.version)))
		w.d.Flush(w.ctx)
		if got := w.d.Snapshot().Node("n").Node.ResourceVersion; got != step.want {
			t.Errorf("node %s of version %q: the driver has %q, want %q", step.uid, step.version, got, step.want)
		}
		if got := framework.Lookup[api.Namespace](w.d.Snapshot(), "s").ResourceVersion; got != step.want {
			t.Errorf("namespace %s of version %q: the driver has %q, want %q", step.uid, step.version, got, step.want)
		}
	}
	// An old version does not take a pod off its node.
	w.d.Apply(lifecycle.Update(pod("p", "20", "")), lifecycle.Update(pod("p", "21", "n")), lifecycle.Update(pod("p", "20", "")))
	w.d.Flush(w.ctx)
	w.wantOn("n", "p")
	w.d.Apply(lifecycle.Update(pod("q", "5", "")))
	w.d.Flush(w.ctx)
	w.wantOn("n")
	w.noProblems()
}

// TestMalformedSuccessor: a pod is gone once another has taken its name, or once it has ended, also if what comes
// is malformed.
func TestMalformedSuccessor(t *testing.T) {
	for _, c := range []struct {
		uid   api.UID
		phase api.PodPhase
		stays bool
	}{{"2", api.PodPending, false}, {"1", api.PodSucceeded, false}, {"1", api.PodRunning, true}} {
		w := newWorld(t, scheduling.Profile{})
		w.nodes(api.MakeNode("n", "8", "16Gi"))
		w.d.Apply(lifecycle.Update(api.MakePod("p").UID("1").Requests("3", "1Gi").Node("n").Obj()))
		w.d.Flush(w.ctx)
		w.wantOn("n", "p")
		bad := api.MakePod("p").UID(c.uid).Requests("-3", "1Gi").Node("n").Obj()
		bad.Status.Phase = c.phase
		w.d.Apply(lifecycle.Update(bad))
		w.d.Flush(w.ctx)
		if len(w.problems) != 1 {
			t.Errorf("%+v: %d errors, want one about the malformed pod", c, len(w.problems))
		}
		if on := len(w.d.Snapshot().Node("n").Pods) > 0; on != c.stays {
			t.Errorf("%+v: the first pod is on its node: %t", c, on)
		}
	}
}

// TestMalformedNode: a node is gone once another has taken its name, also if that is malformed. Otherwise the
// version before stays.
func TestMalformedNode(t *testing.T) {
	for uid, stays := range map[api.UID]bool{"1": true, "2": false, "": true} {
		w := newWorld(t, scheduling.Profile{})
		node := func(uid api.UID, cpu string) *api.Node {
			n := api.MakeNode("n", cpu, "16Gi").Obj()
			n.UID = uid
			return n
		}
		w.nodes(api.MakeNode("other", "1", "1Gi"))
		w.d.Apply(lifecycle.Update(node("1", "8")), lifecycle.Update(api.MakePod("p").Requests("3", "1Gi").Node("n").Obj()))
		w.d.Apply(lifecycle.Update(node(uid, "-8")))
		w.d.Flush(w.ctx)
		if len(w.problems) != 1 {
			t.Errorf("UID %q: %d errors, want one about the malformed node", uid, len(w.problems))
		}
		if is := w.d.Snapshot().Node("n") != nil; is != stays {
			t.Errorf("UID %q: the first node is there: %t", uid, is)
		}
		w.d.Apply(lifecycle.Update(node("2", "4")))
		w.d.Flush(w.ctx)
		w.wantOn("n", "p")
	}
}

// TestDeleteOfAnother: the late deletion of an object does not delete its successor.
func TestDeleteOfAnother(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	node := func(uid string) *api.Node {
		n := api.MakeNode("n", "8", "16Gi").Obj()
		n.UID = api.UID(uid)
		return n
	}
	space := func(uid string) *api.Namespace {
		return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "s", UID: api.UID(uid)}}
	}
	w.d.Apply(lifecycle.Update(node("new")), lifecycle.Update(space("new")), lifecycle.Delete(node("old")), lifecycle.Delete(space("old")))
	w.d.Flush(w.ctx)
	if w.d.Snapshot().Node("n") == nil || framework.Lookup[api.Namespace](w.d.Snapshot(), "s") == nil {
		t.Error("the deletion of an earlier object has deleted its successor")
	}
	w.d.Apply(lifecycle.Delete(node("")), lifecycle.Delete(space("new")))
	w.d.Flush(w.ctx)
	if w.d.Snapshot().Node("n") != nil || framework.Lookup[api.Namespace](w.d.Snapshot(), "s") != nil {
		t.Error("the deletion did nothing")
	}
}

// TestKnownVersionAfterExpiry: a pod whose binding was never confirmed comes back with the
// next list, even in a version that is known.
func TestKnownVersionAfterExpiry(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{{}}, AssumeTTL: time.Second}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "8", "16Gi"))
	p := api.MakePod("p").Obj()
	p.ResourceVersion = "7"
	w.d.Apply(lifecycle.Update(p))
	w.one()
	w.d.Apply(lifecycle.Update(p))
	w.d.Flush(w.ctx)
	w.wantOn("n", "p")
	w.pass(2 * time.Second)
	w.wantOn("n")
	delete(w.bound, "p")
	w.d.Apply(lifecycle.Update(p))
	if a := w.one(); a.State != lifecycle.Bound {
		t.Errorf("the second attempt: %v, %v", a.State, a.Err)
	}
}

// TestOlderMember: an older version of a pod that waits in a group is ignored, like one of a pod that
// waits alone.
func TestOlderMember(t *testing.T) {
	for _, group := range []string{"", "g"} {
		w := groupWorldOf(t, scheduling.Kubernetes137(), nil)
		w.nodes(api.MakeNode("small", "500m", "16Gi"))
		w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
		version := func(v string, gates ...api.PodSchedulingGate) *api.Pod {
			p := api.MakePod("a").Requests("1", "1Gi").Obj()
			if group != "" {
				p = groupPod("a", group, "1", 0)
			}
			p.UID, p.ResourceVersion, p.Spec.SchedulingGates = "a", v, gates
			return p
		}
		shut := api.PodSchedulingGate{Name: "shut"}
		w.apply(version("1", shut))
		w.apply(version("2"))
		w.all()
		w.apply(version("1", shut))
		w.nodes(api.MakeNode("n", "4", "16Gi"))
		w.pass(time.Minute)
		w.all()
		w.wantOn("n", "a")
	}
}
