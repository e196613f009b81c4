package filter_test

import (
	"errors"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// netSlice is a device on the network, for all nodes.
func netSlice() *api.ResourceSlice {
	s := gpuSlice("x", 1)
	s.Name, s.Spec.NodeName, s.Spec.AllNodes = "net", nil, new(true)
	return s
}

func review19Cluster(t *testing.T) (*framework.Snapshot, *scheduling.Scheduler) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	if err := errors.Join(
		s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()), s.AddNode(api.MakeNode("n2", "8", "32Gi").Obj()),
		framework.Put(s, gpuClass()), framework.Put(s, netSlice()), framework.Put(s, gpuTemplate(1)),
	); err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	return s, sched
}

// A pod goes with its node: RemoveNode, outside of any transaction of the caller. What it has
// in flight must go with it ("and so does the departure of the pod outside of a transaction").
func TestReview19NodeRemovedFreesDevices(t *testing.T) {
	s, sched := review19Cluster(t)
	pod, err := s.NewPodInfo(gpuPod("p", 1))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveNode(d.Node); err != nil {
		t.Fatal(err)
	}
	if list := filter.DeviceClaimsOf(s, pod); len(list) > 0 {
		t.Errorf("the pod is gone, and still holds %d claims", len(list))
	}
	next, err := s.NewPodInfo(gpuPod("q", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.Place(s, next); err != nil {
		t.Errorf("the only device is free again, but: %v", err)
	}
}

// A pod is removed in a transaction that is committed.
func TestReview19CommitFreesDevices(t *testing.T) {
	s, sched := review19Cluster(t)
	pod, err := s.NewPodInfo(gpuPod("p", 1))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Begin()
	if err := s.RemovePod(pod, d.Node); err != nil {
		t.Fatal(err)
	}
	s.Commit(m)
	next, err := s.NewPodInfo(gpuPod("q", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.Place(s, next); err != nil {
		t.Errorf("the only device is free again, but: %v", err)
	}
}
