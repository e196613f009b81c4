package scenarios

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestPreemption fills all nodes with pods of a low priority that take their time to
// leave. Pods of a high one evict no more than they need and spare what a budget
// protects; they are nominated meanwhile, and bound when the room is free. The guard sees
// it if one is bound before.
func TestPreemption(t *testing.T) {
	s := begin(t)
	const nodes, perNode, high = 6, 8, 4 // eight pods of 2 CPUs fill a node; a high one needs 4
	s.ok(objects.CreateNodesOf(s.ctx, s.client, []int{1, 2, 3, 4, 5, 6}))
	s.priorityClasses()
	grace := int64(30)
	s.pods(nodes*perNode, func(i int) *v1.Pod {
		pod := objects.Pod(fmt.Sprintf("low-%02d", i), "2", "1Gi")
		pod.Spec.PriorityClassName, pod.Spec.TerminationGracePeriodSeconds = "e2e-low", &grace
		// Two nodes' worth of pods is protected by a budget.
		pod.Spec.NodeName = objects.NodeName(1 + i/perNode)
		if i/perNode < 2 {
			pod.Labels["app"] = "protected"
		}
		return pod
	})
	s.budget("protected")
	p := s.start()
	s.pods(high, func(i int) *v1.Pod {
		pod := objects.Pod(fmt.Sprintf("high-%02d", i), "4", "1Gi")
		pod.Spec.PriorityClassName = preempting
		return pod
	})

	nominated := map[string]string{}
	s.eventually("all pods of the high priority are nominated", func() bool {
		for i := range high {
			pod := s.get(fmt.Sprintf("high-%02d", i))
			if pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != "" {
				nominated[pod.Name] = pod.Status.NominatedNodeName
			}
		}
		return len(nominated) == high
	})
	targets := 0
	list, err := s.client.CoreV1().Pods(objects.Namespace).List(s.ctx, metav1.ListOptions{})
	s.ok(err)
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.DeletionTimestamp == nil {
			continue
		}
		c := condition(pod, v1.DisruptionTarget)
		if c.Status != v1.ConditionTrue || c.Reason != v1.PodReasonPreemptionByScheduler {
			t.Errorf("pod %s is asked to leave with the condition %+v", pod.Name, c)
		}
		if *pod.DeletionGracePeriodSeconds != grace {
			t.Errorf("pod %s has %d s to leave, want its grace of %d", pod.Name, *pod.DeletionGracePeriodSeconds, grace)
		}
		targets++
	}
	t.Logf("%d pods were leaving when the last was nominated", targets)
	s.kubelet(2 * time.Second) // from now on, pods leave

	s.ok(s.guard.Wait(s.ctx, "the evicted are gone and the others bound", viewBound(nodes*perNode-2*high+high)))
	for name, node := range prefix(s.guard.Placements(), "high-") {
		if nominated[name] != node {
			t.Errorf("pod %s was nominated for %s and bound to %s", name, nominated[name], node)
		}
		if node == objects.NodeName(1) || node == objects.NodeName(2) {
			t.Errorf("pod %s evicted pods of %s, which a budget protects", name, node)
		}
	}
	if v := s.guard.View(); v.Deleted != 2*high || v.Binds != high {
		t.Errorf("%d evicted and %d bound, want %d and %d", v.Deleted, v.Binds, 2*high, high)
	}
	s.stop(p)
}

// budget allows no disruption of the pods of an app.
func (s *scenario) budget(app string) {
	s.Helper()
	none := intstr.FromInt32(0)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: objects.Namespace},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		},
	}
	_, err := s.client.PolicyV1().PodDisruptionBudgets(objects.Namespace).Create(s.ctx, budget, metav1.CreateOptions{})
	s.ok(err)
}
