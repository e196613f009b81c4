package main

import (
	"context"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
)

// refuse is berth's side of the plugin that rejects pods at Reserve or Permit.
type refuse struct{}

func (refuse) Name() string { return "Refuse" }

func (refuse) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	return refuseAt("Reserve", c.Pod)
}

func (refuse) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

func (refuse) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	return refuseAt("Permit", c.Pod), 0
}

func refuseAt(point string, p *framework.PodInfo) framework.Status {
	if p.Pod.Annotations[cases.AnnRefuse] != point {
		return framework.Status{}
	}
	return framework.UnschedulableStatus(framework.Text("refused by " + point))
}
