package input

import "github.com/berth-sched/berth/examples/internal/expand"

// expand adds the pods that workloads stand for, and remembers the workload of each.
func (c *Cluster) expand() error {
	c.made = map[string]string{}
	return expand.Workloads(&c.Objects, func(pod, workload string) error {
		c.made["pod "+pod] = workload
		return nil
	})
}
