// Package random makes the random objects for the comparison of berth and Karmada.
// It builds with every version of Karmada.
package random

import (
	"fmt"
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

func Pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func Chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func Quantity(text string) resource.Quantity { return resource.MustParse(text) }

var cpus = []string{"0", "100u", "50m", "100m", "250m", "500m", "1", "1500m", "2", "3", "4", "7", "8", "16", "33", "64", "129"}

var memories = []string{"0", "64Mi", "100M", "256Mi", "500Mi", "1Gi", "1G", "2Gi", "4Gi", "6Gi", "16Gi", "20Gi", "32Gi", "60Gi", "64Gi", "300Gi"}

// Request returns a random resource request.
func Request(r *rand.Rand) corev1.ResourceList {
	l := corev1.ResourceList{}
	if Chance(r, 80) {
		l[corev1.ResourceCPU] = Quantity(Pick(r, cpus...))
	}
	if Chance(r, 70) {
		l[corev1.ResourceMemory] = Quantity(Pick(r, memories...))
	}
	if Chance(r, 10) {
		l[corev1.ResourceEphemeralStorage] = Quantity(Pick(r, "1Gi", "7Gi", "10G"))
	}
	if Chance(r, 15) {
		l["nvidia.com/gpu"] = Quantity(Pick(r, "0", "1", "2", "4"))
	}
	if Chance(r, 5) {
		l["storage"] = Quantity("3Gi")
	}
	return l
}

// Models returns random well-formed models.
func Models(r *rand.Rand) []clusterv1.ResourceModel {
	names := []corev1.ResourceName{corev1.ResourceCPU}
	for _, n := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "nvidia.com/gpu"} {
		if Chance(r, 60) {
			names = append(names, n)
		}
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := make([]clusterv1.ResourceModel, 1+r.IntN(6))
	at := make([]int64, len(names))
	for i := range out {
		out[i].Grade = uint(i)
		if i > 0 && Chance(r, 10) {
			out[i].Grade = out[i-1].Grade + uint(1+r.IntN(3))
		}
		for j, n := range names {
			low := at[j]
			at[j] += int64(1 + r.IntN(5))
			m := clusterv1.ResourceModelRange{Name: n, Min: step(n, low), Max: step(n, at[j])}
			if i == len(out)-1 {
				m.Max = Quantity("9223372036854775807")
			}
			out[i].Ranges = append(out[i].Ranges, m)
		}
	}
	return out
}

// step returns boundary number i of a resource's grades.
func step(name corev1.ResourceName, i int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(i*i*250, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(i*i<<29, resource.BinarySI)
	}
	return *resource.NewQuantity(i, resource.DecimalSI)
}

// Cluster returns a random cluster with a summary.
func Cluster(r *rand.Rand, name string) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": Pick(r, "a", "b", "c")}}}
	if Chance(r, 5) {
		return c
	}
	s := &clusterv1.ResourceSummary{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU:    Quantity(Pick(r, "4", "20", "64", "500", "1234567m")),
		corev1.ResourceMemory: Quantity(Pick(r, "16Gi", "64Gi", "512Gi", "2Ti", "100G")),
		corev1.ResourcePods:   Quantity(Pick(r, "0", "5", "110", "600", "1000", "5k")),
	}}
	if Chance(r, 1) {
		s.Allocatable[corev1.ResourcePods] = Quantity(Pick(r, "2147483647", "3G", "5000000000"))
	}
	if Chance(r, 30) {
		s.Allocatable["nvidia.com/gpu"] = Quantity(Pick(r, "0", "8", "64"))
	}
	if Chance(r, 30) {
		s.Allocatable[corev1.ResourceEphemeralStorage] = Quantity("500Gi")
	}
	if Chance(r, 70) {
		s.Allocated = corev1.ResourceList{
			corev1.ResourceCPU: Quantity(Pick(r, "0", "950m", "2", "17", "600")), corev1.ResourcePods: Quantity(Pick(r, "0", "3", "11", "110")),
			corev1.ResourceMemory: Quantity(Pick(r, "290Mi", "1Gi", "15Gi", "500M")),
		}
	}
	if Chance(r, 30) {
		s.Allocating = corev1.ResourceList{corev1.ResourceCPU: Quantity(Pick(r, "100m", "1")), corev1.ResourcePods: Quantity(Pick(r, "1", "4"))}
	}
	if Chance(r, 60) {
		c.Spec.ResourceModels = Models(r)
		if Chance(r, 80) {
			for _, m := range c.Spec.ResourceModels {
				s.AllocatableModelings = append(s.AllocatableModelings,
					clusterv1.AllocatableModeling{Grade: m.Grade, Count: Pick(r, 0, 0, 1, 2, 7, 40)})
			}
			if Chance(r, 2) {
				s.AllocatableModelings = s.AllocatableModelings[:len(s.AllocatableModelings)-1]
			}
		}
	}
	c.Status.ResourceSummary = s
	return c
}

// Member returns a random cluster with all fields that scheduling reads.
func Member(r *rand.Rand, name string) *clusterv1.Cluster {
	c := Cluster(r, name)
	c.Spec.Region = Pick(r, "", "r1", "r2", "r3", "r1", "r2", "r3")
	c.Spec.Provider = Pick(r, "", "p1", "p2", "p1", "p2")
	c.Spec.Zones = Pick(r, nil, []string{"z1"}, []string{"z2"}, []string{"z1", "z3"})
	if Chance(r, 15) {
		c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{
			Key: Pick(r, "k1", "k2"), Value: Pick(r, "", "v"),
			Effect: Pick(r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		})
	}
	if Chance(r, 90) {
		c.Status.APIEnablements = []clusterv1.APIEnablement{
			{GroupVersion: "v1", Resources: []clusterv1.APIResource{{Name: "pods", Kind: "Pod"}}},
			{GroupVersion: "apps/v1", Resources: []clusterv1.APIResource{{Name: "deployments", Kind: "Deployment"}}},
		}
	}
	if Chance(r, 50) {
		c.Status.Conditions = []metav1.Condition{{
			Type: clusterv1.ClusterConditionCompleteAPIEnablements, Status: Pick(r, metav1.ConditionTrue, metav1.ConditionFalse),
		}}
	}
	return c
}

// Affinity returns a random cluster affinity.
func Affinity(r *rand.Rand, names []string) policyv1.ClusterAffinity {
	var a policyv1.ClusterAffinity
	if Chance(r, 30) {
		a.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "tier", Operator: Pick(r, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn), Values: []string{Pick(r, "a", "b"), "c"},
		}}}
	}
	if Chance(r, 10) {
		a.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "a"}}
	}
	if Chance(r, 30) {
		e := corev1.NodeSelectorRequirement{
			Key:      Pick(r, "provider", "region", "zone"),
			Operator: Pick(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist),
		}
		if e.Operator == corev1.NodeSelectorOpIn || e.Operator == corev1.NodeSelectorOpNotIn {
			e.Values = []string{Pick(r, "p1", "r1", "z1"), Pick(r, "p2", "r2", "z3")}
		}
		a.FieldSelector = &policyv1.FieldSelector{MatchExpressions: []corev1.NodeSelectorRequirement{e}}
	}
	if Chance(r, 20) {
		a.ClusterNames = Some(r, names, 70)
	}
	if Chance(r, 20) {
		a.ExcludeClusters = Some(r, names, 15)
	}
	return a
}

func Some(r *rand.Rand, of []string, percent int) []string {
	var out []string
	for _, x := range of {
		if Chance(r, percent) {
			out = append(out, x)
		}
	}
	return out
}

// Placement returns a random placement.
func Placement(r *rand.Rand, names []string) *policyv1.Placement {
	p := &policyv1.Placement{}
	if Chance(r, 40) {
		a := Affinity(r, names)
		p.ClusterAffinity = &a
	}
	if Chance(r, 30) {
		p.ClusterTolerations = []corev1.Toleration{{Key: Pick(r, "k1", "k2", ""), Operator: corev1.TolerationOpExists}}
	}
	if Chance(r, 50) {
		low := r.IntN(4)
		p.SpreadConstraints = append(p.SpreadConstraints, policyv1.SpreadConstraint{
			SpreadByField: policyv1.SpreadByFieldCluster, MinGroups: low, MaxGroups: max(1, low+r.IntN(4)),
		})
		if Chance(r, 50) {
			low := 1 + r.IntN(2)
			p.SpreadConstraints = append(p.SpreadConstraints, policyv1.SpreadConstraint{
				SpreadByField: Pick(r, policyv1.SpreadByFieldRegion, policyv1.SpreadByFieldRegion, policyv1.SpreadByFieldZone, policyv1.SpreadByFieldProvider),
				MinGroups:     low, MaxGroups: low + r.IntN(2),
			})
		}
		r.Shuffle(len(p.SpreadConstraints), func(i, j int) {
			p.SpreadConstraints[i], p.SpreadConstraints[j] = p.SpreadConstraints[j], p.SpreadConstraints[i]
		})
	}
	if Chance(r, 15) {
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
				policyv1.StaticClusterWeight{TargetCluster: Affinity(r, names), Weight: int64(r.IntN(5))})
		}
	}
	return p
}

// Binding returns a random workload.
func Binding(r *rand.Rand, names []string) *workv1.ResourceBindingSpec {
	b := &workv1.ResourceBindingSpec{
		Resource: workv1.ObjectReference{
			APIVersion: "apps/v1", Kind: Pick(r, "Deployment", "Deployment", "Deployment", "StatefulSet"), Namespace: "default", Name: "web",
			UID: UID(r),
		},
		Replicas: int32(Pick(r, 0, 1, 2, 5, 12, 40, 200)), Placement: Placement(r, names),
	}
	if b.Replicas > 2 {
		b.Replicas += int32(r.IntN(10))
	}
	if Chance(r, 90) {
		l := Request(r)
		if Chance(r, 60) {
			l = corev1.ResourceList{corev1.ResourceCPU: Quantity(Pick(r, "100m", "500m", "1", "2"))}
		}
		b.ReplicaRequirements = &workv1.ReplicaRequirements{ResourceRequest: l}
	}
	if Chance(r, 50) {
		known := append(slices.Clone(names), "gone")
		for _, name := range Some(r, known, 30) {
			b.Clusters = append(b.Clusters, workv1.TargetCluster{Name: name, Replicas: int32(r.IntN(25))})
		}
		slices.SortFunc(b.Clusters, func(x, y workv1.TargetCluster) int {
			if x.Name < y.Name {
				return -1
			}
			return 1
		})
	}
	if Chance(r, 10) {
		b.GracefulEvictionTasks = []workv1.GracefulEvictionTask{{FromCluster: Pick(r, names...)}}
	}
	return b
}

// UID returns a random UID. Later versions use it to break ties.
func UID(r *rand.Rand) types.UID {
	return types.UID(Pick(r, "", fmt.Sprint("uid-", r.IntN(1000))))
}

func Name(i int) string { return fmt.Sprintf("m%02d", i) }

// Node returns a random node and the pods on it.
func Node(r *rand.Rand, name string) (*corev1.Node, []*corev1.Pod) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"disk": Pick(r, "ssd", "hdd"), "cores": Pick(r, "4", "8", "16"),
	}}}
	n.Spec.Unschedulable = Chance(r, 10)
	if Chance(r, 25) {
		n.Spec.Taints = []corev1.Taint{{
			Key: "dedicated", Value: Pick(r, "a", "b"),
			Effect: Pick(r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		}}
	}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: Quantity(Pick(r, "1", "4", "8", "16", "63500m")), corev1.ResourceMemory: Quantity(Pick(r, "2Gi", "7900Mi", "32Gi", "100G")),
		corev1.ResourcePods: Quantity(Pick(r, "3", "5", "110")),
	}
	if Chance(r, 30) {
		n.Status.Allocatable[corev1.ResourceEphemeralStorage] = Quantity("100Gi")
	}
	if Chance(r, 30) {
		n.Status.Allocatable["nvidia.com/gpu"] = Quantity(Pick(r, "1", "8"))
	}
	var pods []*corev1.Pod
	for i := range r.IntN(6) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(name, "-", i), Namespace: "default"}}
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
		l := corev1.ResourceList{}
		for name, q := range Request(r) {
			if q.Cmp(Quantity("4Gi")) < 0 {
				l[name] = q
			}
		}
		p.Spec.Containers[0].Resources.Requests = l
		p.Spec.NodeName = name
		pods = append(pods, p)
	}
	return n, pods
}

// Claim returns random requirements on nodes.
func Claim(r *rand.Rand) *workv1.NodeClaim {
	c := &workv1.NodeClaim{}
	if Chance(r, 25) {
		c.NodeSelector = map[string]string{"disk": Pick(r, "ssd", "hdd", "tape")}
	}
	if Chance(r, 40) {
		c.HardNodeAffinity = &corev1.NodeSelector{}
		for range 1 + r.IntN(2) {
			e := corev1.NodeSelectorRequirement{Key: Pick(r, "disk", "cores", "none"), Operator: Pick(r,
				corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
				corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
			switch e.Operator {
			case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
				e.Values = []string{Pick(r, "ssd", "hdd", "4", "8")}
			case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
				e.Values = []string{Pick(r, "4", "7", "8")}
			}
			c.HardNodeAffinity.NodeSelectorTerms = append(c.HardNodeAffinity.NodeSelectorTerms,
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}})
		}
	}
	if Chance(r, 40) {
		c.Tolerations = []corev1.Toleration{Pick(
			r,
			corev1.Toleration{Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		)}
	}
	return c
}
