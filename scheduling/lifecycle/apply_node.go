package lifecycle

import (
	"context"
	"errors"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/queue"
)

func nodeEvent(a queueing.ActionType) queueing.ClusterEvent {
	return queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: a}
}

// updateNode adds a node, together with the pods that are already assigned to it, or
// replaces its object.
//
// If the node has more new resources than the schema has numbers for, the node counts
// without them, and updateNode returns the error that names the first. If the node is malformed, the one
// whose name it has taken is gone all the same.
func (d *Driver) updateNode(ctx context.Context, n *api.Node) error {
	err := d.putNode(ctx, n)
	var full *resource.FullError
	if errors.As(err, &full) {
		err = errors.Join(err, d.putNode(ctx, d.withoutNew(n)))
	}
	if err == nil || n == nil {
		return err
	}
	if known := d.snap.Node(n.Name); known != nil && another(&known.Node.ObjectMeta, &n.ObjectMeta) {
		err = errors.Join(err, d.deleteNode(ctx, known.Node))
	}
	return err
}

// withoutNew returns the node without the resources that the schema has no number for.
func (d *Driver) withoutNew(n *api.Node) *api.Node {
	n = api.Clone(n)
	for name := range n.Status.Allocatable {
		if _, ok := d.snap.Schema().Index(name); !ok && name.IsScalar() {
			delete(n.Status.Allocatable, name)
		}
	}
	return n
}

func (d *Driver) putNode(ctx context.Context, n *api.Node) error {
	var known *framework.NodeInfo
	if n != nil {
		known = d.snap.Node(n.Name)
	}
	if known != nil {
		before := known.Node
		if d.closed[n.Name] != before && !newer(&before.ObjectMeta, &n.ObjectMeta) {
			return nil
		}
		if err := d.snap.UpdateNode(n); err != nil {
			return err
		}
		delete(d.closed, n.Name)
		for _, e := range queue.NodeChanges(before, n) {
			d.move(ctx, e, before, n, nil)
		}
		return nil
	}
	if err := d.snap.AddNode(n); err != nil {
		return err
	}
	if h := d.hosts[n.Name]; h != nil {
		for _, p := range h.pods {
			d.problem(d.enter(p))
			d.retryGroupOf(ctx, p)
		}
	}
	for _, p := range d.nominations.to(n.Name) {
		d.noteNomination(p)
	}
	d.move(ctx, nodeEvent(queueing.ActionAdd), nil, n, nil)
	return nil
}

// deleteNode removes a node. The driver remembers its pods: they count again when the
// node comes back, and bindings under way continue.
func (d *Driver) deleteNode(ctx context.Context, n *api.Node) error {
	if n == nil {
		return d.snap.AddNode(nil) // returns the error
	}
	known := d.snap.Node(n.Name)
	if known == nil || another(&known.Node.ObjectMeta, &n.ObjectMeta) {
		return nil
	}
	before := known.Node
	err := d.loseNode(ctx, before)
	if !mayRetry(err) {
		return err
	}
	closed := closedNode(before) // an extension does not let its pods go yet
	d.problem(d.snap.UpdateNode(closed))
	d.closed[n.Name] = closed
	d.retryAfter(err, func(ctx context.Context) error {
		if d.closed[n.Name] != closed { // it has come back
			return nil
		}
		return d.loseNode(ctx, before)
	})
	return err
}

// closedNode returns the node as one that has room for nothing.
func closedNode(n *api.Node) *api.Node {
	n = api.Clone(n)
	n.Spec.Unschedulable, n.Status.Allocatable = true, nil
	return n
}

// loseNode removes a node that the snapshot has.
func (d *Driver) loseNode(ctx context.Context, n *api.Node) error {
	if err := d.snap.LoseNode(n.Name); err != nil {
		return err
	}
	delete(d.closed, n.Name)
	if h := d.hosts[n.Name]; h != nil {
		for _, p := range h.pods {
			p.inside = false
			d.retryGroupOf(ctx, p)
		}
		if len(h.pods) == 0 {
			delete(d.hosts, n.Name)
		}
	}
	d.loseRemnants(ctx, n.Name)
	d.move(ctx, nodeEvent(queueing.ActionDelete), n, nil, nil)
	return nil
}
