package scenarios

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestSameNodes gives the same pods to the stock scheduler and to berth's, and compares
// the node of every pod. All nodes are scored, by one worker.
func TestSameNodes(t *testing.T) {
	berthOnly(t, "there is nothing to compare")
	for _, test := range []struct {
		name  string
		place func(s *scenario, n int, p controlplane.Program)
		long  bool // the next one begins like it
	}{
		{"pods wait when the scheduler starts", placeWaiting, false},
		{"pods come one after the other", placeLive, true},
		{"the scheduler is restarted half way", placeRestarted, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.long {
				longOnly(t)
			}
			s := begin(t)
			n := size(280, 5000)
			var placements [2]map[string]string
			for i, p := range []controlplane.Program{controlplane.KubeScheduler, controlplane.BerthScheduler} {
				if i > 0 {
					s.clean()
				}
				test.place(s, n, p)
				placements[i] = s.guard.Placements()
			}
			same(t, placements[0], placements[1], n)
		})
	}
}

// same compares placements by the stock scheduler and by berth's.
func same(t *testing.T, want, got map[string]string, n int) {
	t.Helper()
	if len(want) != n {
		t.Fatalf("%d placements by the stock scheduler, want %d", len(want), n)
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if want[name] != got[name] {
			differ = append(differ, fmt.Sprintf("%s: stock %s, berth %q", name, want[name], got[name]))
		}
	}
	if len(differ) > 0 {
		t.Errorf("%d of %d pods are on another node:\n%s", len(differ), n, fmt.Sprint(differ[:min(len(differ), 10)]))
	}
	t.Logf("%d of %d pods are on the same node", n-len(differ), n)
}

// listing makes the order known in which the stock scheduler first learns of objects.
func listing(c *controlplane.Scheduler) { c.Lists = true }

// nodesInOrder makes the nodes of these numbers one after the other.
func (s *scenario) nodesInOrder(numbers []int) {
	s.Helper()
	s.ok(objects.Each(s.ctx, 1, len(numbers), func(ctx context.Context, i int) error {
		return objects.CreateNode(ctx, s.client, objects.Node(numbers[i]))
	}))
}

// services lets default spreading have something to spread: one service for some apps.
func (s *scenario) services(n int) {
	s.Helper()
	for i := range n {
		app := objects.Mixed(i).Labels["app"]
		service := &v1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("e2e-%s", app), Namespace: objects.Namespace},
			Spec:       v1.ServiceSpec{ClusterIP: v1.ClusterIPNone, Selector: map[string]string{"app": app}},
		}
		_, err := s.client.CoreV1().Services(objects.Namespace).Create(s.ctx, service, metav1.CreateOptions{})
		s.ok(err)
	}
}

// placeWaiting has pods of three priorities wait, so that their order in the queue is
// known.
func placeWaiting(s *scenario, n int, p controlplane.Program) {
	s.nodes(300)
	s.services(3)
	s.priorityClasses()
	classes := sortedClasses()
	s.pods(n, func(i int) *v1.Pod {
		pod := objects.Mixed(i)
		pod.Spec.PriorityClassName = classes[i/11%len(classes)]
		return pod
	})
	s.startAs(p, listing)
	s.bound(n)
}

// placeLive creates pods one after the other while the scheduler runs.
func placeLive(s *scenario, n int, p controlplane.Program) {
	s.startAs(p, listing)
	s.awake()
	order := rand.New(rand.NewPCG(2, 1)).Perm(300)
	s.nodesInOrder(order)
	s.knows(order[len(order)-1])
	s.ok(objects.CreatePodsInOrder(s.ctx, s.client, n, objects.Mixed))
	s.bound(n)
}

// placeRestarted has nodes come in an order that is not that of their names, and
// restarts the scheduler when half of the pods are bound. From then on, the nodes have
// another order.
func placeRestarted(s *scenario, n int, p controlplane.Program) {
	first := s.startAs(p, listing)
	s.awake()
	order := rand.New(rand.NewPCG(1, 1)).Perm(200)
	s.nodesInOrder(order)
	s.knows(order[len(order)-1])
	half := n / 2
	s.ok(objects.CreatePodsInOrder(s.ctx, s.client, half, objects.Mixed))
	s.bound(half)
	first.Kill()
	s.pods(n-half, func(i int) *v1.Pod { return objects.Mixed(half + i) })
	s.startAs(p, listing)
	s.bound(n)
}
