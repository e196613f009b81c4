package scenarios

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// answering is the profile from which a subject answers kube-scheduler's questions. No
// pod has its name, so the subject schedules none.
const answering = "e2e-answering"

// TestExtender has a stock kube-scheduler ask berth through every verb of the extender
// protocol, with and without the cache of nodes on berth's side. Affinity and taints are
// switched off in kube-scheduler: berth alone knows about them.
func TestExtender(t *testing.T) {
	for _, cached := range []bool{true, false} {
		t.Run(fmt.Sprintf("nodeCacheCapable=%t", cached), func(t *testing.T) {
			s := begin(t)
			const nodes, pods = 20, 70
			s.nodes(nodes)
			s.priorityClasses()
			// Nodes 1 and 3 are full of pods that may be evicted.
			for _, node := range []int{1, 2} {
				s.pods(2, func(i int) *v1.Pod {
					pod := objects.Pod(fmt.Sprintf("low-%d-%d", node, i), "7500m", "1Gi")
					pod.Spec.PriorityClassName, pod.Spec.NodeName = "e2e-low", objects.NodeName(node)
					return pod
				})
			}
			extender := s.startSubject(func(c *controlplane.Scheduler) {
				c.More = "profiles:\n- schedulerName: " + answering + "\n"
			})
			s.startAs(controlplane.KubeScheduler, func(c *controlplane.Scheduler) {
				c.More = fmt.Sprintf(`extenders:
- urlPrefix: %s/extender
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  bindVerb: bind
  weight: 10
  httpTimeout: 20s
  nodeCacheCapable: %t
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled: [{name: NodeAffinity}, {name: TaintToleration}]
`, extender.base, cached)
			})
			s.pods(pods, objects.Mixed)
			s.bound(pods + 4)
			for name, node := range prefix(s.guard.Placements(), "pod-") {
				number := objects.NumberOf(node)
				switch shape := objects.ShapeName(objects.ShapeOf(name)); {
				case shape == "fast disk" && number%3 != 0:
					t.Errorf("pod %s needs a fast disk and is on %s", name, node)
				case shape != "batch" && number%10 == 0:
					t.Errorf("pod %s does not tolerate the taint of %s", name, node)
				}
			}

			high := objects.Pod("high", "9", "1Gi") // needs a node for itself
			high.Spec.PriorityClassName = preempting
			high.Spec.NodeSelector = map[string]string{v1.LabelHostname: objects.NodeName(1)}
			s.pod(high)
			s.eventually("the pod that evicts is bound", func() bool { return s.get("high").Spec.NodeName != "" })
			if node := s.get("high").Spec.NodeName; node != objects.NodeName(1) {
				t.Errorf("pod high is on %s, want %s", node, objects.NodeName(1))
			}

			var verbs map[string]int
			s.ok(extender.ask("/verbs", &verbs))
			t.Logf("calls: %v", verbs)
			for verb, least := range map[string]int{"filter": pods + 1, "prioritize": pods, "bind": pods + 1, "preempt": 1} {
				if verbs[verb] < least {
					t.Errorf("%d calls of %s, want %d or more", verbs[verb], verb, least)
				}
			}
		})
	}
}
