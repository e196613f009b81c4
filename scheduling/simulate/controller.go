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
	serial    int
	succeeded int

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
			c.Workload = x
			w.owned.add(c)
			w.lookAt(c)
			continue
		}
		c := &controller{Workload: x, live: map[*life]bool{}, byNode: map[string]*life{}}
		c.freed = heap.New(func(a, b *int) bool { return *a < *b }, func(*int, int) {})
		w.controllers[ref] = c
		w.owned.add(c)
		w.lookAt(c)
		if c.Field == "" {
			w.daemons[c] = true
		}
		for _, l := range w.unowned[ref] { // pods that came before it
			if l.Ended == nil {
				c.adopt(l)
			}
		}
		delete(w.unowned, ref)
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

// handDown gives a change of a Deployment to its ReplicaSets, as its controller does: the
// youngest gets the number of pods that the others do not have, and a new template.
func (w *world) handDown(x change) error {
	c, list := w.controllers[x.ref], w.owned[x.ref]
	if len(list) == 0 {
		return nil
	}
	youngest := list[len(list)-1]
	if !reflect.DeepEqual(c.Template, x.before.Template) {
		template := *c.Template
		if hash, ok := youngest.Template.Labels[labelTemplateHash]; ok {
			template.Labels = maps.Clone(template.Labels)
			if template.Labels == nil {
				template.Labels = map[string]string{}
			}
			template.Labels[labelTemplateHash] = hash
		}
		youngest.Template = &template
		w.lookAt(youngest)
	}
	want, err := c.Replicas()
	if err != nil {
		return err
	}
	if before, err := x.before.Replicas(); err != nil || before == want {
		return err
	}
	for _, other := range list[:len(list)-1] {
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
	youngest.Count = new(int32(want))
	w.lookAt(youngest)
	return nil
}

// labelTemplateHash tells the ReplicaSets of a Deployment apart.
const labelTemplateHash = "pod-template-hash"

// adopt counts a pod that is there as the workload's.
func (c *controller) adopt(l *life) {
	l.owner = c
	c.live[l] = true
	if c.Field == "" && l.pod.Spec.NodeName != "" {
		c.byNode[l.pod.Spec.NodeName] = l
	}
}

// lost takes a pod off that has ended.
func (w *world) lost(c *controller, l *life, completed bool) {
	delete(c.live, l)
	maps.DeleteFunc(c.byNode, func(_ string, x *life) bool { return x == l })
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

// lookAtNodes makes the next reconcile look at every DaemonSet: nodes have changed. Other
// controllers hear of the pods that go with a node.
func (w *world) lookAtNodes() { w.dirty, w.renoded = true, true }

// lookAt makes the next reconcile look at a controller too.
func (w *world) lookAt(c *controller) { w.changed = append(w.changed, c) }

// due lists the controllers that may have something to do, in the order of their names, and
// those only once. One that owns another has nothing to do.
func (w *world) due() []*controller {
	list := slices.Clone(w.changed)
	if w.renoded {
		list = slices.AppendSeq(list, maps.Keys(w.daemons))
	}
	w.dirty, w.renoded, w.changed = false, false, w.changed[:0]
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
		want = max(0, min(want, int(all)-c.succeeded))
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
	if n, err := strconv.Atoi(pod[i+1:]); err == nil && n >= 0 && n < c.serial {
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

// reconcileDaemons makes a pod for every node that admits one and has none.
func (w *world) reconcileDaemons(c *controller) error {
	for _, name := range slices.Sorted(maps.Keys(c.byNode)) {
		if l := c.byNode[name]; w.nodes[name] == nil {
			delete(c.byNode, name)
			if l.Ended == nil {
				w.end(l, false)
			}
		}
	}
	var missing []*api.Node
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		if c.byNode[name] == nil {
			missing = append(missing, w.nodes[name].node)
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
		node := p.Name[len(c.Name)+1:]
		if err := w.make(c, p, p.Name); err != nil {
			return err
		}
		c.byNode[node] = w.pods[p.Key()]
	}
	return nil
}
