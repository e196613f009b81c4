package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// lab stores in Scratch what it read from objects, and filters by that and by the
// node's pods.
type lab struct{}

func (lab) Name() string { return "lab" }
func (lab) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsObjects}
}

func (lab) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	b := framework.Scratch[boundLab](c)
	b.letters, b.snapshot = len(setting(c.Snapshot)), c.Snapshot
	return framework.PreFiltered{Filter: b}, framework.Status{}
}

type boundLab struct {
	letters  int
	snapshot *framework.Snapshot
}

func (b *boundLab) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if b.snapshot.AtSlot(n.Slot()) != n {
		return framework.UnschedulableStatus("a node of another snapshot")
	}
	if len(n.Pods)%4 == b.letters%4 && b.letters > 0 {
		return framework.UnschedulableStatus("busy")
	}
	return framework.Status{}
}

// veto rejects every pod while the objects tell it to.
type veto struct{}

func (veto) Name() string { return "veto" }
func (veto) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsObjects}
}

func (veto) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if setting(c.Snapshot) == "nobody" {
		return framework.PreFiltered{}, framework.UnschedulableStatus("veto")
	}
	return framework.PreFiltered{}, framework.SkipStatus()
}

// apart makes one class of pods per label, all over one base.
type apart struct{}

func (apart) Name() string { return "apart" }
func (apart) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsDomain}
}

func (apart) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{}, framework.SkipStatus()
}

// decider schedules pods that differ in one label, on both paths.
func decider(t *testing.T, s *scheduling.Scheduler) func(snap *framework.Snapshot, label string) {
	serial := 0
	return func(snap *framework.Snapshot, label string) {
		t.Helper()
		serial++
		_, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Labels("app", label).Obj()))
		var different *scheduling.DifferenceError
		if errors.As(err, &different) {
			t.Error(err)
		}
	}
}

func putSetting(t *testing.T, snap *framework.Snapshot, word string) {
	t.Helper()
	n := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "setting", Labels: map[string]string{"is": word}}}
	if err := framework.Put(snap, n); err != nil {
		t.Fatal(err)
	}
}

// TestFiltersAreBoundAgainAfterARejection: when a PreFilter rejects the pod, the
// PreFilters before it have already overwritten the state of their filters.
func TestFiltersAreBoundAgainAfterARejection(t *testing.T) {
	for _, how := range []string{"rollback", "fork"} {
		t.Run(how, func(t *testing.T) {
			s := build(t, scheduling.Profile{
				Filter: []framework.Plugin{lab{}, veto{}, apart{}},
				Score:  []scheduling.Weighted{{Plugin: emptier{}}}, Cache: scheduling.CacheConfig{Verify: true},
			})
			snap, pod := small(t, 6)
			putSetting(t, snap, "a")
			try := decider(t, s)
			for range 3 {
				try(snap, "a")
				try(snap, "b")
			}
			elsewhere, mark := snap, snap.Begin()
			if how == "fork" {
				snap.Rollback(mark)
				elsewhere = snap.Fork()
			}
			putSetting(t, elsewhere, "nobody")
			try(elsewhere, "a")
			if how == "rollback" {
				snap.Rollback(mark)
			}
			for i := range snap.Len() {
				if err := snap.AddPodAt(pod, snap.At(i)); err != nil {
					t.Fatal(err)
				}
				try(snap, "b")
			}
		})
	}
}

// TestVolumesOfAnotherWorld tests the same with the preset: a claim is missing in a
// fork, or during a transaction.
func TestVolumesOfAnotherWorld(t *testing.T) {
	for _, how := range []string{"rollback", "fork"} {
		t.Run(how, func(t *testing.T) {
			p := scheduling.Kubernetes137()
			p.Cache.Verify = true
			s := build(t, p)
			snap, other := small(t, 6)
			volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v"}}
			volume.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: "h"}
			volume.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: "c"}
			claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{
				Namespace: "default", Name: "c", Annotations: map[string]string{api.AnnBindCompleted: "yes"},
			}}
			claim.Spec.VolumeName = "v"
			if err := errors.Join(framework.Put(snap, volume), framework.Put(snap, claim)); err != nil {
				t.Fatal(err)
			}
			serial := 0
			try := func(snap *framework.Snapshot, label string) {
				t.Helper()
				serial++
				pod := api.MakePod(fmt.Sprint("p", serial)).Labels("app", label).Claim("c").Obj()
				var different *scheduling.DifferenceError
				if _, err := s.Schedule(snap, podInfo(t, snap, pod)); errors.As(err, &different) {
					t.Error(err)
				}
			}
			for range 3 {
				try(snap, "a")
				try(snap, "b")
			}
			elsewhere, mark := snap, snap.Begin()
			if how == "fork" {
				snap.Rollback(mark)
				elsewhere = snap.Fork()
			}
			framework.Delete[api.PersistentVolumeClaim](elsewhere, "default/c")
			try(elsewhere, "a")
			if how == "rollback" {
				snap.Rollback(mark)
			}
			for i := range 2 {
				if err := snap.AddPodAt(other, snap.At(i)); err != nil {
					t.Fatal(err)
				}
				try(snap, "b")
			}
		})
	}
}
