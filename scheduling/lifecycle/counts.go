package lifecycle

import "github.com/berth-sched/berth/scheduling/queue"

// Counts says where the pods are that a [Driver] knows. Every pod is in exactly one
// of the fields Assigned, UnknownNode, Pending, Binding, Unconfirmed and OtherSchedulers.
type Counts struct {
	// Nodes is the number of nodes.
	Nodes int
	// Pods is the number of pods that have not ended.
	Pods int
	// Assigned pods count on a node of the snapshot, Assumed ones among them.
	Assigned int
	// Assumed pods count on their node by a decision of the driver that no event
	// has confirmed yet.
	Assumed int
	// UnknownNode counts pods that are bound to a node that the driver does not
	// know, or that could not be counted there. They count on it once it comes.
	UnknownNode int
	// Pending pods are in the queue; Queue says in which part.
	Pending int
	// Binding counts pods without a node whose last binding has not ended yet.
	Binding int
	// Unconfirmed counts pods that were bound, and that no event has confirmed within
	// Config.AssumeTTL. They are tried again once an event about them comes.
	Unconfirmed int
	// OtherSchedulers counts pods without a node whose spec.schedulerName no
	// profile has. The driver leaves them alone.
	OtherSchedulers int
	// Queue is how many pods each part of the queue holds.
	Queue queue.Length
}

// Counts counts the pods. Like all methods but Apply it belongs to the scheduling
// goroutine. It costs O(pods).
func (d *Driver) Counts() Counts {
	c := Counts{Nodes: d.snap.Len(), Pods: len(d.pods), Queue: d.queue.Len()}
	for _, p := range d.pods {
		switch {
		case p.host != nil && p.inside:
			c.Assigned++
			if p.assumed {
				c.Assumed++
			}
		case p.host != nil:
			c.UnknownNode++
		case p.expired:
			c.Unconfirmed++
		case p.item != nil, p.member != nil && p.binding == nil && d.profileOf(p.info.Pod) != nil:
			c.Pending++
		case p.binding != nil:
			c.Binding++
		default:
			c.OtherSchedulers++
		}
	}
	return c
}
