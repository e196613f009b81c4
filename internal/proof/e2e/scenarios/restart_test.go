package scenarios

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestRestart starts the scheduler on a cluster with many pods and measures the CPU that
// it takes until it has bound its first pod.
func TestRestart(t *testing.T) {
	s := begin(t)
	const nodes = 500
	n := size(500, 50000)
	limit := 5 * time.Second
	s.nodes(nodes)
	s.pods(n, func(i int) *v1.Pod {
		pod := objects.Mixed(i)
		pod.Spec.NodeName = objects.NodeName(i % nodes)
		pod.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("100m")
		return pod
	})
	begin := time.Now()
	p := s.start()
	s.pod(objects.Pod("first", "100m", "100Mi"))
	s.bound(n + 1)
	usage, err := p.Usage()
	s.ok(err)
	t.Logf("with %d pods, the first was bound after %.1f s and %.2f s of CPU; %d MiB",
		n, time.Since(begin).Seconds(), usage.CPU.Seconds(), usage.Memory>>20)
	if usage.CPU > limit && !*stock {
		t.Errorf("%s of CPU, want %s or less", usage.CPU, limit)
	}
}
