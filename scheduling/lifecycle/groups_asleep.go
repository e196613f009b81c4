package lifecycle

import (
	"cmp"
	"container/list"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

// Events that can help a group, although no plugin of its pods registers for them. The group is
// tried again after its backoff, as after every failure in kube-scheduler:
//
//	its object changes               a lower minimum, another constraint or priority
//	the label of its constraint      a node enters another domain
//	a member comes to a node         fewer others have to stand
//	a member leaves, or its node     the group is not bound to that domain any more
//	how pods of groups are evicted   preemption may find other victims

// sleepers are the groups that wait for an event, or for their victims, by the key of their
// topology constraint, "" for none; of each key in the order in which they began to wait. A change
// of another label costs nothing for them.
type sleepers map[string]*list.List // of *group

// sleeper is the place of a group among them.
type sleeper struct {
	topology string
	asleep   *list.Element // nil: the group does not sleep
}

// sleep notes that the group waits. object is its object.
func (s sleepers) sleep(g *group, object *api.PodGroup) {
	s.wake(g)
	key := ""
	if object != nil {
		key = object.TopologyKey()
	}
	if s[key] == nil {
		s[key] = list.New()
	}
	g.topology, g.asleep = key, s[key].PushBack(g)
}

// wake notes that the group does not wait any more.
func (s sleepers) wake(g *group) {
	if g.asleep == nil {
		return
	}
	l := s[g.topology]
	l.Remove(g.asleep)
	if g.asleep = nil; l.Len() == 0 {
		delete(s, g.topology)
	}
}

// noteChange notes that the next attempt for a group that sleeps may end in another way than the
// last. regate does the rest.
func (g *group) noteChange() {
	if g.asleep != nil {
		g.changed = true
	}
}

// retryGroup lets a group that waits be tried again after its backoff.
func (d *Driver) retryGroup(ctx context.Context, g *group) {
	g.noteChange()
	d.regate(ctx, g)
}

// retryGroupOf is retryGroup for the group of a pod that a node has now, or has no more.
func (d *Driver) retryGroupOf(ctx context.Context, p *pod) {
	if p.member != nil {
		d.retryGroup(ctx, p.member.group)
	}
}

// retryKey is retryGroup for all groups with a topology key.
func (d *Driver) retryKey(ctx context.Context, key string) {
	l := d.groups.sleepers[key]
	if l == nil {
		return
	}
	for at := l.Front(); at != nil; {
		g := at.Value.(*group)
		at = at.Next() // the group leaves the list
		d.retryGroup(ctx, g)
	}
}

// rouse follows an event for the groups that it may help because they are groups.
func (d *Driver) rouse(ctx context.Context, e queueing.ClusterEvent, before, after any) {
	switch o := cmp.Or(after, before).(type) {
	case *api.Node:
		if e.Action == queueing.ActionUpdateNodeLabel && len(d.groups.sleepers) > 0 {
			for _, key := range newLabels(before.(*api.Node).Labels, o.Labels) {
				d.retryKey(ctx, key)
			}
		}
	case *api.PodGroup:
		was, _ := before.(*api.PodGroup)
		is, _ := after.(*api.PodGroup)
		if g := d.groups.byKey[podKey{o.Namespace, o.Name}]; g != nil {
			if was != nil && is != nil && !reflect.DeepEqual(was.Spec, is.Spec) { // we write the status
				g.noteChange()
			}
			d.regate(ctx, g)
		}
		if evictionOfGroup(was) != evictionOfGroup(is) && d.runs(o) {
			d.retryAll(ctx)
		}
	case *api.CompositePodGroup:
		was, _ := before.(*api.CompositePodGroup)
		is, _ := after.(*api.CompositePodGroup)
		if evictionOfComposite(was) != evictionOfComposite(is) {
			d.retryAll(ctx)
		}
	}
}

// retryAll is retryGroup for all groups that wait.
func (d *Driver) retryAll(ctx context.Context) {
	for _, key := range slices.Sorted(maps.Keys(d.groups.sleepers)) {
		d.retryKey(ctx, key)
	}
}

// newLabels lists the keys that have a value which they had not before, in order.
func newLabels(before, after map[string]string) (keys []string) {
	for key, value := range after {
		if was, ok := before[key]; !ok || was != value {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// An evictability is how preemption treats the pods of a group on nodes.
type evictability struct {
	exists, together bool
	priority         int32
	parent           string
}

func evictionOfGroup(g *api.PodGroup) (e evictability) {
	if g != nil {
		e = evictability{true, g.DisruptAll(), g.Priority(), parentOf(g.Spec.ParentCompositePodGroupName)}
	}
	return e
}

func evictionOfComposite(c *api.CompositePodGroup) (e evictability) {
	if c != nil {
		e = evictability{true, c.DisruptAll(), c.Priority(), parentOf(c.Spec.ParentCompositePodGroupName)}
	}
	return e
}

func parentOf(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

// runs reports whether a pod of the group is on a node.
func (d *Driver) runs(o *api.PodGroup) bool {
	g := d.groups.byKey[podKey{o.Namespace, o.Name}]
	if g == nil {
		return false
	}
	for e := g.pods.Front(); e != nil; e = e.Next() {
		if e.Value.(*pod).host != nil {
			return true
		}
	}
	return false
}
