//go:build full

package multicluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// FuzzSchedule feeds placements and clusters with any malformation, and numbers of
// wanted and existing replicas. Errors must name the cause, and results must keep
// the promises of their strategy.
func FuzzSchedule(f *testing.F) {
	for _, placement := range []string{
		`{"spreadConstraints":[{"spreadByField":"region","minGroups":1,"maxGroups":2},{"maxGroups":3}],"replicaScheduling":{"replicaDivisionPreference":"Aggregated"}}`,
		`{"clusterAffinities":[{"affinityName":"x"}],"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[{"targetCluster":{"clusterNames":["m"]},"weight":2}]}}}`,
		`{"clusterAffinities":[{"affinityName":"x","clusterNames":["m"],"overflowAffinities":[{"affinityName":"y"}]}],"replicaScheduling":{"replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas"}}}`,
		`{"clusterAffinity":{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]},"fieldSelector":{"matchExpressions":[{"key":"zone","operator":"Gt"}]}},"spreadConstraints":[{"minGroups":3,"maxGroups":-2}]}`,
		`{"workloadAffinity":{"affinity":{},"antiAffinity":{}}}`,
		`{"clusterAffinities":[{"clusterNames":["m"],"overflowAffinities":[{"affinityName":""}]},{}],"replicaScheduling":{"replicaDivisionPreference":"Aggregated"}}`,
		`{"workloadAffinity":{"affinity":{"groupByLabelKey":"a b"}},"replicaScheduling":{"replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[{"targetCluster":{},"weight":9223372036854775807}]}}}`,
	} {
		for _, cluster := range []string{
			`{"metadata":{"name":"m"},"spec":{"region":"r"},"status":{"resourceSummary":{"allocatable":{"pods":"10","cpu":"4"}}}}`,
			`{"metadata":{"name":"m"},"spec":{"zones":["a","b"],"provider":"p"}}`,
			`{"metadata":{"name":"x"},"spec":{"resourceModels":[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"1"}]},{"grade":0,"ranges":[]}]},"status":{"resourceSummary":{"allocatable":{"pods":"9223372036854775807","cpu":"-1"},"allocatableModelings":[{"grade":0,"count":-1}]}}}`,
			`{"metadata":{"name":"m"},"spec":{"resourceModels":[{"grade":1,"ranges":[{"name":"cpu","min":"1","max":"2"}]}]},"status":{"resourceSummary":{"allocatable":{"pods":"5G","cpu":"8"},"allocatableModelings":[{"grade":1,"count":9223372036854775807}]}}}`,
		} {
			f.Add([]byte(placement), []byte(cluster), int64(3), int64(2))
			f.Add([]byte(placement), []byte(cluster), int64(1<<31-1), int64(0))
			f.Add([]byte(placement), []byte(cluster), int64(-1), int64(-1<<63))
		}
	}
	f.Fuzz(func(t *testing.T, placement, cluster []byte, replicas, has int64) {
		w := &multicluster.Workload{
			Name: "a/b", Replicas: replicas, Replica: &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("500m")}},
		}
		if has != 0 {
			w.Clusters = []multicluster.Target{{Name: "y", Replicas: has}}
		}
		if json.Unmarshal(placement, &w.Placement) != nil {
			return
		}
		c, err := api.DecodeObject[api.Cluster](cluster)
		if err != nil {
			return
		}
		pods := func(name, n string) *api.Cluster {
			return clusterOf(name, func(x *api.Cluster) {
				x.Spec.Region, x.Spec.Zones, x.Spec.Provider = name, c.Spec.Zones, c.Spec.Provider
				x.Status.ResourceSummary = &api.ResourceSummary{Allocatable: resource.List{resource.Pods: resource.MustParse(n), resource.CPU: resource.MustParse(n)}}
			})
		}
		clusters := []*api.Cluster{c, clusterOf("x", func(x *api.Cluster) { x.Spec, x.Status = c.Spec, c.Status }), pods("y", "7"), pods("z", "30")}
		backwards := slices.Clone(clusters)
		slices.Reverse(backwards)
		for _, s := range []multicluster.Scheduler{{}, multicluster.Karmada113(), multicluster.Karmada116(), multicluster.Karmada118()} {
			d, err := s.Schedule(clusters, w)
			checkErrors(t, err)
			checkErrors(t, errors.Join(d.EstimateErrors...))
			other, again := s.Schedule(backwards, w)
			if diff := cmp.Diff(d.Targets, other.Targets); diff != "" || (err == nil) != (again == nil) {
				t.Fatalf("the order of the clusters matters, %v, %v (-want +got):\n%s", err, again, diff)
			}
			if err == nil {
				checkDivision(t, s.Explain(clusters, w), w)
			}
		}
	})
}

// checkErrors demands that every error names the object, the field and the value
// that are wrong. Errors for lack of room are exempt.
func checkErrors(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			checkErrors(t, e)
		}
		return
	}
	var failed *capacity.EstimatorError
	if errors.As(err, &failed) {
		if failed.Cluster == "" || failed.Estimator == "" {
			t.Fatalf("%v: names no cluster or estimator", err)
		}
		checkErrors(t, failed.Err)
		return
	}
	switch e := err.(type) {
	case *api.InvalidError:
		if e.Object == "" || e.Field == "" && e.Value != "null" || e.Value == "" && !strings.Contains(e.Err.Error(), "empty") && !strings.Contains(e.Err.Error(), "known value") {
			t.Fatalf("%v: Object %q, Field %q, Value %q", e, e.Object, e.Field, e.Value)
		}
	case *multicluster.FitError, *multicluster.SpreadError, *multicluster.ShortageError:
		if e.Error() == "" {
			t.Fatalf("%T says nothing", e)
		}
	default:
		if !errors.Is(err, multicluster.ErrNoClusters) {
			t.Fatalf("%T: %v", err, err)
		}
	}
}

// checkDivision demands what the strategy promises: the right sum, no more than a
// cluster can take, and no cluster twice.
func checkDivision(t *testing.T, x *multicluster.Explanation, w *multicluster.Workload) {
	t.Helper()
	strategy, err := w.Placement.Strategy()
	if err != nil || x.Error != "" {
		t.Fatalf("Strategy: %v, Explain: %s, and there was a decision", err, x.Error)
	}
	room := map[string]int64{}
	for _, c := range x.Clusters {
		if c.Feasible {
			room[c.Cluster] = c.Available
		}
	}
	for _, h := range w.Clusters {
		if _, ok := room[h.Name]; ok {
			room[h.Name] += h.Replicas
		}
	}
	sum, last := int64(0), ""
	for _, target := range x.Targets {
		can, feasible := room[target.Name]
		bounded := strategy == multicluster.DynamicWeight || strategy == multicluster.Aggregated
		switch {
		case target.Name <= last && last != "":
			t.Fatalf("%v are not by name, or one is there twice", x.Targets)
		case !feasible:
			t.Fatalf("%s is not feasible", target.Name)
		case target.Replicas < 0 || bounded && target.Replicas > can:
			t.Fatalf("%s gets %d and can take %d", target.Name, target.Replicas, can)
		case strategy == multicluster.Duplicated && target.Replicas != w.Replicas:
			t.Fatalf("%s gets %d of %d duplicated replicas", target.Name, target.Replicas, w.Replicas)
		}
		sum, last = sum+target.Replicas, target.Name
	}
	if strategy != multicluster.Duplicated && sum != w.Replicas {
		t.Fatalf("%d replicas given out, want %d", sum, w.Replicas)
	}
	if len(x.Targets) == 0 {
		t.Fatal(fmt.Sprint("no targets for ", w.Replicas))
	}
}
