//go:build full

package filter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// storageOf returns the claims and volumes of the snapshot.
func storageOf(s *framework.Snapshot) (claims []api.PersistentVolumeClaim, volumes []api.PersistentVolume) {
	for _, c := range framework.List[api.PersistentVolumeClaim](s) {
		claims = append(claims, *c)
	}
	for _, v := range framework.List[api.PersistentVolume](s) {
		volumes = append(volumes, *v)
	}
	return claims, volumes
}

var quantities = cmp.Comparer(func(a, b resource.Quantity) bool { return a.Equal(b) })

// reserving returns a snapshot in which a pod gets an existing volume and a new one.
func reserving(t *testing.T) (*framework.Snapshot, *framework.Cycle) {
	t.Helper()
	s := snapshotOf(t, twoZones())
	put(t, s, classOf("local", "kubernetes.io/no-provisioner", late), classOf("csi", "csi", late),
		claimOf("c", "local"), claimOf("d", "csi"), volumeOf("v", "local", "5Gi"))
	c := new(framework.Cycle)
	c.Reset(podInfo(t, s, podMounting("c", "d")), s, 0, 0)
	return s, c
}

func TestReserve(t *testing.T) {
	s, c := reserving(t)
	if status := (filter.VolumeBinding{}).Reserve(c, s.Node("b")); !status.IsSuccess() {
		t.Fatal(status)
	}
	v := framework.Lookup[api.PersistentVolume](s, "v")
	want := &api.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "default", Name: "c", UID: "uid-c"}
	if diff := cmp.Diff(want, v.Spec.ClaimRef); diff != "" {
		t.Errorf("claimRef (-want +got):\n%s", diff)
	}
	if got := v.Annotations["pv.kubernetes.io/bound-by-controller"]; got != "yes" {
		t.Errorf("bound-by-controller = %q, want yes", got)
	}
	d := framework.Lookup[api.PersistentVolumeClaim](s, "default/d")
	if got := d.Annotations[api.AnnSelectedNode]; got != "b" {
		t.Errorf("selected node = %q, want b", got)
	}
	given, _ := filter.ClaimBindingsKey.Get(c)
	todo := filter.ClaimBindings{
		Volumes: []filter.VolumeReservation{{Volume: "v", UID: v.UID, ResourceVersion: v.ResourceVersion, Claim: *want, ByController: true}},
		Claims:  []filter.NodeSelection{{Namespace: "default", Name: "d", UID: "uid-d", ResourceVersion: d.ResourceVersion, Node: "b"}},
	}
	if diff := cmp.Diff(todo, given); diff != "" {
		t.Errorf("ClaimBindings (-want +got):\n%s", diff)
	}

	// The next pod with the claim is bound to that node; the volume is taken.
	wantVerdicts(t, s, filter.VolumeBinding{}, podMounting("d"),
		"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind", "Success")
	put(t, s, claimOf("e", "local"))
	wantVerdicts(t, s, filter.VolumeBinding{}, podMounting("e"),
		"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind",
		"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind")
}

func TestReserveNothing(t *testing.T) {
	s, c := reserving(t)
	put(t, s, claimOf("c", "local", boundTo("v")), claimOf("d", "csi", boundTo("v")))
	before := s.Objects()
	if status := (filter.VolumeBinding{}).Reserve(c, s.Node("a")); !status.IsSuccess() {
		t.Fatal(status)
	}
	if given, ok := filter.ClaimBindingsKey.Get(c); !ok || !given.AllBound {
		t.Errorf("ClaimBindings = %+v, %v; want AllBound", given, ok)
	}
	if s.Objects() != before {
		t.Error("Reserve changed objects although all claims are bound")
	}
	c.Reset(podInfo(t, s, podMounting()), s, 0, 0)
	if status := (filter.VolumeBinding{}).Reserve(c, s.Node("a")); !status.IsSuccess() {
		t.Errorf("Reserve of a pod without claims = %v", status)
	}
}

// TestReserveRejects reserves on nodes that PreFilter or Filter would have rejected.
func TestReserveRejects(t *testing.T) {
	s, c := reserving(t)
	put(t, s, claimOf("d", "csi", selecting("a")))
	want := "UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind"
	if got := (filter.VolumeBinding{}).Reserve(c, s.Node("b")).String(); got != want {
		t.Errorf("Reserve = %s, want %s", got, want)
	}
	framework.Delete[api.PersistentVolumeClaim](s, "default/d")
	want = `UnschedulableAndUnresolvable: persistentvolumeclaim "d" not found`
	if got := (filter.VolumeBinding{}).Reserve(c, s.Node("b")).String(); got != want {
		t.Errorf("Reserve = %s, want %s", got, want)
	}
}

// TestUnreserve reverts a reservation in every possible way, and compares the
// snapshot's objects.
func TestUnreserve(t *testing.T) {
	plugin := filter.VolumeBinding{}
	ways := []struct {
		name string
		do   func(t *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot))
	}{
		{"Unreserve", func(_ *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Unreserve twice", func(_ *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			plugin.Unreserve(c, s.Node("a"))
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Unreserve without Reserve", func(_ *testing.T, s *framework.Snapshot, c *framework.Cycle, _ func(*framework.Snapshot)) {
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Unreserve in a later cycle", func(t *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			later := new(framework.Cycle)
			later.Reset(c.Pod, s, 1, 1)
			plugin.Unreserve(later, s.Node("a"))
		}},
		{"Rollback", func(_ *testing.T, s *framework.Snapshot, _ *framework.Cycle, reserve func(*framework.Snapshot)) {
			m := s.Begin()
			reserve(s)
			s.Rollback(m)
		}},
		{"Unreserve, then Rollback", func(_ *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			m := s.Begin()
			reserve(s)
			plugin.Unreserve(c, s.Node("a"))
			s.Rollback(m)
		}},
		{"Rollback of an Unreserve, then Unreserve", func(_ *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			m := s.Begin()
			plugin.Unreserve(c, s.Node("a"))
			s.Rollback(m)
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Fork", func(_ *testing.T, s *framework.Snapshot, _ *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s.Fork())
		}},
		{"Unreserve in a fork, then in the snapshot", func(_ *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			forked := new(framework.Cycle)
			forked.Reset(c.Pod, s.Fork(), 0, 0)
			plugin.Unreserve(forked, forked.Snapshot.Node("a"))
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Unreserve after the victim of a what-if came back", func(t *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			if err := s.AddPod(c.Pod, "a"); err != nil {
				t.Fatal(err)
			}
			m := s.Begin()
			if err := s.RemovePod(c.Pod, "a"); err != nil {
				t.Fatal(err)
			}
			s.Rollback(m)
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Unreserve after the pod came in a what-if", func(t *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			m := s.Begin()
			if err := s.AddPod(c.Pod, "a"); err != nil {
				t.Fatal(err)
			}
			s.Rollback(m)
			plugin.Unreserve(c, s.Node("a"))
		}},
		{"Unreserve of a pod's next version", func(t *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			reserve(s)
			next := *c.Pod.Pod
			next.Labels = map[string]string{"version": "next"}
			info := podInfo(t, s, &next)
			if err := errors.Join(s.AddPod(c.Pod, "a"), s.RemovePod(c.Pod, "a"), s.AddPod(info, "a")); err != nil {
				t.Fatal(err)
			}
			later := new(framework.Cycle)
			later.Reset(info, s, 1, 1)
			plugin.Unreserve(later, s.Node("a"))
		}},
		{"Unreserve after the node left", func(t *testing.T, s *framework.Snapshot, c *framework.Cycle, reserve func(*framework.Snapshot)) {
			if err := s.AddPod(c.Pod, "a"); err != nil {
				t.Fatal(err)
			}
			node := s.Node("a")
			reserve(s)
			if err := s.RemoveNode("a"); err != nil {
				t.Fatal(err)
			}
			plugin.Unreserve(c, node)
		}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			s, c := reserving(t)
			claims, volumes := storageOf(s)
			way.do(t, s, c, func(at *framework.Snapshot) {
				own := new(framework.Cycle)
				own.Reset(c.Pod, at, 0, 0)
				if status := plugin.Reserve(own, at.Node("a")); !status.IsSuccess() {
					t.Fatal(status)
				}
				if changed, _ := storageOf(at); cmp.Equal(claims, changed, quantities) {
					t.Fatal("Reserve changed nothing")
				}
			})
			gotClaims, gotVolumes := storageOf(s)
			if diff := cmp.Diff(claims, gotClaims, quantities); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(volumes, gotVolumes, quantities); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreserveLeavesNews checks that Unreserve does not touch objects changed since
// by someone else.
func TestUnreserveLeavesNews(t *testing.T) {
	plugin := filter.VolumeBinding{}
	s, c := reserving(t)
	if status := plugin.Reserve(c, s.Node("a")); !status.IsSuccess() {
		t.Fatal(status)
	}
	put(t, s, claimOf("d", "csi", boundTo("new")))
	plugin.Unreserve(c, s.Node("a"))
	if got := framework.Lookup[api.PersistentVolumeClaim](s, "default/d").Spec.VolumeName; got != "new" {
		t.Errorf("the volume of d is %q, want new", got)
	}
	if got := framework.Lookup[api.PersistentVolume](s, "v").Spec.ClaimRef; got != nil {
		t.Errorf("the volume is reserved for %v, want nobody", got)
	}

	c.Snapshot = nil // as while binding
	plugin.Unreserve(c, s.Node("a"))
}

// TestReservedPodLeaves: a pod that leaves its node without Unreserve was bound, so
// its claims keep their volumes. The claims of another pod stay, too, when that pod
// unreserves its own. Objects written meanwhile stay, too.
func TestReservedPodLeaves(t *testing.T) {
	plugin := filter.VolumeBinding{}
	s, c := reserving(t)
	put(t, s, claimOf("other", "csi"))
	if err := s.AddPod(c.Pod, "a"); err != nil {
		t.Fatal(err)
	}
	if status := plugin.Reserve(c, s.Node("a")); !status.IsSuccess() {
		t.Fatal(status)
	}
	if err := s.RemoveNode("a"); err != nil {
		t.Fatal(err)
	}
	claims, volumes := storageOf(s)
	other := podMounting("other")
	other.Name, other.UID = "q", "uid-q"
	next := new(framework.Cycle)
	next.Reset(podInfo(t, s, other), s, 1, 1)
	if status := plugin.Reserve(next, s.Node("b")); !status.IsSuccess() {
		t.Fatal(status)
	}
	plugin.Unreserve(next, s.Node("b"))
	gotClaims, gotVolumes := storageOf(s)
	if diff := cmp.Diff(claims, gotClaims, quantities); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(volumes, gotVolumes, quantities); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	written := *framework.Lookup[api.PersistentVolume](s, "v")
	put(t, s, &written, claimOf("d", "csi", boundTo("new")))
	plugin.Unreserve(c, s.Node("b"))
	if framework.Lookup[api.PersistentVolume](s, "v") != &written {
		t.Error("Unreserve replaced a volume that was written")
	}
	if got := framework.Lookup[api.PersistentVolumeClaim](s, "default/d").Spec.VolumeName; got != "new" {
		t.Errorf("the volume of d is %q, want new", got)
	}
}

// TestUnreserveShared has two pods reserve for the same claims. As in
// kube-scheduler, the first Unreserve also reverts what the other pod relies on,
// down to the objects that the user put there.
func TestUnreserveShared(t *testing.T) {
	plugin := filter.VolumeBinding{}
	for _, first := range []int{0, 1} {
		s, c := reserving(t)
		claims, volumes := storageOf(s)
		other := podMounting("d", "c", "d")
		other.Name, other.UID = "q", "uid-q"
		cycles := []*framework.Cycle{c, new(framework.Cycle)}
		cycles[1].Reset(podInfo(t, s, other), s, 1, 1)
		for _, c := range cycles {
			if status := plugin.Reserve(c, s.Node("b")); !status.IsSuccess() {
				t.Fatal(status)
			}
		}
		mark := s.Begin()
		for _, i := range []int{first, 1 - first} {
			plugin.Unreserve(cycles[i], s.Node("b"))
			gotClaims, gotVolumes := storageOf(s)
			if diff := cmp.Diff(claims, gotClaims, quantities); diff != "" {
				t.Errorf("pod %d: claims after Unreserve (-want +got):\n%s", i, diff)
			}
			if diff := cmp.Diff(volumes, gotVolumes, quantities); diff != "" {
				t.Errorf("pod %d: volumes after Unreserve (-want +got):\n%s", i, diff)
			}
		}
		// All of it can be reverted, and then repeated.
		s.Rollback(mark)
		if framework.Lookup[api.PersistentVolume](s, "v").Spec.ClaimRef == nil {
			t.Error("after a rollback the volume is not reserved")
		}
		// Objects written meanwhile stay.
		written := *framework.Lookup[api.PersistentVolume](s, "v")
		put(t, s, &written)
		plugin.Unreserve(cycles[first], s.Node("b"))
		if framework.Lookup[api.PersistentVolume](s, "v") != &written {
			t.Error("Unreserve replaced a volume that was written")
		}
		if got := framework.Lookup[api.PersistentVolumeClaim](s, "default/d").Annotations[api.AnnSelectedNode]; got != "" {
			t.Errorf("the node selected for d is %q after Unreserve, want none", got)
		}
	}
}
