package multicluster_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// All replicas that fit are placed, even if the first estimate is too low or zero.
// The rest is reported with the reason.
func TestFederationPlacesWhatFits(t *testing.T) {
	const reason = "failed to scale up: Clusters available replicas 0 are not enough to schedule."
	for name, e := range map[string]capacity.ClusterEstimator{
		"nodes": nil, "Karmada118": capacity.General{}, "Karmada111": capacity.General{Rules: capacity.Karmada111}, "a pointer": &capacity.General{Rules: capacity.Karmada113},
	} {
		for _, constraints := range [][]multicluster.SpreadConstraint{nil, {constraint("cluster", 1, 2), constraint("region", 1, 1)}} {
			for replicas, unplaced := range map[int64]int64{2: 0, 3: 0, 4: 1} {
				t.Run(fmt.Sprintf("%s, %d replicas, %d constraints", name, replicas, len(constraints)), func(t *testing.T) {
					m := withNodes(t, "m", api.MakeNode("", "3", "64Gi"), api.MakeNode("", "3", "64Gi"), api.MakeNode("", "3", "64Gi"))
					m.Cluster.Spec.ResourceModels, m.Cluster.Spec.Region = capacity.DefaultModels(), "r"
					s := multicluster.Scheduler{}
					if e != nil {
						s.Estimators = []capacity.ClusterEstimator{e}
					}
					p, err := federation(t, s, m).Place(&multicluster.Workload{
						Name: "x/p", Replicas: replicas, Replica: capacity.ReplicaOf(api.MakePod("p").Requests("3", "1Gi").Obj()),
						Placement: multicluster.Placement{ReplicaScheduling: dynamic(), SpreadConstraints: constraints},
					})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(targets("m", int(replicas-unplaced)), p.Targets); diff != "" || p.Unplaced != unplaced || podsIn(m) != replicas-unplaced {
						t.Errorf("%d unplaced, want %d; %d pods; Targets differ (-want +got):\n%s", p.Unplaced, unplaced, podsIn(m), diff)
					}
					if (p.Reason != "") != (unplaced > 0) || len(constraints) == 0 && unplaced > 0 && p.Reason != reason {
						t.Errorf("Reason = %q", p.Reason)
					}
				})
			}
		}
	}
}

// An estimator that does not go by cluster status stays in use.
func TestFederationKeepsLimits(t *testing.T) {
	m := withNodes(t, "m", api.MakeNode("", "8", "64Gi"))
	limit := fixed{}
	limit.add("m", "", "", 0, 1)
	s := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{capacity.General{}, limit}}
	w := &multicluster.Workload{
		Name: "x/p", Replicas: 3, Replica: capacity.ReplicaOf(api.MakePod("p").Requests("1", "1Gi").Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: dynamic(), SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, 1)}},
	}
	p, err := federation(t, s, m).Place(w)
	if err != nil {
		t.Fatal(err)
	}
	if p.Unplaced != 2 || podsIn(m) != 1 || p.Reason != "no enough resource when selecting 1 clusters" {
		t.Errorf("%d unplaced, %d pods, %q; want 2, 1 and why", p.Unplaced, podsIn(m), p.Reason)
	}
}

// If nothing fits at all, nothing changes, and that is not an error. If no cluster
// may be chosen, it is one.
func TestFederationPlacesNothing(t *testing.T) {
	m := withNodes(t, "m", api.MakeNode("", "1", "64Gi"))
	w := &multicluster.Workload{
		Name: "x/p", Replicas: 3, Replica: capacity.ReplicaOf(api.MakePod("p").Requests("2", "1Gi").Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
	}
	f := federation(t, multicluster.Scheduler{}, m)
	p, err := f.Place(w)
	if err != nil || p.Unplaced != 3 || len(p.Targets) != 0 || p.Reason == "" || podsIn(m) != 0 {
		t.Errorf("Place = %+v, %v; want 3 unplaced and why", p, err)
	}
	// Replicas of a cluster that is gone must leave, and are placed nowhere.
	w.Clusters = targets("gone", 3)
	p, err = f.Place(w)
	if err != nil || p.Unplaced != 3 || fmt.Sprint(p.Removed) != "[{gone 3}]" || len(p.Targets) != 0 {
		t.Errorf("Place = %+v, %v; want 3 unplaced and removed", p, err)
	}
	// A cluster keeps its replicas even if no more fit.
	w.Clusters = targets("m", 1)
	p, err = f.Place(w)
	if err != nil || p.Unplaced != 2 || len(p.Removed) != 0 || fmt.Sprint(p.Targets) != "[{m 1}]" {
		t.Errorf("Place = %+v, %v; want 2 unplaced and 1 kept", p, err)
	}
	w.Clusters = nil
	w.Placement.ClusterAffinity = &multicluster.ClusterAffinity{ClusterNames: []string{"other"}}
	var unfit *multicluster.FitError
	if _, err := f.Place(w); !errors.As(err, &unfit) {
		t.Errorf("Place: %v, want a FitError", err)
	}
	w.Placement.ClusterAffinity = nil
	w.Placement.SpreadConstraints = []multicluster.SpreadConstraint{constraint("cluster", 2, 2)}
	var spread *multicluster.SpreadError
	if _, err := f.Place(w); !errors.As(err, &spread) {
		t.Errorf("Place: %v, want a SpreadError", err)
	}
}
