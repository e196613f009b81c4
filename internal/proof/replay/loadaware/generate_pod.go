package loadaware

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// unplaced returns a pod without a node: a new one or a copy of an existing one.
func (g *generator) unplaced() *api.Pod {
	if len(g.pods) > 0 && g.chance(30) {
		p := *oneOf(g, g.pods...)
		p.Spec.NodeName = ""
		return &p
	}
	return g.newPod()
}

// newPod returns a pod without a node.
func (g *generator) newPod() *api.Pod {
	i := len(g.pods)
	p := &api.Pod{ObjectMeta: api.ObjectMeta{
		Name: fmt.Sprintf("p%d", i), Namespace: oneOf(g, "default", "other"), UID: api.UID(fmt.Sprintf("uid-%d", i)),
	}}
	if i > 0 && g.chance(4) { // the successor of another
		p.Name, p.Namespace = g.pods[i-1].Name, g.pods[i-1].Namespace
	}
	g.classify(p)
	for k := range 1 + g.IntN(2) {
		p.Spec.Containers = append(p.Spec.Containers, api.Container{Name: fmt.Sprintf("c%d", k), Resources: g.resources()})
	}
	for i := 0; i < 4 && g.chance(15+25*min(i, 1)); i++ {
		c := api.Container{Name: fmt.Sprintf("init%d", i), Resources: g.resources()}
		if g.chance(40) {
			c.RestartPolicy = new(api.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if g.chance(8) {
		p.Spec.Resources = new(g.resources())
	}
	if g.chance(8) {
		p.Spec.Overhead = resource.List{resource.CPU: g.amount(resource.CPU, g.most(resource.CPU)/20)}
	}
	if g.chance(4) {
		p.OwnerReferences = []api.OwnerReference{{APIVersion: "apps/v1", Kind: oneOf(g, "DaemonSet", "ReplicaSet"), Name: "o", UID: "o"}}
		if g.chance(40) { // the controlling owner is one of two
			p.OwnerReferences = append(p.OwnerReferences, api.OwnerReference{
				APIVersion: "apps/v1", Kind: oneOf(g, "DaemonSet", "ReplicaSet"), Name: "c", UID: "c", Controller: new(true),
			})
		}
	}
	g.annotatePod(p)
	g.setStatus(p)
	g.pods = append(g.pods, p)
	return p
}

func (g *generator) classify(p *api.Pod) {
	label := func(key, value string) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
	if g.chance(25) {
		label(estimator.LabelPriorityClass, oneOf(g, "koord-prod", "koord-prod", "koord-mid", "koord-batch", "koord-free", "", "gold"))
	}
	if g.chance(15) {
		label(estimator.LabelQoSClass, oneOf(g, "LSE", "LSR", "LS", "BE", "SYSTEM", "x"))
	}
	if g.chance(40) {
		p.Spec.Priority = new(oneOf[int32](g, 9000, 9999, 9500, 7000, 7999, 5000, 5999, 3000, 0, 100, -5, 2_000_000_000))
	}
}

func (g *generator) resources() api.ResourceRequirements {
	var r api.ResourceRequirements
	for i, name := range slices.Concat(names, rare) {
		percent := 60
		if i > 1 {
			percent = 12
		}
		most := g.most(name) / 4
		var q resource.Quantity
		if g.chance(percent) {
			if r.Requests == nil {
				r.Requests = resource.List{}
			}
			q = g.amount(name, most)
			r.Requests[name] = q
		}
		if g.chance(percent / 2) {
			if r.Limits == nil {
				r.Limits = resource.List{}
			}
			if q.IsZero() || g.chance(50) {
				q = g.amount(name, most)
			}
			r.Limits[name] = q
		}
	}
	return r
}

func (g *generator) annotatePod(p *api.Pod) {
	annotate := func(key, value string) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
	if g.chance(12) {
		annotate(estimator.AnnotationScalingFactors, oneOf(g, `{"cpu":80}`, `{"cpu":150,"memory":10}`, `{}`, `{"cpu":"x"}`, `null`, `{"nvidia.com/gpu":50}`))
	}
	if g.chance(12) {
		annotate(estimator.AnnotationEstimateScheduled, oneOf(g, "0", "-1", "60", "600", "x", ""))
	}
	if g.chance(12) {
		annotate(estimator.AnnotationEstimateInitialized, oneOf(g, "0", "-1", "60", "600", "x", ""))
	}
}

func (g *generator) setStatus(p *api.Pod) {
	p.Status.Phase = oneOf(g, api.PodRunning, api.PodRunning, api.PodRunning, api.PodPending, api.PodSucceeded, api.PodFailed)
	if g.chance(70) && p.Status.Phase != api.PodPending {
		p.Status.Phase = api.PodRunning
	}
	if g.chance(8) {
		p.Status.QOSClass = oneOf(g, api.PodQOSGuaranteed, api.PodQOSBurstable, api.PodQOSBestEffort)
	}
	p.Status.Conditions = nil
	for _, t := range []api.PodConditionType{api.PodScheduled, api.PodInitialized} {
		for i := 0; i < 3 && g.chance(45/(1+4*min(i, 1))); i++ {
			c := api.PodCondition{Type: t, Status: api.ConditionTrue}
			if g.chance(10) {
				c.Status = oneOf(g, api.ConditionFalse, "Unknown")
			}
			if g.chance(90) {
				c.LastTransitionTime = g.recent()
			}
			p.Status.Conditions = append(p.Status.Conditions, c)
		}
	}
}

// recent returns a time around now, often at a distance that some rule depends on.
func (g *generator) recent() time.Time {
	d := g.Int64N(600)
	if g.chance(60) {
		d = oneOf[int64](g, 0, 1, 29, 30, 31, 59, 60, 61, 90, 119, 120, 179, 180, 181, 240, 300)
	}
	if g.chance(5) {
		d = -d
	}
	return g.now.Add(-time.Duration(d) * time.Second)
}
