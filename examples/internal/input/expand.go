package input

import "github.com/berth-sched/berth/examples/internal/expand"

// maxPods bounds the pods that workloads stand for: a short manifest, that any user of a
// cluster may have made, may ask for many.
const maxPods = 500_000

// expand adds the pods that workloads stand for, and remembers the workload of each.
func (c *Cluster) expand() error {
	c.made = map[string]string{}
	return expand.Workloads(&c.Objects, maxPods, func(pod, workload string) error {
		c.made["pod "+pod] = workload
		return nil
	})
}
