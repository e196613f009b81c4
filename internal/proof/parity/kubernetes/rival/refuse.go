package rival

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// AnnRefuse is the annotation of pods that the plugin Refuse rejects; its value is
// the point: Reserve or Permit.
const AnnRefuse = "refuse"

// refuseName is the name of the plugin, and of no other.
const refuseName = "Refuse"

// refuse is a plugin that rejects pods late, after other plugins have made their
// reservations.
type refuse struct{}

func (refuse) Name() string { return refuseName }

func (refuse) Reserve(_ context.Context, _ fwk.CycleState, p *v1.Pod, _ string) *fwk.Status {
	return refuseAt("Reserve", p)
}

func (refuse) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}

func (refuse) Permit(_ context.Context, _ fwk.CycleState, p *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	return refuseAt("Permit", p), 0
}

func refuseAt(point string, p *v1.Pod) *fwk.Status {
	if p.Annotations[AnnRefuse] != point {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, "refused by "+point)
}

// refusing registers the plugin.
func refusing() frameworkruntime.Registry {
	return frameworkruntime.Registry{refuseName: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return refuse{}, nil }}
}

// enableRefuse adds the plugin to all profiles, after all others.
func enableRefuse(c *config.KubeSchedulerConfiguration) {
	for i := range c.Profiles {
		p := c.Profiles[i].Plugins
		p.MultiPoint.Enabled = append(p.MultiPoint.Enabled, config.Plugin{Name: refuseName})
	}
}
