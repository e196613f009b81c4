package gang

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A Cycle is a whole attempt for a group as kube-scheduler makes it: checks, placement,
// and preemption if it fails. It says what to tell the group and each pod.
type Cycle struct {
	// Condition is PodGroupInitiallyScheduled.
	Condition api.Condition
	// Outcome is what came of the placement; nil if the checks ended the attempt.
	Outcome *Outcome
	// Eviction is what preemption found; nil if it was not asked.
	Eviction *Eviction
	// Pods has an entry for each pod of the group, in its order.
	Pods []PodReport
}

// A PodReport says what became of a pod in a [Cycle].
type PodReport struct {
	Pod *framework.PodInfo
	// Node is where the pod stands, "" if it does not.
	Node string
	// Reason and Message are those of the pod's condition PodScheduled if it does not
	// stand. Nominated is the node that it is nominated to.
	Reason, Message, Nominated string
}

// GroupOf returns the group of an object, with the pods that wait for it and the members
// that are on nodes of the snapshot. Its pods are in the order given. It is nil, which
// every attempt refuses, if the snapshot or the object is.
func GroupOf(snap *framework.Snapshot, object *api.PodGroup, pods []*framework.PodInfo) *Group {
	if snap == nil || object == nil {
		return nil
	}
	return GroupWith(object, pods, Members(snap, object.Namespace, object.Name))
}

// GroupWith is GroupOf for a caller that knows the members on nodes.
func GroupWith(object *api.PodGroup, pods []*framework.PodInfo, present []Member) *Group {
	if object == nil {
		return nil
	}
	g := &Group{
		Namespace: object.Namespace, Name: object.Name, Pods: pods, Min: object.MinCount(), Priority: object.Priority(),
		Present: present,
	}
	if key := object.TopologyKey(); key != "" {
		g.Topology = []Level{{Key: key}}
	}
	return g
}

// Attempt makes a whole attempt for a group. If the group stands, its pods count in the
// snapshot; otherwise the snapshot is as before. It is an [*api.InvalidError] if the
// snapshot or the group is nil or malformed: a negative minimum, levels out of order, and
// pods that are nil, foreign, there twice, or not where the group says. Whatever else goes
// wrong is in the Cycle, as kube-scheduler reports it.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go.
func (p *Placer) Attempt(snap *framework.Snapshot, g *Group) (*Cycle, error) {
	return p.attempt(snap, g, true)
}

// Propose is Attempt, taken back: the snapshot is exactly as before.
func (p *Placer) Propose(snap *framework.Snapshot, g *Group) (*Cycle, error) {
	return p.attempt(snap, g, false)
}

func (p *Placer) attempt(snap *framework.Snapshot, g *Group, keep bool) (*Cycle, error) {
	if err := p.checkUsable(snap, g); err != nil {
		return nil, err
	}
	c := &Cycle{Condition: api.Condition{Type: api.PodGroupInitiallyScheduled, Status: api.ConditionFalse}}
	for _, pod := range g.Pods {
		c.Pods = append(c.Pods, PodReport{Pod: pod})
	}
	if err := g.validate(p.sched.Profile()); err != nil {
		c.Fail(err)
		return c, nil
	}
	out, err := p.place(snap, g, keep)
	if err != nil {
		c.Fail(err)
		return c, nil
	}
	c.Outcome = out
	switch {
	case out.Status == Placed:
		c.succeed()
		return c, nil
	case out.Status == Stuck:
		c.Fail(fmt.Errorf("%s", out.Text))
		return c, nil
	}
	if c.Eviction, err = p.preempt(snap, g, g); err != nil {
		c.Fail(err)
		return c, nil
	}
	c.refuse(g, p.sched.HasPostFilterNamed("DynamicResources"))
	return c, nil
}

// validate returns why kube-scheduler refuses to try the group.
func (g *Group) validate(profile string) error {
	scheduler, policy := "", api.PreemptionPolicy("")
	check := func(pod *framework.PodInfo) error {
		spec := &pod.Pod.Spec
		if scheduler == "" {
			scheduler = spec.SchedulerName
		}
		own := api.PreemptLowerPriority
		if spec.PreemptionPolicy != nil {
			own = *spec.PreemptionPolicy
		}
		switch {
		case spec.SchedulerName != scheduler:
			return fmt.Errorf("all pods in a single pod group should have the same .spec.schedulerName set, got: %q and %q", spec.SchedulerName, scheduler)
		case pod.Priority != g.Priority:
			return fmt.Errorf("all pods in a single pod group should have the same priority as the pod group's priority, got %d and %d", pod.Priority, g.Priority)
		case policy == "":
			policy = own
		case policy != own:
			return fmt.Errorf("all pods in a single pod group should have the same preemption policy, got %s and %s", own, policy)
		}
		return nil
	}
	for _, pod := range g.Pods {
		if err := check(pod); err != nil {
			return err
		}
	}
	for _, m := range g.Present {
		if err := check(m.Pod); err != nil {
			return err
		}
	}
	if name := nameOf(scheduler); name != nameOf(profile) {
		return fmt.Errorf("profile not found for scheduler name %q", scheduler)
	}
	return nil
}

func nameOf(scheduler string) string {
	if scheduler == "" {
		return scheduling.DefaultName
	}
	return scheduler
}

// Fail makes the Cycle report an error for the group and all its pods: none stands.
func (c *Cycle) Fail(err error) {
	c.Condition.Status, c.Condition.Reason, c.Condition.Message = api.ConditionFalse, api.PodGroupReasonSchedulerError, err.Error()
	for i := range c.Pods {
		c.Pods[i] = PodReport{Pod: c.Pods[i].Pod, Reason: api.PodReasonSchedulerError, Message: err.Error()}
	}
}

// succeed reports the pods that stand, and why the others do not.
func (c *Cycle) succeed() {
	c.Condition.Status, c.Condition.Reason = api.ConditionTrue, api.PodGroupReasonScheduled
	for _, at := range c.Outcome.Placed {
		c.Pods[at.index].Node = at.Node
	}
	for _, l := range c.Outcome.Left {
		c.reject(l)
	}
}

func (c *Cycle) reject(l Left) {
	p := &c.Pods[l.index]
	if p.Reason = api.PodReasonUnschedulable; l.Err != nil {
		p.Message = l.Err.Error()
	}
}

// refuse reports that the group does not stand, with what preemption said.
func (c *Cycle) refuse(g *Group, claims bool) {
	text := c.Outcome.Text
	c.Condition.Reason, c.Condition.Message = api.PodGroupReasonUnschedulable, text
	e := c.Eviction
	if claims && e.Status == framework.Unschedulable && len(g.Topology) == 0 {
		c.Condition.Message += ", deallocation and deletion of ResourceClaims completed"
	}
	if e.Text != "" {
		c.Condition.Message += ", " + e.Text
	}
	fitted := map[int]bool{}
	if best := c.Outcome.Best(); best != nil {
		for _, at := range best.Placed {
			fitted[at.index] = true
		}
	}
	waits := e.Status == framework.Success
	for _, l := range c.Outcome.Left {
		switch c.reject(l); {
		case l.Err != nil:
		case fitted[l.index] && waits:
			c.Pods[l.index].Message = c.Condition.Message
		case fitted[l.index]:
			c.Pods[l.index].Message = textUnschedulable + ", " + c.Condition.Message
		default:
			c.Pods[l.index].Message = text
		}
	}
	if !waits {
		return
	}
	for _, at := range e.Nominated {
		c.Pods[at.index].Nominated = at.Node
	}
}
