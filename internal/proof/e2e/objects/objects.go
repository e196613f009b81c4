// Package objects makes the nodes and pods of the scenarios from their numbers, so that
// every run and every scheduler gets the same.
package objects

import (
	"fmt"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is where all pods are.
const Namespace = v1.NamespaceDefault

// The labels, and the taint of every tenth node.
const (
	zoneLabel = v1.LabelTopologyZone
	hostLabel = v1.LabelHostname
	diskLabel = "disk"
	taintKey  = "dedicated"
)

// zones is how many zones the nodes are spread over.
const zones = 5

// NodeName is the name of node i.
func NodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

// Node is node i: 16 CPUs, 64 GiB and room for 110 pods, in one of five zones. Every third
// has a fast disk; every tenth is tainted for batch work.
func Node(i int) *v1.Node {
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: NodeName(i), Labels: map[string]string{
			hostLabel: NodeName(i), zoneLabel: fmt.Sprintf("zone-%d", i%zones), diskLabel: "slow",
		}},
		Status: v1.NodeStatus{
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
			Allocatable: v1.ResourceList{
				v1.ResourceCPU: resource.MustParse("16"), v1.ResourceMemory: resource.MustParse("64Gi"),
				v1.ResourcePods: resource.MustParse("110"), v1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
			},
		},
	}
	node.Status.Capacity = node.Status.Allocatable
	if i%3 == 0 {
		node.Labels[diskLabel] = "fast"
	}
	if i%10 == 0 {
		node.Spec.Taints = []v1.Taint{{Key: taintKey, Value: "batch", Effect: v1.TaintEffectNoSchedule}}
	}
	return node
}

// Pod is a pod that asks for the amounts and nothing else.
func Pod(name, cpu, memory string) *v1.Pod {
	none := int64(0)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace, Labels: map[string]string{"app": "plain"}},
		Spec: v1.PodSpec{
			TerminationGracePeriodSeconds: &none,
			Containers: []v1.Container{{
				Name: "main", Image: "registry.invalid/app:1",
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
					v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory),
				}},
			}},
		},
	}
}

// MixedName is the name of pod i of the mix.
func MixedName(i int) string { return fmt.Sprintf("pod-%05d", i) }

// shape is one sort of pods of the mix.
type shape struct {
	name  string
	apply func(pod *v1.Pod) // changes a plain pod
}

// shapes are the shapes of the mix.
var shapes = []shape{
	{"plain", func(*v1.Pod) {}},
	{"fast disk", func(pod *v1.Pod) { // a must; zone 1 is a wish
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
				{MatchExpressions: []v1.NodeSelectorRequirement{in(diskLabel, "fast")}},
			}},
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{
				{Weight: 10, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{in(zoneLabel, "zone-1")}}},
			},
		}}
	}},
	{"spread over zones", func(pod *v1.Pod) { spread(pod, zoneLabel, v1.DoNotSchedule) }},
	{"spread over nodes", func(pod *v1.Pod) { spread(pod, hostLabel, v1.ScheduleAnyway) }},
	{"near its own", func(pod *v1.Pod) {
		pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
				{Weight: 50, PodAffinityTerm: term(pod, zoneLabel)},
			},
		}}
	}},
	{"one a node", func(pod *v1.Pod) {
		pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(pod, hostLabel)},
		}}
	}},
	{"batch", func(pod *v1.Pod) { // may go where the taint is
		pod.Spec.Tolerations = []v1.Toleration{{Key: taintKey, Operator: v1.TolerationOpEqual, Value: "batch", Effect: v1.TaintEffectNoSchedule}}
	}},
}

// Shapes is how many shapes the mix has: pod i has shape i modulo Shapes.
var Shapes = len(shapes)

// ShapeName is the name of a shape.
func ShapeName(shape int) string { return shapes[shape].name }

// ShapeOf is the shape of a pod of the mix, by the pod's name.
func ShapeOf(pod string) int { return NumberOf(pod) % len(shapes) }

// ZoneOf is the zone of a node, by the node's name.
func ZoneOf(node string) string { return fmt.Sprintf("zone-%d", NumberOf(node)%zones) }

// NumberOf is the number at the end of a name that this package made.
func NumberOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		panic("objects: " + err.Error())
	}
	return n
}

// Mixed is pod i of the mix: one of seven shapes, in apps of about fifty pods of a shape.
func Mixed(i int) *v1.Pod {
	pod := Pod(MixedName(i), fmt.Sprintf("%dm", 100+50*(i%7)), fmt.Sprintf("%dMi", 128+64*(i%5)))
	pod.Labels["app"] = fmt.Sprintf("app-%d-%d", i%len(shapes), i/(50*len(shapes)))
	shapes[i%len(shapes)].apply(pod)
	return pod
}

func in(key string, values ...string) v1.NodeSelectorRequirement {
	return v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}
}

func spread(pod *v1.Pod, key string, when v1.UnsatisfiableConstraintAction) {
	pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: when,
		LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
	}}
}

func term(pod *v1.Pod, key string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}}
}
