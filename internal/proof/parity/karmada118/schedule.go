package karmada118

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/scheduler/cache"
	"github.com/karmada-io/karmada/pkg/scheduler/core"
	karmadaframework "github.com/karmada-io/karmada/pkg/scheduler/framework"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins"
	"github.com/karmada-io/karmada/pkg/util"
	"github.com/karmada-io/karmada/pkg/util/indexregistry"
	"github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// A lister lists the given clusters.
type lister []*clusterv1.Cluster

func (l lister) List(labels.Selector) ([]*clusterv1.Cluster, error) { return l, nil }
func (l lister) Get(string) (*clusterv1.Cluster, error)             { return nil, errors.New("not asked for") }

// The labels that group workloads.
const together, apart = "together", "apart"

// group returns the groups of a workload as Karmada's detector finds them.
func group(p *policyv1.Placement, object map[string]string) *workv1.WorkloadAffinityGroups {
	g := &workv1.WorkloadAffinityGroups{}
	if a := p.WorkloadAffinity; a != nil {
		if a.Affinity != nil {
			if v, ok := object[together]; ok {
				g.AffinityGroup = together + "=" + v
			}
		}
		if a.AntiAffinity != nil {
			if v, ok := object[apart]; ok {
				g.AntiAffinityGroup = apart + "=" + v
			}
		}
	}
	if *g == (workv1.WorkloadAffinityGroups{}) {
		return nil
	}
	return g
}

func workloadAffinity(r *rand.Rand) *policyv1.WorkloadAffinity {
	if random.Chance(r, 50) {
		return nil
	}
	a := &policyv1.WorkloadAffinity{}
	if random.Chance(r, 60) {
		a.Affinity = &policyv1.WorkloadAffinityTerm{GroupByLabelKey: together}
	}
	if random.Chance(r, 60) {
		a.AntiAffinity = &policyv1.WorkloadAntiAffinityTerm{GroupByLabelKey: apart}
	}
	return a
}

func objectLabels(r *rand.Rand) map[string]string {
	l := map[string]string{}
	for _, key := range []string{together, apart} {
		if random.Chance(r, 85) {
			l[key] = random.Pick(r, "x", "x", "y", "")
		}
	}
	return l
}

// overflow puts the affinity into a term with overflow tiers.
func overflow(r *rand.Rand, p *policyv1.Placement, clusters []string) {
	term := policyv1.ClusterAffinityTerm{AffinityName: "first", ClusterAffinity: random.Affinity(r, clusters)}
	if term.LabelSelector == nil && term.FieldSelector == nil && len(term.ClusterNames) == 0 && len(term.ExcludeClusters) == 0 {
		term.ClusterNames = []string{clusters[0]}
	}
	if util.IsOverflowSchedulingAllowed(p.ReplicaScheduling) {
		for i := range 1 + r.IntN(3) {
			term.OverflowAffinities = append(term.OverflowAffinities, policyv1.OverflowClusterAffinity{
				AffinityName: fmt.Sprint("tier", i), ClusterAffinity: random.Affinity(r, clusters),
			})
		}
	}
	p.ClusterAffinity, p.ClusterAffinities = nil, []policyv1.ClusterAffinityTerm{term}
}

// schedule compares whole decisions. The clusters report only the number of pods:
// other cases compare estimates.
func schedule(r *rand.Rand) live.Outcome {
	var theirs []*clusterv1.Cluster
	var ours []*api.Cluster
	var clusters []string
	for i := range 1 + r.IntN(9) {
		c := random.Member(r, random.Name(i))
		c.Spec.ResourceModels, c.Status.ResourceSummary = nil, &clusterv1.ResourceSummary{Allocatable: corev1.ResourceList{
			corev1.ResourcePods: *resource.NewQuantity(int64(r.IntN(60)), resource.DecimalSI),
		}}
		clusters, theirs = append(clusters, c.Name), append(theirs, c)
		ours = append(ours, live.Convert[*api.Cluster](c))
	}
	spec, status := random.Binding(r, clusters), &workv1.ResourceBindingStatus{}
	spec.ReplicaRequirements = nil
	if random.Chance(r, 60) {
		overflow(r, spec.Placement, clusters)
		status.SchedulerObservedAffinityName = "first"
	}
	spec.Placement.WorkloadAffinity = workloadAffinity(r)
	object := objectLabels(r)
	spec.WorkloadAffinityGroups = group(spec.Placement, object)
	fresh := random.Chance(r, 15)
	if fresh {
		noon := metav1.NewTime(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
		later := metav1.NewTime(noon.Add(time.Minute))
		spec.RescheduleTriggeredAt, status.LastScheduledTime = &later, &noon
	}
	w := &multicluster.Workload{
		Name: "default/web", UID: api.UID(spec.Resource.UID), APIVersion: spec.Resource.APIVersion, Kind: spec.Resource.Kind, Replicas: int64(spec.Replicas),
		Labels: object, Placement: live.Convert[multicluster.Placement](spec.Placement), Fresh: fresh, Clusters: targets(spec.Clusters),
	}
	for _, t := range spec.GracefulEvictionTasks {
		w.Evicting = append(w.Evicting, t.FromCluster)
	}
	bindings, others := neighbours(r, clusters)
	s := multicluster.Karmada118()
	s.Filters = append(multicluster.DefaultFilters(), multicluster.AffinityToWorkloads{Others: others}, multicluster.AntiAffinityToWorkloads{Others: others})
	r.Shuffle(len(ours), func(i, j int) { ours[i], ours[j] = ours[j], ours[i] })
	got, gotErr := s.Schedule(ours, w)
	want, wantErr := ask(theirs, spec, status, bindings)
	input := []any{theirs, spec, status, others}
	if (gotErr == nil) != (wantErr == nil) {
		return live.Differ("Schedule", fmt.Sprint(want, wantErr), fmt.Sprint(got, gotErr), input)
	}
	if gotErr != nil {
		var theirFit *karmadaframework.FitError
		var ourFit *multicluster.FitError
		if errors.As(wantErr, &theirFit) && errors.As(gotErr, &ourFit) {
			return live.Outcome{} // Karmada reports one of several reasons at random
		}
		if text := inmost(wantErr); text != gotErr.Error() && wantErr.Error() != gotErr.Error() {
			return live.Differ("Schedule", wantErr.Error(), gotErr.Error(), input)
		}
		return live.Outcome{}
	}
	if !slices.Equal(want, got.Targets) {
		return live.Differ("Schedule", want, got.Targets, input)
	}
	return live.Outcome{}
}

// inmost returns the text without the step that Karmada puts before it.
func inmost(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

func targets(list []workv1.TargetCluster) []multicluster.Target {
	out := []multicluster.Target{}
	for _, t := range list {
		out = append(out, multicluster.Target{Name: t.Name, Replicas: int64(t.Replicas)})
	}
	slices.SortFunc(out, func(a, b multicluster.Target) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// neighbours returns other workloads, for both. The list may include the workload to
// place.
func neighbours(r *rand.Rand, clusters []string) ([]*workv1.ResourceBinding, []*multicluster.Workload) {
	var theirs []*workv1.ResourceBinding
	var ours []*multicluster.Workload
	for i := range r.IntN(4) {
		name, space := fmt.Sprint("other-", i), random.Pick(r, "default", "default", "default", "elsewhere")
		if i == 0 && random.Chance(r, 20) {
			name = "web"
		}
		p, object := &policyv1.Placement{WorkloadAffinity: workloadAffinity(r)}, objectLabels(r)
		b := &workv1.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: names.GenerateBindingName("Deployment", name)}}
		b.Spec.WorkloadAffinityGroups = group(p, object)
		for _, c := range random.Some(r, clusters, random.Pick(r, 0, 30, 60)) {
			b.Spec.Clusters = append(b.Spec.Clusters, workv1.TargetCluster{Name: c, Replicas: int32(r.IntN(3))})
		}
		theirs = append(theirs, b)
		ours = append(ours, &multicluster.Workload{
			Name: space + "/" + name, Kind: "Deployment", Labels: object, Placement: live.Convert[multicluster.Placement](p), Clusters: targets(b.Spec.Clusters),
		})
	}
	return theirs, ours
}

// ask runs Karmada's decision.
func ask(clusters []*clusterv1.Cluster, spec *workv1.ResourceBindingSpec, status *workv1.ResourceBindingStatus, others []*workv1.ResourceBinding) ([]multicluster.Target, error) {
	by := func(of func(*workv1.WorkloadAffinityGroups) string) toolscache.IndexFunc {
		return func(x any) ([]string, error) {
			if g := x.(*workv1.ResourceBinding).Spec.WorkloadAffinityGroups; g != nil && of(g) != "" {
				return []string{of(g)}, nil
			}
			return nil, nil
		}
	}
	index := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
		indexregistry.ResourceBindingIndexByAffinityGroup:     by(func(g *workv1.WorkloadAffinityGroups) string { return g.AffinityGroup }),
		indexregistry.ResourceBindingIndexByAntiAffinityGroup: by(func(g *workv1.WorkloadAffinityGroups) string { return g.AntiAffinityGroup }),
	})
	for _, o := range others {
		if err := index.Add(o); err != nil {
			panic(err)
		}
	}
	algorithm, err := core.NewGenericScheduler(cache.NewCache(lister(clusters), index, 0), plugins.NewInTreeRegistry())
	if err != nil {
		panic(err)
	}
	result, err := algorithm.Schedule(context.Background(), spec.DeepCopy(), status, &core.ScheduleAlgorithmOption{})
	return targets(result.SuggestedClusters), err
}
