package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

// remnants are the pods that still count on nodes which they have left, because an extension has refused to
// let them go. What extensions hold for a pod, they hold by its identity. So while anything of a pod
// remains, it is not placed again: what it then got would go with the remnant.
type remnants map[podIdentity][]remnant

// A podIdentity is what extensions recognise a pod by.
type podIdentity struct {
	podKey
	uid api.UID
}

func identityOf(p *api.Pod) podIdentity { return podIdentity{keyOf(p), p.UID} }

// A remnant is a version of a pod that counts on a node of the snapshot.
type remnant struct {
	info *framework.PodInfo
	node string
	err  error // of the extension, when it refused
}

// is compares remnants: out of order, events may let a node have two of a pod.
func (x remnant) is(y remnant) bool { return x.info == y.info && x.node == y.node }

// of returns what remains of a pod.
func (r remnants) of(p *framework.PodInfo) []remnant {
	if len(r) == 0 {
		return nil
	}
	return r[identityOf(p.Pod)]
}

// on returns what remains of a pod on one node, the first if events out of order have let it have two there.
func (r remnants) on(p *framework.PodInfo, node string) (remnant, bool) {
	for _, x := range r.of(p) {
		if x.node == node {
			return x, true
		}
	}
	return remnant{}, false
}

func (r remnants) add(x remnant) {
	id := identityOf(x.info.Pod)
	r[id] = append(r[id], x)
}

func (r remnants) drop(x remnant) {
	id := identityOf(x.info.Pod)
	r[id] = slices.DeleteFunc(r[id], x.is)
	if len(r[id]) == 0 {
		delete(r, id)
	}
}

// departing counts the bindings under way of pods that are gone: while there is one, the pod counts on its node. Events
// that come out of order may say that such a pod is there again.
type departing map[podIdentity]int

func (x departing) begin(p *pod) { x[identityOf(p.info.Pod)]++ }

func (x departing) end(p *pod) {
	id := identityOf(p.info.Pod)
	if x[id]--; x[id] <= 0 {
		delete(x, id)
	}
}

// stillThere returns why a pod must not be placed, nil if nothing of it counts anywhere.
func (d *Driver) stillThere(p *framework.PodInfo) error {
	if left := d.remnants.of(p); len(left) > 0 {
		return fmt.Errorf("pod %s still counts on node %s, which it has left: %w", p.Pod.Key(), left[0].node, left[0].err)
	}
	if len(d.departing) > 0 && d.departing[identityOf(p.Pod)] > 0 {
		return fmt.Errorf("pod %s: a binding from before it was deleted has not ended", p.Pod.Key())
	}
	return nil
}

// leave takes a pod out of the snapshot. If an extension refuses that, it remains until the extension lets it go.
func (d *Driver) leave(p *framework.PodInfo, node string) {
	x := remnant{p, node, nil}
	x.err = d.takeOff(x)
	d.problem(x.err)
	if !mayRetry(x.err) {
		return
	}
	d.remnants.add(x)
	d.retryAfter(x.err, func(ctx context.Context) error {
		if !slices.ContainsFunc(d.remnants.of(p), x.is) { // another version has its place, or the node was lost
			return nil
		}
		if err := d.takeOff(x); err != nil {
			return err
		}
		d.left(ctx, x)
		return nil
	})
}

// takeOff takes a version of a pod off a node. What extensions hold for the pod, they hold by its identity; so it goes
// only with the last of the pod.
func (d *Driver) takeOff(x remnant) error {
	if d.isElsewhere(x) {
		return d.snap.LosePod(x.info, x.node)
	}
	return d.snap.RemovePod(x.info, x.node)
}

// giveUp gives back what extensions hold for a pod whose node the snapshot does not have, unless it is elsewhere.
func (d *Driver) giveUp(x remnant) {
	if !d.isElsewhere(x) {
		d.problem(d.snap.ReleasePod(x.info))
	}
}

// isElsewhere reports whether there is more of a pod than one version on one node: events out of order say that it is
// on another node, an extension keeps it there, or a binding from before it was deleted is under way.
func (d *Driver) isElsewhere(x remnant) bool {
	id := identityOf(x.info.Pod)
	p := d.pods[id.podKey]
	return p != nil && p.host != nil && p.info.Pod.UID == id.uid && !x.is(remnant{info: p.counted, node: p.host.name}) ||
		len(d.departing) > 0 && d.departing[id] > 0 ||
		slices.ContainsFunc(d.remnants.of(x.info), func(y remnant) bool { return !x.is(y) })
}

// left notes that a remnant is gone. If an event has put the pod on another node meanwhile, it counts there anew.
func (d *Driver) left(ctx context.Context, x remnant) {
	d.remnants.drop(x)
	d.retell(x.info.Pod)
	d.move(ctx, assignedEvent(queueing.ActionDelete), x.info, nil, nil) // now there is room
}

// loseRemnants lets the remnants on a node go that the snapshot has lost.
func (d *Driver) loseRemnants(ctx context.Context, node string) {
	var lost []remnant
	for _, list := range d.remnants {
		for _, x := range list {
			if x.node == node {
				lost = append(lost, x)
			}
		}
	}
	slices.SortFunc(lost, func(a, b remnant) int {
		p, q := a.info.Pod, b.info.Pod
		return cmp.Or(cmp.Compare(p.Namespace, q.Namespace), cmp.Compare(p.Name, q.Name), cmp.Compare(p.UID, q.UID))
	})
	for _, x := range lost {
		d.giveUp(x)
		d.left(ctx, x)
	}
}
