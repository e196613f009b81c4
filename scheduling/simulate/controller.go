package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/heap"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A controller keeps the number of pods of a workload.
type controller struct {
	workload.Workload
	live      map[*life]bool
	byNode    map[string]*life // of a DaemonSet
	nodes     []string         // nodes that have changed, or on which such a pod has ended, since the last reconcile
	toAll     bool             // the next one looks at all nodes
	serial    int
	ordinals  ordinals // of a StatefulSet
	adopted   bool     // it has pods since that may have other ones
	succeeded int
	before    int // pods of a Job that had succeeded when it came

	second int64 // since the start, in which a pod last ran to its end
	ended  int   // pods that ran to their end in that second

	freed heap.Heap[int] // of a StatefulSet: numbers below serial whose pods have ended
}

// applyControllers takes over the workloads among the objects. One that owns another
// leaves the pods to that one, as a Deployment does.
func (w *world) applyControllers(o *api.Objects) error {
	var changed []change
	for _, x := range workload.Of(o) {
		w.dirty = true
		ref := Ref{x.Kind, x.Key()}
		if _, err := x.Replicas(); err != nil {
			return err
		}
		if c := w.controllers[ref]; c != nil {
			changed = append(changed, change{ref, c.Workload})
			w.owned.remove(w, c)
			c.Workload, c.toAll = x, true
			w.owned.add(c)
			w.lookAt(c)
			continue
		}
		c := &controller{Workload: x, live: map[*life]bool{}, byNode: map[string]*life{}, toAll: true}
		c.freed = heap.New(func(a, b *int) bool { return *a < *b }, func(*int, int) {})
		w.controllers[ref] = c
		w.owned.add(c)
		w.lookAt(c)
		if c.Field == "" {
			w.daemons[c] = true
		}
		for _, l := range w.unowned[ref] { // pods that came before it
			if l.Ended == nil && (l.owner == nil || x.Kind != "Deployment") {
				c.adopt(l)
			}
		}
		c.before = max(int(x.Succeeded), w.succeeded[ref])
		delete(w.unowned, ref)
		delete(w.succeeded, ref)
	}
	for _, x := range changed {
		if err := w.handDown(x); err != nil {
			return err
		}
	}
	return nil
}

// A change is a workload as it was before.
type change struct {
	ref    Ref
	before workload.Workload
}

// handDown gives a change of a Deployment to its ReplicaSets, as its controller does: that with its
// template, or the youngest, gets the number of pods that the others do not have.
func (w *world) handDown(x change) error {
	c, list := w.controllers[x.ref], w.owned[x.ref]
	if len(list) == 0 {
		return nil
	}
	current := c.current(list)
	if current == nil {
		current = list[len(list)-1]
		if !reflect.DeepEqual(c.Template, x.before.Template) {
			current.Template = withHash(c.Template, current.Template.Labels)
			w.lookAt(current)
		}
	}
	want, err := c.Replicas()
	if err != nil {
		return err
	}
	if before, err := x.before.Replicas(); err != nil || before == want {
		return err
	}
	for _, other := range list {
		if other == current {
			continue
		}
		n, err := other.Replicas()
		if err != nil {
			return err
		}
		if n > want { // the older ones shrink first
			n = want
			other.Count = new(int32(n))
			w.lookAt(other)
		}
		want -= n
	}
	current.Count = new(int32(want))
	w.lookAt(current)
	return nil
}

// current returns the oldest of a Deployment's ReplicaSets that has its template, nil if none has.
func (c *controller) current(list []*controller) *controller {
	for _, set := range list {
		if reflect.DeepEqual(set.Template, withHash(c.Template, set.Template.Labels)) {
			return set
		}
	}
	return nil
}

// withHash returns the template with the label pod-template-hash of such labels, if they have it.
func withHash(of *api.PodTemplateSpec, labels map[string]string) *api.PodTemplateSpec {
	template := *of
	if hash, ok := labels[workload.LabelTemplateHash]; ok {
		template.Labels = maps.Clone(template.Labels)
		if template.Labels == nil {
			template.Labels = map[string]string{}
		}
		template.Labels[workload.LabelTemplateHash] = hash
	}
	return &template
}

// adopt counts a pod that is there as the workload's. It may have been that of a Deployment whose
// ReplicaSet comes later.
func (c *controller) adopt(l *life) {
	if l.owner != nil {
		delete(l.owner.live, l)
	}
	l.owner, c.adopted = c, true
	c.live[l] = true
	if c.Field == "" {
		if node := workload.TargetNode(l.pod); node != "" {
			c.settle(l, node)
		}
	}
}

// settle notes that the pod of a DaemonSet is that of the node.
func (c *controller) settle(l *life, node string) {
	c.byNode[node], l.daemonOf = l, node
}

// lost takes a pod off that has ended.
func (w *world) lost(c *controller, l *life, completed bool) {
	delete(c.live, l)
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

// lookAtNode makes the next reconcile look at the node for every DaemonSet: it comes, changes or goes.
// Other controllers hear of the pods that go with it.
func (w *world) lookAtNode(name string) {
	w.allocatable, w.series.renoded = nil, w.clock.Now()
	w.dirty, w.renoded = true, append(w.renoded, name)
}

// lookAt makes the next reconcile look at a controller too.
func (w *world) lookAt(c *controller) { w.changed = append(w.changed, c) }

// due lists the controllers that may have something to do, in the order of their names, and
// those only once. One that owns another has nothing to do.
func (w *world) due() []*controller {
	list := slices.Clone(w.changed)
	if len(w.renoded) > 0 {
		for c := range w.daemons {
			c.nodes = append(c.nodes, w.renoded...)
			list = append(list, c)
		}
	}
	w.dirty, w.renoded, w.changed = false, w.renoded[:0], w.changed[:0]
	list = slices.DeleteFunc(list, func(c *controller) bool {
		return w.controllers[c.ref()] != c || len(w.owned[c.ref()]) > 0 // it may have been deleted meanwhile
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
		if c.Field == "" {
			err = w.reconcileDaemons(c)
		} else {
			err = w.reconcileReplicas(c)
		}
		if err != nil {
			w.fail(err)
			return
		}
	}
}

// reconcileReplicas makes pods until there are enough, or removes what is too much:
// those that wait first, then the youngest.
func (w *world) reconcileReplicas(c *controller) error {
	want, err := c.Replicas()
	if err != nil {
		return err
	}
	if c.Kind == "Job" {
		all := int32(want)
		if c.Completions != nil {
			all = *c.Completions
		}
		want = max(0, min(want, int(all)-c.succeeded-c.before))
	}
	if now := (ordinals{int(c.Start), want}); c.Kind == "StatefulSet" && (c.adopted || c.ordinals != now) {
		w.number(c, now)
	}
	for len(c.live) < want {
		if err := w.make(c, c.Pod(), c.free(w)); err != nil {
			return err
		}
	}
	if len(c.live) == want {
		return nil
	}
	pods := c.pods()
	slices.SortStableFunc(pods, func(a, b *life) int {
		if (a.node == nil) != (b.node == nil) {
			if a.node == nil {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.serial, a.serial)
	})
	for _, l := range pods[:len(pods)-want] {
		w.end(l, false)
	}
	return nil
}

// ordinals are the numbers of a StatefulSet's pods: so many, from the first on.
type ordinals struct{ first, n int }

// number gives a StatefulSet other numbers, and ends the pods that have none of them, the last first.
func (w *world) number(c *controller, to ordinals) {
	if c.ordinals.first != to.first {
		c.serial = to.first
		for c.freed.Len() > 0 {
			c.freed.Remove(0)
		}
	}
	c.ordinals, c.adopted = to, false
	var beyond []*life
	for l := range c.live {
		if k := ordinal(l.Pod); k >= 0 && (k < to.first || k-to.first >= to.n) {
			beyond = append(beyond, l)
		}
	}
	slices.SortFunc(beyond, func(a, b *life) int { return cmp.Compare(ordinal(b.Pod), ordinal(a.Pod)) })
	for _, l := range beyond {
		w.end(l, false)
	}
}

// ordinal is the number at the end of the name of a StatefulSet's pod, -1 if there is none.
func ordinal(pod string) int {
	n, err := strconv.Atoi(pod[strings.LastIndexByte(pod, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// free is a name for the next pod: the lowest free number for a StatefulSet, a new one
// for all others, to which no numbers come back.
func (c *controller) free(w *world) string {
	for c.freed.Len() > 0 {
		if name := fmt.Sprintf("%s-%d", c.Name, c.freed.Remove(0)); w.pods[c.Namespace+"/"+name] == nil {
			return name
		}
	}
	for {
		name := fmt.Sprintf("%s-%d", c.Name, c.serial)
		if c.serial++; w.pods[c.Namespace+"/"+name] == nil {
			return name
		}
	}
}

// freeNumber gives the number of a pod that has ended back to the StatefulSet whose pods have
// such names, also if the StatefulSet did not make it.
func (w *world) freeNumber(pod string) {
	i := strings.LastIndexByte(pod, '-')
	if i < 0 {
		return
	}
	c := w.controllers[Ref{"StatefulSet", pod[:i]}]
	if c == nil {
		return
	}
	if n := ordinal(pod); n >= c.ordinals.first && n < c.serial {
		c.freed.Push(n)
	}
}

// maxMade bounds the pods that workloads make in a run: pods that end at once, and are
// replaced, would make a run endless. The history of each takes about 400 bytes.
const maxMade = 1_000_000

// A workload of n pods may make as many pods in one second of the simulation in place of
// those that ran to their end as n times endedEach, and endedBase more. Pods that run for a
// moment would otherwise be made up to maxMade, which takes a minute of work.
const (
	endedEach = 10
	endedBase = 1000
)

// tooMany returns an error about the run time of the workload's pods if it has made too many
// of them, or has in this second.
func (w *world) tooMany(c *controller, p *api.Pod) error {
	var err error
	w.made++
	switch most := w.mostEnded(c); {
	case w.made > maxMade:
		err = fmt.Errorf("workloads have made %d pods, the last of them this one: want pods that run longer, or a run that ends before", maxMade)
	case c.ended > most && c.second == int64(w.now()/time.Second):
		err = fmt.Errorf("%d pods of the workload have run to their end within one second, %v after the start: want at most %d, so pods that run longer", c.ended, time.Duration(c.second)*time.Second, most)
	default:
		return nil
	}
	return &api.InvalidError{
		Object: c.Label(), Field: fmt.Sprintf("spec.template.metadata.annotations[%s]", AnnotationRunTime), Value: p.Annotations[AnnotationRunTime], Err: err,
	}
}

// mostEnded is how many of the workload's pods may be replaced within one second.
func (w *world) mostEnded(c *controller) int {
	n := len(w.nodes)
	if c.Field != "" {
		n, _ = c.Replicas() // was checked when it came
	}
	return endedEach*n + endedBase
}

// make lets a pod of the workload arrive.
func (w *world) make(c *controller, p *api.Pod, name string) error {
	if err := w.tooMany(c, p); err != nil {
		return err
	}
	p.Name = name
	p.UID = api.UID(fmt.Sprintf("%s-%d", name, len(w.lives)))
	o := &api.Objects{Pods: []*api.Pod{p}, PriorityClasses: w.classes}
	if err := o.Default(); err != nil {
		return err
	}
	l, err := w.bear(p)
	if err != nil {
		return err
	}
	l.owner = c
	c.live[l] = true
	w.arrive(l)
	return nil
}

// reconcileDaemons makes a pod for every node that admits one and has none, and ends those whose nodes
// are gone.
func (w *world) reconcileDaemons(c *controller) error {
	names := c.nodes
	if c.toAll {
		names = slices.AppendSeq(slices.Collect(maps.Keys(w.nodes)), maps.Keys(c.byNode))
	}
	c.nodes, c.toAll = nil, false
	slices.Sort(names)
	var missing []*api.Node
	for _, name := range slices.Compact(names) {
		switch n, l := w.nodes[name], c.byNode[name]; {
		case n != nil && l == nil:
			missing = append(missing, n.node)
		case n == nil && l != nil:
			delete(c.byNode, name)
			if l.Ended == nil {
				w.end(l, false)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	pods, err := c.Pods(missing)
	if err != nil {
		return err
	}
	for _, p := range pods {
		node, name := p.Name[len(c.Name)+1:], p.Name
		for k := 0; w.pods[c.Namespace+"/"+name] != nil; k++ { // another pod may have that name
			name = fmt.Sprintf("%s-%d", p.Name, k)
		}
		if err := w.make(c, p, name); err != nil {
			return err
		}
		c.settle(w.pods[p.Key()], node)
	}
	return nil
}
