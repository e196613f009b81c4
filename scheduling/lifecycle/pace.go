package lifecycle

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/internal/podsize"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/queue"
)

// pace leaves time for other pods. Nothing else is scheduled during an attempt, and some attempts
// come again without an event: those for groups that fail, and those for pods that end with an
// error. Together they get a part of the time, each namespace as much as the others, and in it each
// group and pod. However many groups a namespace has, they hold up one another most.
//
// It counts the costly groups and pods of each namespace: those whose last attempt failed in this
// way. How long an attempt took is told by the driver's clock: if that is virtual, none is costly.
//
// Another pace is for pods that are rejected, or whose bindings fail, if their attempts take long: a
// user can cause events that wake them, or bindings that fail. They wait only while other pods are
// ready, and not for long, because the next event may be the one that helps. Large pods are always among these,
// because filters let events wake them without a comparison.
type pace map[string]int

const (
	paceShare = 5         // costly attempts get one of so many parts of the time
	paceMost  = time.Hour // the longest delay

	slowAttempt = 100 * time.Microsecond // from when on the rejection of a pod is costly
	deferMost   = time.Minute            // the longest time for which such a pod stands back
)

// A pacer is a group or a pod.
type pacer struct{ costly bool }

// count counts a group or pod among the costly ones of its namespace, or no longer.
func (p pace) count(x *pacer, namespace string, costly bool) {
	switch {
	case costly && !x.costly:
		p[namespace]++
	case !costly && x.costly:
		if p[namespace]--; p[namespace] == 0 {
			delete(p, namespace)
		}
	}
	x.costly = costly
}

// failed counts an attempt that failed, and returns for how long the next one must wait.
func (p pace) failed(x *pacer, namespace string, took time.Duration) time.Duration {
	p.count(x, namespace, took > 0)
	if !x.costly {
		return 0
	}
	rivals := time.Duration(len(p) * p[namespace]) // if all namespaces had as many
	if took >= paceMost/paceShare/rivals {
		return paceMost
	}
	return took * paceShare * rivals
}

// deferSlow lets a pod that is rejected, or has lost its binding, stand back if its attempt took
// long, or if it is large.
func (d *Driver) deferSlow(it *queue.Item, p *pod, took time.Duration) {
	if took >= slowAttempt || podsize.IsLarge(p.info) {
		d.queue.Defer(it, d.clock.Now().Add(min(deferMost, d.slow.failed(&p.slow, p.info.Pod.Namespace, took))))
	}
}

// cheap counts a pod among none of the costly ones: it is not tried again, or is being tried.
func (d *Driver) cheap(p *pod) {
	d.pace.count(&p.pacer, p.info.Pod.Namespace, false)
	d.slow.count(&p.slow, p.info.Pod.Namespace, false)
}

// sinceAttempt is how long the attempt at hand has taken.
func (d *Driver) sinceAttempt() time.Duration { return d.clock.Now().Sub(d.snap.Now()) }

// delay keeps what has failed from its next attempt, as long as its share of the time says.
func (d *Driver) delay(it *queue.Item, x *pacer, namespace string, began time.Time) {
	now := d.clock.Now()
	if wait := d.pace.failed(x, namespace, now.Sub(began)); wait > 0 {
		d.queue.Delay(it, now.Add(wait))
	}
}

// delayRest is delay for a group that stands, and is out of the queue. If pods were left behind,
// they are tried again as if all had failed: others of the group may fit each time.
func (d *Driver) delayRest(g *group, c *gang.Cycle) {
	if !slices.ContainsFunc(c.Pods, func(r gang.PodReport) bool { return r.Node == "" }) {
		d.pace.count(&g.pacer, g.key.namespace, false)
		return
	}
	g.past.NotBefore = d.clock.Now().Add(d.pace.failed(&g.pacer, g.key.namespace, g.took))
}
