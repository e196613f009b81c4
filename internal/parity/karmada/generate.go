package karmada

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

var cpus = []string{"0", "100u", "50m", "100m", "250m", "500m", "1", "1500m", "2", "3", "4", "7", "8", "16", "33", "64", "129"}

var memories = []string{"0", "64Mi", "100M", "256Mi", "500Mi", "1Gi", "1G", "2Gi", "4Gi", "6Gi", "16Gi", "20Gi", "32Gi", "60Gi", "64Gi", "300Gi"}

// request returns a random resource request.
func request(r *rand.Rand) corev1.ResourceList {
	l := corev1.ResourceList{}
	if chance(r, 80) {
		l[corev1.ResourceCPU] = quantity(pick(r, cpus...))
	}
	if chance(r, 70) {
		l[corev1.ResourceMemory] = quantity(pick(r, memories...))
	}
	if chance(r, 10) {
		l[corev1.ResourceEphemeralStorage] = quantity(pick(r, "1Gi", "7Gi", "10G"))
	}
	if chance(r, 15) {
		l["nvidia.com/gpu"] = quantity(pick(r, "0", "1", "2", "4"))
	}
	if chance(r, 5) {
		l["storage"] = quantity("3Gi")
	}
	return l
}

// models returns random well-formed models.
func models(r *rand.Rand) []clusterv1.ResourceModel {
	names := []corev1.ResourceName{corev1.ResourceCPU}
	for _, n := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "nvidia.com/gpu"} {
		if chance(r, 60) {
			names = append(names, n)
		}
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := make([]clusterv1.ResourceModel, 1+r.IntN(6))
	at := make([]int64, len(names))
	for i := range out {
		out[i].Grade = uint(i)
		if i > 0 && chance(r, 10) {
			out[i].Grade = out[i-1].Grade + uint(1+r.IntN(3))
		}
		for j, n := range names {
			low := at[j]
			at[j] += int64(1 + r.IntN(5))
			m := clusterv1.ResourceModelRange{Name: n, Min: step(n, low), Max: step(n, at[j])}
			if i == len(out)-1 {
				m.Max = quantity("9223372036854775807")
			}
			out[i].Ranges = append(out[i].Ranges, m)
		}
	}
	return out
}

// step returns the border number i of a resource's grades.
func step(name corev1.ResourceName, i int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(i*i*250, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(i*i<<29, resource.BinarySI)
	}
	return *resource.NewQuantity(i, resource.DecimalSI)
}

// cluster returns a random cluster with a summary.
func cluster(r *rand.Rand, name string) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": pick(r, "a", "b", "c")}}}
	if chance(r, 5) {
		return c
	}
	s := &clusterv1.ResourceSummary{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU:    quantity(pick(r, "4", "20", "64", "500", "1234567m")),
		corev1.ResourceMemory: quantity(pick(r, "16Gi", "64Gi", "512Gi", "2Ti", "100G")),
		corev1.ResourcePods:   quantity(pick(r, "0", "5", "110", "600", "1000", "5k")),
	}}
	if chance(r, 1) {
		s.Allocatable[corev1.ResourcePods] = quantity(pick(r, "2147483647", "3G", "5000000000"))
	}
	if chance(r, 30) {
		s.Allocatable["nvidia.com/gpu"] = quantity(pick(r, "0", "8", "64"))
	}
	if chance(r, 30) {
		s.Allocatable[corev1.ResourceEphemeralStorage] = quantity("500Gi")
	}
	if chance(r, 70) {
		s.Allocated = corev1.ResourceList{
			corev1.ResourceCPU: quantity(pick(r, "0", "950m", "2", "17", "600")), corev1.ResourcePods: quantity(pick(r, "0", "3", "11", "110")),
			corev1.ResourceMemory: quantity(pick(r, "290Mi", "1Gi", "15Gi", "500M")),
		}
	}
	if chance(r, 30) {
		s.Allocating = corev1.ResourceList{corev1.ResourceCPU: quantity(pick(r, "100m", "1")), corev1.ResourcePods: quantity(pick(r, "1", "4"))}
	}
	if chance(r, 60) {
		c.Spec.ResourceModels = models(r)
		if chance(r, 80) {
			for _, m := range c.Spec.ResourceModels {
				s.AllocatableModelings = append(s.AllocatableModelings,
					clusterv1.AllocatableModeling{Grade: m.Grade, Count: pick(r, 0, 0, 1, 2, 7, 40)})
			}
			if chance(r, 2) {
				s.AllocatableModelings = s.AllocatableModelings[:len(s.AllocatableModelings)-1]
			}
		}
	}
	c.Status.ResourceSummary = s
	return c
}

// member returns a random cluster with all that scheduling reads.
func member(r *rand.Rand, name string) *clusterv1.Cluster {
	c := cluster(r, name)
	c.Spec.Region = pick(r, "", "r1", "r2", "r3", "r1", "r2", "r3")
	c.Spec.Provider = pick(r, "", "p1", "p2", "p1", "p2")
	c.Spec.Zones = pick(r, nil, []string{"z1"}, []string{"z2"}, []string{"z1", "z3"})
	if chance(r, 15) {
		c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{
			Key: pick(r, "k1", "k2"), Value: pick(r, "", "v"),
			Effect: pick(r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		})
	}
	if chance(r, 90) {
		c.Status.APIEnablements = []clusterv1.APIEnablement{
			{GroupVersion: "v1", Resources: []clusterv1.APIResource{{Name: "pods", Kind: "Pod"}}},
			{GroupVersion: "apps/v1", Resources: []clusterv1.APIResource{{Name: "deployments", Kind: "Deployment"}}},
		}
	}
	if chance(r, 50) {
		c.Status.Conditions = []metav1.Condition{{
			Type: clusterv1.ClusterConditionCompleteAPIEnablements, Status: pick(r, metav1.ConditionTrue, metav1.ConditionFalse),
		}}
	}
	return c
}

// affinity returns a random cluster affinity.
func affinity(r *rand.Rand, names []string) policyv1.ClusterAffinity {
	var a policyv1.ClusterAffinity
	if chance(r, 30) {
		a.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "tier", Operator: pick(r, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn), Values: []string{pick(r, "a", "b"), "c"},
		}}}
	}
	if chance(r, 10) {
		a.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "a"}}
	}
	if chance(r, 30) {
		e := corev1.NodeSelectorRequirement{
			Key:      pick(r, "provider", "region", "zone"),
			Operator: pick(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist),
		}
		if e.Operator == corev1.NodeSelectorOpIn || e.Operator == corev1.NodeSelectorOpNotIn {
			e.Values = []string{pick(r, "p1", "r1", "z1"), pick(r, "p2", "r2", "z3")}
		}
		a.FieldSelector = &policyv1.FieldSelector{MatchExpressions: []corev1.NodeSelectorRequirement{e}}
	}
	if chance(r, 20) {
		a.ClusterNames = some(r, names, 70)
	}
	if chance(r, 20) {
		a.ExcludeClusters = some(r, names, 15)
	}
	return a
}

func some(r *rand.Rand, of []string, percent int) []string {
	var out []string
	for _, x := range of {
		if chance(r, percent) {
			out = append(out, x)
		}
	}
	return out
}

// placement returns a random placement.
func placement(r *rand.Rand, names []string) *policyv1.Placement {
	p := &policyv1.Placement{}
	if chance(r, 40) {
		a := affinity(r, names)
		p.ClusterAffinity = &a
	}
	if chance(r, 30) {
		p.ClusterTolerations = []corev1.Toleration{{Key: pick(r, "k1", "k2", ""), Operator: corev1.TolerationOpExists}}
	}
	if chance(r, 50) {
		low := r.IntN(4)
		p.SpreadConstraints = append(p.SpreadConstraints, policyv1.SpreadConstraint{
			SpreadByField: policyv1.SpreadByFieldCluster, MinGroups: low, MaxGroups: max(1, low+r.IntN(4)),
		})
		if chance(r, 50) {
			low := 1 + r.IntN(2)
			p.SpreadConstraints = append(p.SpreadConstraints, policyv1.SpreadConstraint{
				SpreadByField: pick(r, policyv1.SpreadByFieldRegion, policyv1.SpreadByFieldRegion, policyv1.SpreadByFieldZone, policyv1.SpreadByFieldProvider),
				MinGroups:     low, MaxGroups: low + r.IntN(2),
			})
		}
		r.Shuffle(len(p.SpreadConstraints), func(i, j int) {
			p.SpreadConstraints[i], p.SpreadConstraints[j] = p.SpreadConstraints[j], p.SpreadConstraints[i]
		})
	}
	if chance(r, 15) {
		return p
	}
	s := &policyv1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1.ReplicaSchedulingTypeDivided}
	p.ReplicaScheduling = s
	switch r.IntN(5) {
	case 0:
		s.ReplicaSchedulingType = policyv1.ReplicaSchedulingTypeDuplicated
	case 1:
		s.ReplicaDivisionPreference = policyv1.ReplicaDivisionPreferenceAggregated
	case 2:
		s.ReplicaDivisionPreference = policyv1.ReplicaDivisionPreferenceWeighted
		s.WeightPreference = &policyv1.ClusterPreferences{DynamicWeight: policyv1.DynamicWeightByAvailableReplicas}
	case 3:
		s.ReplicaDivisionPreference = policyv1.ReplicaDivisionPreferenceWeighted
	case 4:
		s.ReplicaDivisionPreference = policyv1.ReplicaDivisionPreferenceWeighted
		s.WeightPreference = &policyv1.ClusterPreferences{}
		for range 1 + r.IntN(3) {
			s.WeightPreference.StaticWeightList = append(s.WeightPreference.StaticWeightList,
				policyv1.StaticClusterWeight{TargetCluster: affinity(r, names), Weight: int64(r.IntN(5))})
		}
	}
	return p
}

// binding returns a random workload.
func binding(r *rand.Rand, names []string) *workv1.ResourceBindingSpec {
	b := &workv1.ResourceBindingSpec{
		Resource: workv1.ObjectReference{
			APIVersion: "apps/v1", Kind: pick(r, "Deployment", "Deployment", "Deployment", "StatefulSet"), Namespace: "default", Name: "web",
			UID: uidOf(r),
		},
		Replicas: int32(pick(r, 0, 1, 2, 5, 12, 40, 200)), Placement: placement(r, names),
	}
	if b.Replicas > 2 {
		b.Replicas += int32(r.IntN(10))
	}
	if chance(r, 90) {
		l := request(r)
		if chance(r, 60) {
			l = corev1.ResourceList{corev1.ResourceCPU: quantity(pick(r, "100m", "500m", "1", "2"))}
		}
		b.ReplicaRequirements = &workv1.ReplicaRequirements{ResourceRequest: l}
	}
	if chance(r, 50) {
		known := append(slices.Clone(names), "gone")
		for _, name := range some(r, known, 30) {
			b.Clusters = append(b.Clusters, workv1.TargetCluster{Name: name, Replicas: int32(r.IntN(25))})
		}
		slices.SortFunc(b.Clusters, func(x, y workv1.TargetCluster) int {
			if x.Name < y.Name {
				return -1
			}
			return 1
		})
	}
	if chance(r, 10) {
		b.GracefulEvictionTasks = []workv1.GracefulEvictionTask{{FromCluster: pick(r, names...)}}
	}
	return b
}

// uidOf returns a random UID, by which later versions break ties.
func uidOf(r *rand.Rand) types.UID {
	return types.UID(pick(r, "", fmt.Sprint("uid-", r.IntN(1000))))
}

func nameOf(i int) string { return fmt.Sprintf("m%02d", i) }

// node returns a random node and the pods on it.
func node(r *rand.Rand, name string) (*corev1.Node, []*corev1.Pod) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"disk": pick(r, "ssd", "hdd"), "cores": pick(r, "4", "8", "16"),
	}}}
	n.Spec.Unschedulable = chance(r, 10)
	if chance(r, 25) {
		n.Spec.Taints = []corev1.Taint{{
			Key: "dedicated", Value: pick(r, "a", "b"),
			Effect: pick(r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		}}
	}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: quantity(pick(r, "1", "4", "8", "16", "63500m")), corev1.ResourceMemory: quantity(pick(r, "2Gi", "7900Mi", "32Gi", "100G")),
		corev1.ResourcePods: quantity(pick(r, "3", "5", "110")),
	}
	if chance(r, 30) {
		n.Status.Allocatable[corev1.ResourceEphemeralStorage] = quantity("100Gi")
	}
	if chance(r, 30) {
		n.Status.Allocatable["nvidia.com/gpu"] = quantity(pick(r, "1", "8"))
	}
	var pods []*corev1.Pod
	for i := range r.IntN(6) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(name, "-", i), Namespace: "default"}}
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
		l := corev1.ResourceList{}
		for name, q := range request(r) {
			if q.Cmp(quantity("4Gi")) < 0 {
				l[name] = q
			}
		}
		p.Spec.Containers[0].Resources.Requests = l
		p.Spec.NodeName = name
		pods = append(pods, p)
	}
	return n, pods
}

// claim returns random demands on nodes.
func claim(r *rand.Rand) *workv1.NodeClaim {
	c := &workv1.NodeClaim{}
	if chance(r, 25) {
		c.NodeSelector = map[string]string{"disk": pick(r, "ssd", "hdd", "tape")}
	}
	if chance(r, 40) {
		c.HardNodeAffinity = &corev1.NodeSelector{}
		for range 1 + r.IntN(2) {
			e := corev1.NodeSelectorRequirement{Key: pick(r, "disk", "cores", "none"), Operator: pick(r,
				corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
				corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
			switch e.Operator {
			case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
				e.Values = []string{pick(r, "ssd", "hdd", "4", "8")}
			case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
				e.Values = []string{pick(r, "4", "7", "8")}
			}
			c.HardNodeAffinity.NodeSelectorTerms = append(c.HardNodeAffinity.NodeSelectorTerms,
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}})
		}
	}
	if chance(r, 40) {
		c.Tolerations = []corev1.Toleration{pick(
			r,
			corev1.Toleration{Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		)}
	}
	return c
}

// big is the number of pods from which Karmada's numbers wrap.
const big = math.MaxInt32
