package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/heap"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A controller keeps the number of pods of a workload.
type controller struct {
	workload.Workload
	weighed   *api.PodTemplateSpec
	weight    int // of a pod of that template; see [workload.WeightOf]
	live      map[*life]bool
	byNode    map[string]*life // of a DaemonSet
	nodes     []string         // nodes that have changed, or on which such a pod has ended, since the last reconcile
	toAll     bool             // the next one looks at all nodes
	serial    int
	ordinals  ordinals      // of a StatefulSet
	byNumber  map[int]*life // pods of a StatefulSet whose pods are in order
	ready     int           // see reconcileInOrder, as for taken
	taken     []int
	adopted   bool // it has pods since that may have other ones
	succeeded int
	before    int // pods of a Job that had succeeded when it came

	second int64 // since the start, in which a pod last ran to its end
	ended  int   // pods that ran to their end in that second

	freed heap.Heap[int] // of a StatefulSet or an indexed Job: numbers below serial whose pods have ended
}

// applyControllers takes over the workloads among the objects. One that owns another
// leaves the pods to that one, as a Deployment does; see handOver. One that is being deleted
// makes and removes no pods any more; those that it has stay until they go themselves, and nobody
// makes them again.
func (w *world) applyControllers(o *api.Objects) error {
	var changed []change
	for _, x := range workload.Of(o) {
		w.dirty = true
		ref := Ref{x.Kind, x.Key()}
		if w.sets[x.Key()] {
			x.NameApart()
		}
		if _, err := x.Replicas(); err != nil {
			return err
		}
		c := w.controllers[ref]
		known := c != nil
		if known {
			changed = append(changed, change{ref, c.Workload})
			w.owned.remove(w, c)
			x.Replace(&c.Workload)
		} else {
			c = newController()
			w.controllers[ref] = c
		}
		c.Workload, c.toAll = x, true
		w.owned.add(c)
		w.noteDaemons(c)
		w.lookAt(c)
		if !known || c.IsTerminating() {
			w.lookAtOwner(c)
		}
		if !known {
			w.takeOver(c)
		}
	}
	for _, x := range changed {
		if err := w.handDown(x); err != nil {
			return err
		}
	}
	return nil
}

// weigh returns what a pod of the workload counts as.
func (c *controller) weigh() int {
	if c.weighed != c.Template {
		c.weighed, c.weight = c.Template, workload.WeightOf(c.Template)
	}
	return c.weight
}

func newController() *controller {
	c := &controller{live: map[*life]bool{}, byNode: map[string]*life{}}
	c.freed = heap.New(func(a, b *int) bool { return *a < *b }, func(*int, int) {})
	return c
}

// takeOver gives a workload that has just come the pods that came before it.
func (w *world) takeOver(c *controller) {
	ref := c.ref()
	for _, l := range w.unowned[ref] {
		if l.Ended == nil && (l.owner == nil || c.Kind != "Deployment") {
			c.adopt(l)
		}
	}
	c.before = max(int(c.Succeeded), w.succeeded[ref])
	delete(w.unowned, ref)
	delete(w.succeeded, ref)
}

// adopt counts a pod that is there as the workload's. It may have been that of a Deployment whose
// ReplicaSet comes later.
func (c *controller) adopt(l *life) {
	if l.owner != nil {
		delete(l.owner.live, l)
		l.owner.leave(l)
	}
	l.owner, c.adopted = c, true
	c.live[l] = true
	c.join(l)
	if c.Field == "" {
		if node := workload.TargetNode(l.pod); node != "" {
			c.settle(l, node)
		}
	}
}

// lost takes a pod off that has ended.
func (w *world) lost(c *controller, l *life, completed bool) {
	delete(c.live, l)
	c.leave(l)
	if c.IsTerminating() && len(c.live) == 0 {
		w.lookAtOwner(c)
	}
	if c.byNode[l.daemonOf] == l {
		delete(c.byNode, l.daemonOf)
		c.nodes = append(c.nodes, l.daemonOf)
	}
	if !completed {
		return
	}
	c.succeeded++
	if now := int64(w.now() / time.Second); now != c.second {
		c.second, c.ended = now, 0
	}
	c.ended++
}

// pods are the workload's pods, in the order of their arrival.
func (c *controller) pods() []*life { return byArrival(c.live) }

// lookAt makes the next reconcile look at a controller too.
func (w *world) lookAt(c *controller) { w.dirty, w.changed = true, append(w.changed, c) }

// lookAtOwner makes the next reconcile look at what owns a controller, if anything does.
func (w *world) lookAtOwner(c *controller) {
	if owner, ok := ownerOf(c); ok && w.controllers[owner] != nil {
		w.lookAt(w.controllers[owner])
	}
}

// due lists the controllers that may have something to do, in the order of their names, and
// those only once.
func (w *world) due() []*controller {
	list := slices.Clone(w.changed)
	if len(w.nodesChanged) > 0 {
		for c := range w.daemons {
			c.nodes = append(c.nodes, w.nodesChanged...)
			list = append(list, c)
		}
	}
	w.dirty, w.nodesChanged, w.changed = false, w.nodesChanged[:0], w.changed[:0]
	list = slices.DeleteFunc(list, func(c *controller) bool {
		return w.controllers[c.ref()] != c // it may have been deleted meanwhile
	})
	slices.SortFunc(list, func(a, b *controller) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key(), b.Key()))
	})
	return slices.Compact(list)
}

// ref is the name of the workload.
func (c *controller) ref() Ref { return Ref{c.Kind, c.Key()} }

// reconcile lets the controllers for which something has changed make or remove pods.
func (w *world) reconcile() {
	if !w.dirty {
		return
	}
	for _, c := range w.due() {
		var err error
		switch sets := w.owned.staying(c.ref()); {
		case c.IsTerminating():
		case len(sets) > 0:
			err = w.handOver(c, sets)
		case w.owned.hasPods(c.ref()):
		case c.Field == "":
			err = w.reconcileDaemons(c)
		default:
			err = w.reconcileReplicas(c)
		}
		if err != nil {
			w.fail(err)
			return
		}
	}
}

// handOver gives the pods that a Deployment made, when it owned none of the sets yet, to sets that lack
// pods. What is left goes.
func (w *world) handOver(c *controller, sets []*controller) error {
	for _, l := range c.pods() {
		if owner := l.pod.ControllerRef(); owner.Kind != c.Kind || owner.Name != c.Name {
			continue // it is that of a set that is not there
		}
		for len(sets) > 0 {
			want, err := sets[0].Replicas()
			if err != nil {
				return err
			}
			if len(sets[0].live) < want {
				break
			}
			sets = sets[1:]
		}
		if len(sets) == 0 {
			w.end(l, false)
		} else {
			sets[0].adopt(l)
		}
	}
	return nil
}

// reconcileReplicas makes pods until there are enough, or removes what is too much:
// those that wait first, then the youngest.
func (w *world) reconcileReplicas(c *controller) error {
	want, err := c.Replicas()
	if err != nil {
		return err
	}
	if c.Kind == "Job" {
		want = c.ofJob(want)
	}
	now := ordinals{int(c.Start), want}
	if c.Ordered {
		return w.reconcileInOrder(c, now)
	}
	if c.Kind == "StatefulSet" && (c.adopted || c.ordinals != now) {
		w.number(c, now)
	}
	for len(c.live) < want {
		if err := w.make(c, c.next(w)); err != nil {
			return err
		}
	}
	for _, l := range w.surplus(c, max(0, len(c.live)-want)) {
		w.end(l, false)
	}
	return nil
}

// surplus lists the n pods that a controller ends first: those that wait, and then the youngest. Of pods that run
// and have replicas, those of the least deletion cost come before, and then those on nodes with most of their like. It
// keeps no more than n in order.
//
// Source: kube-controller-manager 1.37, ActivePodsWithRanks.
func (w *world) surplus(c *controller, n int) []*life {
	if n == 0 {
		return nil
	}
	beside := w.beside(c)
	earlier := func(a, b *life) bool {
		if (a.node == nil) != (b.node == nil) {
			return a.node == nil
		}
		if a.node != nil && beside != nil {
			if x := cmp.Or(cmp.Compare(workload.DeletionCost(a.pod), workload.DeletionCost(b.pod)), cmp.Compare(beside[b.node], beside[a.node])); x != 0 {
				return x < 0
			}
		}
		return a.serial > b.serial
	}
	first := heap.New(func(a, b **life) bool { return earlier(*b, *a) }, func(**life, int) {}) // the last of them on top
	for l := range c.live {
		if first.Len() == n {
			if !earlier(l, *first.Top()) {
				continue
			}
			first.Remove(0)
		}
		first.Push(l)
	}
	list := make([]*life, n)
	for i := range slices.Backward(list) {
		list[i] = first.Remove(0)
	}
	return list
}

// beside counts, by node, the pods of a workload with replicas and of those with the same owner; nil for other
// workloads.
func (w *world) beside(c *controller) map[*nodeState]int {
	if c.Field != "spec.replicas" || c.Kind == "StatefulSet" {
		return nil
	}
	related := []*controller{c}
	if owner, ok := ownerOf(c); ok {
		related = w.owned[owner]
	}
	count := map[*nodeState]int{}
	for _, x := range related {
		for l := range x.live {
			if l.node != nil {
				count[l.node]++
			}
		}
	}
	return count
}

// ofJob is how many pods a Job has of those that it wants to run at a time: no more than have to succeed
// yet. One without a number of completions makes none once a pod has succeeded.
func (c *controller) ofJob(want int) int {
	succeeded := c.succeeded + c.before
	switch {
	case c.Completions != nil:
		return max(0, min(want, int(*c.Completions)-succeeded))
	case succeeded > 0 && (c.Field == "spec.parallelism" || c.Field == "status.succeeded"):
		return len(c.live)
	default:
		return want
	}
}
