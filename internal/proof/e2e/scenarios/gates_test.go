package scenarios

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestGates leaves pods with scheduling gates alone until their last gate is taken away.
func TestGates(t *testing.T) {
	s := begin(t)
	const gated, free = 20, 20
	name := func(i int) string { return fmt.Sprintf("gated-%02d", i) }
	s.nodes(10)
	s.start()
	s.pods(gated, func(i int) *v1.Pod {
		pod := objects.Pod(name(i), "100m", "100Mi")
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "e2e/one"}, {Name: "e2e/two"}}
		return pod
	})
	s.pods(free, objects.Mixed)
	s.someBound(free)
	remove := func(patch string) {
		t.Helper()
		for i := range gated {
			_, err := s.client.CoreV1().Pods(objects.Namespace).Patch(s.ctx, name(i), types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
			s.ok(err)
		}
	}
	check := func() {
		t.Helper()
		time.Sleep(500 * time.Millisecond)
		for pod, node := range prefix(s.guard.Placements(), "gated-") {
			if node != "" {
				t.Errorf("pod %s has gates and got node %s", pod, node)
			}
		}
	}
	check()
	remove(`{"spec":{"schedulingGates":[{"$patch":"delete","name":"e2e/one"}]}}`)
	check()
	remove(`{"spec":{"schedulingGates":[{"$patch":"delete","name":"e2e/two"}]}}`)
	s.bound(gated + free)
}
