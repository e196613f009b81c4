package karmada

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	clusterlister "github.com/karmada-io/karmada/pkg/generated/listers/cluster/v1alpha1"
	"github.com/karmada-io/karmada/pkg/scheduler/cache"
	"github.com/karmada-io/karmada/pkg/scheduler/core"
	karmadaframework "github.com/karmada-io/karmada/pkg/scheduler/framework"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
)

// A lister lists the given clusters.
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
	ours     []*api.Cluster
	workload *multicluster.Workload
}

func newScenario(r *rand.Rand) scenario {
	var s scenario
	var names []string
	for i := range 1 + r.IntN(9) {
		names = append(names, random.Name(i))
		s.theirs = append(s.theirs, random.Member(r, random.Name(i)))
	}
	s.spec, s.status = random.Binding(r, names), &workv1.ResourceBindingStatus{}
	noon := metav1.NewTime(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	later := metav1.NewTime(noon.Add(time.Minute))
	fresh := random.Chance(r, 15)
	if fresh {
		s.spec.RescheduleTriggeredAt, s.status.LastScheduledTime = &later, &noon
	}
	for _, c := range s.theirs {
		s.ours = append(s.ours, live.Convert[*api.Cluster](c))
	}
	r.Shuffle(len(s.ours), func(i, j int) { s.ours[i], s.ours[j] = s.ours[j], s.ours[i] })
	s.workload = &multicluster.Workload{
		Name: "default/web", UID: api.UID(s.spec.Resource.UID), APIVersion: s.spec.Resource.APIVersion, Kind: s.spec.Resource.Kind, Replicas: int64(s.spec.Replicas),
		Placement: live.Convert[multicluster.Placement](s.spec.Placement), Fresh: fresh,
	}
	if s.spec.ReplicaRequirements != nil {
		s.workload.Replica = &capacity.Replica{Request: live.Convert[resource.List](s.spec.ReplicaRequirements.ResourceRequest)}
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

// answer is Karmada's answer to a whole decision.
type answer struct {
	targets  []multicluster.Target
	err      error
	panicked any
}

// ask runs Karmada's decision for clusters.
func ask(clusters []*clusterv1.Cluster, spec *workv1.ResourceBindingSpec, status *workv1.ResourceBindingStatus) answer {
	algorithm, err := core.NewGenericScheduler(cache.NewCache(lister(clusters)), plugins.NewInTreeRegistry())
	if err != nil {
		panic(err)
	}
	var a answer
	a.panicked = live.Guard(func() {
		result, err := algorithm.Schedule(context.Background(), spec.DeepCopy(), status, &core.ScheduleAlgorithmOption{})
		a.targets, a.err = targetsOf(result.SuggestedClusters), err
	})
	return a
}

// schedule compares whole decisions. If they differ because Karmada gets an estimate
// wrong, it is asked again about clusters for which it gets berth's estimates right.
// Nothing else may make a difference.
func (v Version) schedule(r *rand.Rand) live.Outcome {
	s := newScenario(r)
	x := v.Scheduler.Explain(s.ours, s.workload)
	first := ask(s.theirs, s.spec, s.status)
	o := v.compareAnswer(&s, first, x)
	if o.Mismatch == "" {
		return o
	}
	fault := s.estimateFault(x)
	if fault == "" {
		if first.panicked != nil && s.noneCanTakeAll(x) {
			return live.Outcome{Fault: "panic, for no cluster of a group can take all"}
		}
		return o
	}
	if s.wraps(x) {
		return live.Outcome{Fault: "wrap"} // also when asked again
	}
	spec := s.spec.DeepCopy()
	spec.ReplicaRequirements = nil
	second := ask(s.estimated(x), spec, s.status)
	again := v.compareAnswer(&s, second, x)
	switch {
	case again.Mismatch == "":
		return live.Outcome{Fault: fault}
	case second.panicked != nil && s.noneCanTakeAll(x):
		return live.Outcome{Fault: "panic, for no cluster of a group can take all"}
	}
	return again
}

// compareAnswer compares an answer with a decision.
func (v Version) compareAnswer(s *scenario, a answer, x *multicluster.Explanation) live.Outcome {
	if a.panicked != nil {
		return live.Differ("Schedule", fmt.Sprint("panic: ", a.panicked), x, s.input())
	}
	if s.spec.Replicas == 0 {
		if v.RemovesEmpty && s.spec.ReplicaRequirements != nil && len(a.targets) == 0 && x.Error == "" {
			switch {
			case a.err == nil:
				return live.Outcome{Fault: "wants none"}
			case strings.Contains(a.err.Error(), "available replicas -"):
				return live.Outcome{Fault: "wrap"} // a sum of unlimited numbers
			}
		}
		if a.err == nil && x.Error == "" {
			if !slices.Equal(a.targets, x.Targets) {
				return live.Differ("Schedule", a.targets, x, s.input())
			}
			return live.Outcome{}
		}
	}
	if a.err != nil || x.Error != "" {
		return s.compareErrors(a.err, x)
	}
	o := v.compareShares(a.targets, x.Targets, x.Division.Weights, s.input())
	if o.Mismatch == "" || x.Division.Step != multicluster.StepScaleDown {
		return o
	}
	// After a division among all clusters that had replicas, it must be the same.
	var all []multicluster.Candidate
	for _, t := range s.workload.Clusters {
		all = append(all, multicluster.Candidate{Name: t.Name})
	}
	strategy, _ := s.workload.Placement.Strategy()
	again, err := multicluster.Divide(multicluster.Demand{
		Replicas: s.workload.Replicas, Strategy: strategy, Method: v.Scheduler.Method, Previous: s.workload.Clusters,
		Ties: multicluster.NameOrderOf(s.workload.UID),
	}, all)
	if err == nil && v.compareShares(a.targets, again.Targets, again.Weights, nil).Mismatch == "" {
		return live.Outcome{Fault: "removed cluster"}
	}
	return o
}

// estimated returns clusters for which Karmada's estimates equal berth's: each has
// room for that many pods, and nothing but pods is counted.
func (s *scenario) estimated(x *multicluster.Explanation) []*clusterv1.Cluster {
	var out []*clusterv1.Cluster
	for _, c := range s.theirs {
		for i := range x.Clusters {
			if x.Clusters[i].Cluster == c.Name {
				c = c.DeepCopy()
				c.Spec.ResourceModels = nil
				c.Status.ResourceSummary = &clusterv1.ResourceSummary{Allocatable: corev1.ResourceList{
					corev1.ResourcePods: *resourcev1.NewQuantity(x.Clusters[i].Available, resourcev1.DecimalSI),
				}}
			}
		}
		out = append(out, c)
	}
	return out
}

// noneCanTakeAll reports whether a duplicated workload spreads by a group without
// any cluster that can take all replicas. Karmada then divides by their number.
func (s *scenario) noneCanTakeAll(x *multicluster.Explanation) bool {
	if strategy, _ := s.workload.Placement.Strategy(); strategy != multicluster.Duplicated || x.Selection == nil {
		return false
	}
	has := map[string]int64{}
	for _, t := range s.workload.Clusters {
		has[t.Name] = t.Replicas
	}
	able := map[string]bool{}
	for _, c := range x.Clusters {
		able[c.Cluster] = c.Feasible && c.Available+has[c.Cluster] >= s.workload.Replicas
	}
	for _, groups := range x.Selection.Groups {
		for _, g := range groups {
			if !slices.ContainsFunc(g.Clusters, func(name string) bool { return able[name] }) {
				return true
			}
		}
	}
	return false
}

// compareErrors compares the errors if one side has no result.
func (s *scenario) compareErrors(failure error, x *multicluster.Explanation) live.Outcome {
	if failure == nil || x.Error == "" {
		return live.Differ("Schedule", errorText(failure), x, s.input())
	}
	var unfit *karmadaframework.FitError
	if errors.As(failure, &unfit) {
		// Karmada reports one of several reasons at random. Another comparison
		// checks the filters one by one.
		for _, c := range x.Clusters {
			if c.Feasible {
				return live.Differ("Schedule", failure.Error(), x, s.input())
			}
		}
		return live.Outcome{}
	}
	// The errors of estimators follow the relevant error.
	ours, _, _ := strings.Cut(x.Error, "\nestimator ")
	if last := innermost(failure); last != ours && failure.Error() != ours {
		return live.Differ("Schedule", failure.Error(), x, s.input())
	}
	return live.Outcome{}
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

// wraps reports whether Karmada's 32-bit sums of replicas wrap.
func (s *scenario) wraps(x *multicluster.Explanation) bool {
	sum := int64(0)
	for _, t := range s.workload.Clusters {
		sum += t.Replicas
	}
	for _, c := range x.Clusters {
		if c.Feasible {
			sum += c.Available
		}
	}
	return sum > math.MaxInt32
}

// estimateFault names the fault that makes Karmada's estimate of a feasible cluster
// wrong, "" if all are right.
func (s *scenario) estimateFault(x *multicluster.Explanation) string {
	if s.spec.Replicas == 0 {
		return ""
	}
	if s.wraps(x) {
		return "wrap"
	}
	nothing := s.spec.ReplicaRequirements != nil
	if nothing {
		for _, q := range s.spec.ReplicaRequirements.ResourceRequest {
			nothing = nothing && q.Sign() <= 0
		}
	}
	for _, t := range s.theirs {
		i := slices.IndexFunc(x.Clusters, func(c multicluster.ClusterExplanation) bool { return c.Cluster == t.Name && c.Feasible })
		sum := t.Status.ResourceSummary
		if i < 0 || sum == nil {
			continue
		}
		nodes := 0
		for _, m := range sum.AllocatableModelings {
			nodes += m.Count
		}
		switch {
		case x.Clusters[i].EstimateError != "":
			return "panic, for counts are missing"
		case randomOrder(t, s.spec.ReplicaRequirements):
			return "random order"
		case sum.Allocatable.Pods().Value()-sum.Allocated.Pods().Value()-sum.Allocating.Pods().Value() > math.MaxInt32:
			return "wrap"
		case nothing && nodes > 0:
			return "nothing"
		}
	}
	return ""
}

// filters compares the filters and the scorer one by one.
func (v Version) filters(r *rand.Rand) live.Outcome {
	s := newScenario(r)
	ours := map[string]multicluster.Filter{}
	known := v.Scheduler.Filters
	if known == nil {
		known = multicluster.DefaultFilters()
	}
	for _, f := range known {
		ours[f.Name()] = f
	}
	for name, factory := range plugins.NewInTreeRegistry() {
		p, err := factory()
		if err != nil {
			panic(err)
		}
		for _, c := range s.theirs {
			i := slices.IndexFunc(s.ours, func(o *api.Cluster) bool { return o.Name == c.Name })
			if f, ok := p.(karmadaframework.FilterPlugin); ok {
				if ours[name] == nil {
					return live.Differ("filters", name, "no such filter", nil)
				}
				want := f.Filter(context.Background(), s.spec, s.status, c)
				got := ours[name].Filter(s.workload, s.ours[i])
				if want.IsSuccess() != got.IsSuccess() || !slices.Equal(want.Reasons(), got.Reasons()) {
					return live.Differ(name, want.Reasons(), got.Reasons(), s.input())
				}
			}
			if f, ok := p.(karmadaframework.ScorePlugin); ok {
				want, _ := f.Score(context.Background(), s.spec, c)
				got := int64(0)
				if name == (multicluster.Locality{}).Name() {
					got = multicluster.Locality{}.Score(s.workload, s.ours[i])
				}
				if want != got {
					return live.Differ(name, want, got, s.input())
				}
			}
		}
	}
	return live.Outcome{}
}
