package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// priorities are the classes whose pods evict nobody, with the priority of each.
var priorities = map[string]int32{"e2e-low": 10, "e2e-middle": 100, "e2e-high": 1000}

// preempting is the class whose pods evict others. It has the highest priority.
const preempting = "e2e-preempting"

// sortedClasses are the names of priorities: high, low, middle.
func sortedClasses() []string { return slices.Sorted(maps.Keys(priorities)) }

// priorityClasses makes all classes.
func (s *scenario) priorityClasses() {
	s.Helper()
	create := func(name string, value int32, policy v1.PreemptionPolicy) {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy}
		_, err := s.client.SchedulingV1().PriorityClasses().Create(s.ctx, class, metav1.CreateOptions{})
		s.ok(err)
	}
	for _, name := range sortedClasses() {
		create(name, priorities[name], v1.PreemptNever)
	}
	create(preempting, 10000, v1.PreemptLowerPriority)
	// The admission of pods learns of classes by a watch.
	for _, name := range append(sortedClasses(), preempting) {
		pod := objects.Pod("dry-run", "1m", "1Mi")
		pod.Spec.PriorityClassName = name
		s.eventually("the API server knows class "+name, func() bool {
			_, err := s.client.CoreV1().Pods(pod.Namespace).Create(s.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err == nil
		})
	}
}

// TestPriorities has more pods than there is room for. Those of the higher priorities get
// it, and nobody is evicted.
func TestPriorities(t *testing.T) {
	s := begin(t)
	const room = 40 // two nodes that are not tainted, 20 pods of 800m each
	s.ok(objects.CreateNodesOf(s.ctx, s.client, []int{1, 2}))
	s.priorityClasses()
	classes := sortedClasses() // high, low, middle
	s.pods(60, func(i int) *v1.Pod {
		class := classes[i%3]
		pod := objects.Pod(fmt.Sprintf("%s-%02d", class, i), "800m", "100Mi")
		pod.Spec.PriorityClassName = class
		return pod
	})
	s.start()
	s.someBound(room)
	s.eventually("all other pods are unschedulable", func() bool {
		waiting := 0
		for name := range prefix(s.guard.Placements(), "e2e-low") {
			if condition(s.get(name), v1.PodScheduled).Reason == v1.PodReasonUnschedulable {
				waiting++
			}
		}
		return waiting == 20
	})
	for name, node := range s.guard.Placements() {
		if low := name[:7] == "e2e-low"; low != (node == "") {
			t.Errorf("pod %s has node %q", name, node)
		}
	}
	if v := s.guard.View(); v.Binds != room || v.Deleted != 0 {
		t.Errorf("%d bindings and %d deletions, want %d and none", v.Binds, v.Deleted, room)
	}
}
