package scenarios

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// twoProfiles is a file with two profiles. The second fills nodes up.
const twoProfiles = `profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}]
  plugins:
    score:
      disabled: [{name: NodeResourcesBalancedAllocation}]
`

// TestProfiles gives both schedulers one file with two profiles. Pods that choose one of
// them go where it sends them, the same nodes with both; a pod that chooses none is left
// alone.
func TestProfiles(t *testing.T) {
	berthOnly(t, "there is nothing to compare")
	s := begin(t)
	const n = 140
	var placements [2]map[string]string
	for i, p := range []controlplane.Program{controlplane.KubeScheduler, controlplane.BerthScheduler} {
		if i > 0 {
			s.clean()
		}
		s.nodes(60)
		s.pods(n, func(i int) *v1.Pod {
			pod := objects.Mixed(i)
			if i%3 == 0 {
				pod.Spec.SchedulerName = "packing"
			}
			return pod
		})
		other := objects.Pod("other", "100m", "100Mi")
		other.Spec.SchedulerName = "somebody-else"
		s.pod(other)
		s.startAs(p, listing, func(c *controlplane.Scheduler) { c.More = twoProfiles })
		s.someBound(n)
		placements[i] = s.guard.Placements()
		if node := placements[i]["other"]; node != "" {
			t.Errorf("%s bound a pod of another scheduler to %s", p.Name(), node)
		}
	}
	same(t, placements[0], placements[1], n+1)
}
