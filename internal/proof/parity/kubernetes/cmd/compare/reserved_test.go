package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/resource"
)

// TestRejectedAtReserve places a pod with two claims, and then a pod that is rejected and
// shares the first claim. Only at Reserve is it a known deviation that kube-scheduler reverts
// the reservation of another pod. If berth loses a claim in the same step, that is a mismatch.
func TestRejectedAtReserve(t *testing.T) {
	a := newAsker()
	defer a.forget()
	for _, tt := range []struct {
		point string
		lost  string // the claim that berth loses
		known int
		want  string
	}{
		{point: "Reserve", known: 1},
		{point: "Permit", known: 0},
		{point: "Reserve", lost: "default/shared", known: 1, want: "claim default/shared"},
		{point: "Reserve", lost: "default/own", known: 1, want: "claim default/own"},
	} {
		w := begun(t, a)
		second := podWithClaims("second", "shared")
		second.Annotations = map[string]string{cases.AnnRefuse: tt.point}
		if difference, err := w.take(&cases.Step{Place: second}); err != nil || difference != "" {
			t.Fatalf("%+v: second pod: %q, %v", tt, difference, err)
		}
		if w.events["refused by "+tt.point] != 1 {
			t.Errorf("%+v: the second pod was rejected %d times, want once", tt, w.events["refused by "+tt.point])
		}
		if tt.lost != "" {
			claim := *framework.Lookup[api.PersistentVolumeClaim](w.snapshot, tt.lost)
			claim.Annotations = nil
			if err := framework.Put(w.snapshot, &claim); err != nil {
				t.Fatal(err)
			}
		}
		difference, err := w.compareVolumes()
		if err != nil {
			t.Fatal(err)
		}
		if w.known != tt.known || (difference == "") != (tt.want == "") || !strings.Contains(difference, tt.want) {
			t.Errorf("%+v: %d known deviations, difference %q", tt, w.known, difference)
		}
	}
}

// TestReinstate lets kube-scheduler lose both claims of the first pod. What the second pod does
// not share stays lost.
func TestReinstate(t *testing.T) {
	a := newAsker()
	defer a.forget()
	w := begun(t, a)
	second, err := w.pod(podWithClaims("second", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	second.ours.Pod.Annotations = map[string]string{cases.AnnRefuse: "Reserve"}
	shared, err := w.sharedReservations(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.theirs.Release(w.pods["default/first"].reserved); err != nil {
		t.Fatal(err)
	}
	if err := w.reinstate(second, shared, errors.New("another error")); err != nil || w.known != 0 {
		t.Errorf("after another error: %d known deviations, %v, want none", w.known, err)
	}
	if err := w.reinstate(second, shared, new(rival.Refused)); err != nil || w.known != 1 || w.events["reverted for another pod"] != 1 {
		t.Errorf("%d known deviations, %d claims reserved again, %v, want one each", w.known, w.events["reverted for another pod"], err)
	}
	difference, err := w.compareVolumes()
	if err != nil || !strings.Contains(difference, "claim default/own") {
		t.Errorf("difference %q, %v, want one of the claim default/own", difference, err)
	}
}

// begun returns a sequence in which a pod has reserved both claims.
func begun(t *testing.T, a *asker) *walk {
	t.Helper()
	w, err := a.walk(sharedClaims())
	if err != nil {
		t.Fatal(err)
	}
	if difference, err := w.step(0, &cases.Step{Place: podWithClaims("first", "shared", "own")}); err != nil || difference != "" {
		t.Fatalf("first pod: %q, %v", difference, err)
	}
	return w
}

// sharedClaims returns a node and two claims whose volumes are to be made.
func sharedClaims() *item {
	c := &golden.Case{ID: "shared-claims"}
	n := &api.Node{ObjectMeta: api.ObjectMeta{Name: "n0", UID: "n0"}}
	n.Status.Allocatable = resource.List{resource.CPU: resource.MustParse("4"), resource.Pods: resource.MustParse("110")}
	c.Nodes = []*api.Node{n}
	c.StorageClasses = []*api.StorageClass{{
		ObjectMeta: api.ObjectMeta{Name: "late"}, Provisioner: "csi.example.com", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	}}
	for _, name := range []string{"shared", "own"} {
		claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID("u-" + name), ResourceVersion: "1"}}
		claim.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
		claim.Spec.Resources.Requests = resource.List{"storage": resource.MustParse("1Gi")}
		claim.Spec.StorageClassName = new("late")
		claim.Status.Phase = api.ClaimPending
		c.PersistentVolumeClaims = append(c.PersistentVolumeClaims, claim)
	}
	return &item{Case: c, Percentage: 100}
}

func podWithClaims(name string, claims ...string) *api.Pod {
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID("u-" + name)}}
	p.Spec.SchedulerName = "default-scheduler"
	p.Spec.Containers = []api.Container{{Name: "c", Resources: api.ResourceRequirements{
		Requests: resource.List{resource.CPU: resource.MustParse("100m")},
	}}}
	for _, claim := range claims {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: claim, VolumeSource: api.VolumeSource{
			PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
	return p
}
