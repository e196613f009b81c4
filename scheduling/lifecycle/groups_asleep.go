package lifecycle

import (
	"cmp"
	"container/list"
	"context"
	"reflect"

	"github.com/berth-sched/berth/framework/api"
)

// Events that can help a group, although no plugin of its pods registers for them. The group is
// tried again after its backoff, as after every failure in kube-scheduler:
//
//	its object changes               a lower minimum, another constraint or priority

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

// changes notes that the next attempt may end in another way than the last. regate does the rest.
func (g *group) changes() {
	if g.asleep != nil {
		g.changed = true
	}
}

// rouse follows an event for the groups that it may help because they are groups.
func (d *Driver) rouse(ctx context.Context, before, after any) {
	if o, ok := cmp.Or(after, before).(*api.PodGroup); ok {
		was, _ := before.(*api.PodGroup)
		is, _ := after.(*api.PodGroup)
		if g := d.groups.byKey[podKey{o.Namespace, o.Name}]; g != nil {
			if was != nil && is != nil && !reflect.DeepEqual(was.Spec, is.Spec) { // we write the status
				g.changes()
			}
			d.regate(ctx, g)
		}
	}
}
