package karmada

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	clusterlister "github.com/karmada-io/karmada/pkg/generated/listers/cluster/v1alpha1"
	"github.com/karmada-io/karmada/pkg/scheduler/cache"
	"github.com/karmada-io/karmada/pkg/scheduler/core"
	karmadaframework "github.com/karmada-io/karmada/pkg/scheduler/framework"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// A lister lists clusters that are at hand.
type lister []*clusterv1.Cluster

func (l lister) List(labels.Selector) ([]*clusterv1.Cluster, error) { return l, nil }

func (l lister) Get(name string) (*clusterv1.Cluster, error) {
	for _, c := range l {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, errors.New("not found")
}

var _ clusterlister.ClusterLister = lister(nil)

// A scenario is a workload and clusters, for both libraries.
type scenario struct {
	theirs   []*clusterv1.Cluster
	spec     *workv1.ResourceBindingSpec
	status   *workv1.ResourceBindingStatus
	ours     []*framework.Cluster
	workload *multicluster.Workload
}

func newScenario(r *rand.Rand) scenario {
	var s scenario
	var names []string
	for i := range 1 + r.IntN(9) {
		names = append(names, nameOf(i))
		s.theirs = append(s.theirs, member(r, nameOf(i)))
	}
	s.spec, s.status = binding(r, names), &workv1.ResourceBindingStatus{}
	noon := metav1.NewTime(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	later := metav1.NewTime(noon.Add(time.Minute))
	fresh := chance(r, 15)
	if fresh {
		s.spec.RescheduleTriggeredAt, s.status.LastScheduledTime = &later, &noon
	}
	for _, c := range s.theirs {
		s.ours = append(s.ours, Convert[*framework.Cluster](c))
	}
	r.Shuffle(len(s.ours), func(i, j int) { s.ours[i], s.ours[j] = s.ours[j], s.ours[i] })
	s.workload = &multicluster.Workload{
		Name: "default/web", APIVersion: s.spec.Resource.APIVersion, Kind: s.spec.Resource.Kind, Replicas: int64(s.spec.Replicas),
		Placement: Convert[multicluster.Placement](s.spec.Placement), Fresh: fresh,
	}
	if s.spec.ReplicaRequirements != nil {
		s.workload.Replica = &estimator.Replica{Request: Convert[resource.List](s.spec.ReplicaRequirements.ResourceRequest)}
	}
	for _, t := range s.spec.Clusters {
		s.workload.Clusters = append(s.workload.Clusters, multicluster.Target{Name: t.Name, Replicas: int64(t.Replicas)})
	}
	for _, t := range s.spec.GracefulEvictionTasks {
		s.workload.Evicting = append(s.workload.Evicting, t.FromCluster)
	}
	return s
}

func (s *scenario) input() []any { return []any{s.theirs, s.spec, s.status} }

// schedule compares whole decisions.
func schedule(r *rand.Rand) Outcome {
	s := newScenario(r)
	x := multicluster.Karmada113().Explain(s.ours, s.workload)
	algorithm, err := core.NewGenericScheduler(cache.NewCache(lister(s.theirs)), plugins.NewInTreeRegistry())
	if err != nil {
		panic(err)
	}
	var result core.ScheduleResult
	var failure error
	if p := guard(func() {
		result, failure = algorithm.Schedule(context.Background(), s.spec.DeepCopy(), s.status, &core.ScheduleAlgorithmOption{})
	}); p != nil {
		return Outcome{Fault: "panic"}
	}
	if fault := s.estimateFault(x); fault != "" {
		return Outcome{Fault: fault}
	}
	if failure != nil || x.Error != "" {
		return s.compareErrors(failure, x)
	}
	want := targetsOf(result.SuggestedClusters)
	if s.spec.Replicas == 0 {
		if slices.Equal(want, x.Targets) {
			return Outcome{}
		}
		return differ("Schedule", want, x, s.input())
	}
	o := compareShares(want, x.Targets, x.Division.Weights, s.input())
	if o.Mismatch == "" || x.Division.Step != multicluster.StepScaleDown {
		return o
	}
	// Divided again among all clusters that had replicas, it must be the same.
	var all []multicluster.Candidate
	for _, t := range s.workload.Clusters {
		all = append(all, multicluster.Candidate{Name: t.Name})
	}
	strategy, _ := s.workload.Placement.Strategy()
	again, err := multicluster.Divide(multicluster.Demand{
		Replicas: s.workload.Replicas, Strategy: strategy, Method: multicluster.Floor, Previous: s.workload.Clusters,
	}, all)
	if err == nil && compareShares(want, again.Targets, again.Weights, nil).Mismatch == "" {
		return Outcome{Fault: "removed cluster"}
	}
	return o
}

// compareErrors compares what the two say when one of them has no result.
func (s *scenario) compareErrors(failure error, x *multicluster.Explanation) Outcome {
	if failure == nil || x.Error == "" {
		return differ("Schedule", errorText(failure), x, s.input())
	}
	var unfit *karmadaframework.FitError
	if errors.As(failure, &unfit) {
		// Which of several reasons is told is random; the filters are compared
		// one by one elsewhere.
		for _, c := range x.Clusters {
			if c.Feasible {
				return differ("Schedule", failure.Error(), x, s.input())
			}
		}
		return Outcome{}
	}
	if last := innermost(failure); last != x.Error && failure.Error() != x.Error {
		return differ("Schedule", failure.Error(), x, s.input())
	}
	return Outcome{}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// innermost returns the text without the step that Karmada puts before it.
func innermost(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// estimateFault tells whether an estimate of a feasible cluster is one that
// Karmada gets wrong; the decision then cannot be compared.
func (s *scenario) estimateFault(x *multicluster.Explanation) string {
	if s.spec.Replicas == 0 {
		return ""
	}
	sum := int64(0)
	for _, t := range s.workload.Clusters {
		sum += t.Replicas
	}
	for _, c := range x.Clusters {
		if !c.Feasible {
			continue
		}
		if sum += c.Available; sum > big {
			return "wrap"
		}
		if c.EstimateError != "" {
			return "panic"
		}
		for _, t := range s.theirs {
			if t.Name != c.Cluster || t.Status.ResourceSummary == nil {
				continue
			}
			if randomOrder(t, s.spec.ReplicaRequirements) {
				return "random order"
			}
			sum := t.Status.ResourceSummary
			if sum.Allocatable.Pods().Value()-sum.Allocated.Pods().Value()-sum.Allocating.Pods().Value() > big {
				return "wrap"
			}
			nodes, nothing := 0, s.spec.ReplicaRequirements != nil
			for _, m := range sum.AllocatableModelings {
				nodes += m.Count
			}
			if s.spec.ReplicaRequirements != nil {
				for _, q := range s.spec.ReplicaRequirements.ResourceRequest {
					nothing = nothing && q.Sign() <= 0
				}
			}
			if nothing && nodes > 0 {
				return "nothing"
			}
		}
	}
	return ""
}

// filters compares the filters and the scorer one by one.
func filters(r *rand.Rand) Outcome {
	s := newScenario(r)
	ours := map[string]multicluster.Filter{}
	for _, f := range multicluster.Karmada113().Filters {
		ours[f.Name()] = f
	}
	for name, factory := range plugins.NewInTreeRegistry() {
		p, err := factory()
		if err != nil {
			panic(err)
		}
		for _, c := range s.theirs {
			i := slices.IndexFunc(s.ours, func(o *framework.Cluster) bool { return o.Name == c.Name })
			if f, ok := p.(karmadaframework.FilterPlugin); ok {
				want := f.Filter(context.Background(), s.spec, s.status, c)
				got := ours[name].Filter(s.workload, s.ours[i])
				if want.IsSuccess() != got.IsSuccess() || !slices.Equal(want.Reasons(), got.Reasons()) {
					return differ(name, want.Reasons(), got.Reasons(), s.input())
				}
			}
			if f, ok := p.(karmadaframework.ScorePlugin); ok {
				want, _ := f.Score(context.Background(), s.spec, c)
				got := int64(0)
				if name == (multicluster.Locality{}).Name() {
					got = multicluster.Locality{}.Score(s.workload, s.ours[i])
				}
				if want != got {
					return differ(name, want, got, s.input())
				}
			}
		}
	}
	return Outcome{}
}
