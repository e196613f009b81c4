package frameworktest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

// alikeFields are the parts in which waiting pods of one class are equal, whatever plugins
// read: all but the name and what only the whole spec shows.
const alikeFields = framework.FieldsAll &^ (framework.FieldIdentity | framework.FieldSpec)

// hintsMost bounds the events that a hint is asked about, for each pod.
const hintsMost = 40

// checkHints asks hints about pods that are alike. A queue asks about one of them, so the
// answers must be equal. Pods that differ in a part which the plugin reads are not alike,
// and a plugin that reads the whole cluster or the time has none.
func (k *kit) checkHints() *Failure {
	k.calling = "EventsToRegister"
	hints := k.registrar.EventsToRegister()
	for _, p := range k.pods {
		scope, ok := k.scope(p)
		if !ok || scope.Reads&(framework.ReadsCluster|framework.ReadsTime) != 0 {
			continue
		}
		k.pod = p
		twins, err := k.twins(p, alikeFields|scope.Pod)
		if err != nil {
			return k.fail("a pod like another", err.Error(), "no error")
		}
		for _, h := range hints {
			if h.Hint == nil {
				continue
			}
			for _, e := range k.eventsOf(h.Event) {
				if f := k.checkHint(h, e, p, twins); f != nil {
					return f
				}
				if f := k.checkMatters(h, e, p); f != nil {
					return f
				}
				if f := k.checkSubjects(h, e, p); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// checkMatters wants an event that does not matter to help no pod.
func (k *kit) checkMatters(h queueing.EventHint, e event, p *framework.PodInfo) *Failure {
	k.calling = "Matters"
	if h.Matters == nil || h.Matters(e.before, e.after) {
		return nil
	}
	k.calling = "Hint"
	if hint, err := h.Hint(p, e.before, e.after); err != nil || hint != queueing.QueueSkip {
		return k.fail("hint for "+e.String()+", which does not matter,", fmt.Sprint(hint, err), fmt.Sprint(queueing.QueueSkip))
	}
	return nil
}

// checkSubjects wants an event that helps the pod to be about one of its subjects.
func (k *kit) checkSubjects(h queueing.EventHint, e event, p *framework.PodInfo) *Failure {
	if h.Subjects == nil || h.About == nil {
		return nil
	}
	k.calling = "Hint"
	if hint, err := h.Hint(p, e.before, e.after); err == nil && hint == queueing.QueueSkip {
		return nil
	}
	k.calling = "About"
	about := h.About(e.before, e.after)
	k.calling = "Subjects"
	subjects := h.Subjects(p)
	for _, x := range about {
		if x == (queueing.Subject{}) || slices.ContainsFunc(subjects, func(s queueing.Subject) bool { return s.Covers(x) }) {
			return nil
		}
	}
	return k.fail("subjects for "+e.String()+", which helps,", fmt.Sprintf("%+v", subjects), fmt.Sprintf("one of %+v", about))
}

// A twin is a pod that is like another but for one part.
type twin struct {
	pod  *framework.PodInfo
	what string // the part
}

// twins returns pods that differ from the pod, but not in the fields.
func (k *kit) twins(p *framework.PodInfo, fields framework.PodFields) (list []twin, err error) {
	changes := podChanges
	for _, q := range k.pods { // names with which a plugin may do something
		changes = append(changes[:len(changes):len(changes)],
			podChange{"name", func(p *api.Pod) { p.Name = q.Pod.Name }},
			podChange{"UID", func(p *api.Pod) { p.UID = q.Pod.UID }})
	}
	for _, c := range changes {
		other := *p.Pod
		c.change(&other)
		q, err := k.snapshot.NewPodInfo(&other)
		if err != nil {
			return nil, err
		}
		if q.ClassKey(fields) == p.ClassKey(fields) {
			list = append(list, twin{q, c.what})
		}
	}
	return list, nil
}

// An event is what a hint is given; see [queueing.QueueingHintFunc].
type event struct{ before, after any }

func (e event) String() string {
	switch {
	case e.before == nil:
		return fmt.Sprintf("an added %T", e.after)
	case e.after == nil:
		return fmt.Sprintf("a deleted %T", e.before)
	}
	return fmt.Sprintf("a changed %T", e.after)
}

// eventsOf makes events that match, about the objects of the cluster. Those about the waiting pod itself
// are left out: they concern one pod only.
func (k *kit) eventsOf(registered queueing.ClusterEvent) (list []event) {
	covers := func(other queueing.EventResource) bool {
		all := queueing.ClusterEvent{Resource: registered.Resource, Action: queueing.ActionAll}
		return all.Matches(queueing.ClusterEvent{Resource: other, Action: queueing.ActionAdd})
	}
	add := func(before, after any) {
		if registered.Action&queueing.ActionAdd != 0 {
			list = append(list, event{nil, after})
		}
		if registered.Action&queueing.ActionDelete != 0 {
			list = append(list, event{before, nil})
		}
		if registered.Action&queueing.ActionUpdate != 0 {
			list = append(list, event{before, after})
		}
	}
	if covers(queueing.ResourceAssignedPod) {
		var last *framework.PodInfo
		for _, n := range k.snapshot.All() {
			for _, p := range n.Pods {
				if last != nil {
					add(last, p)
				}
				last = p
			}
		}
	}
	if covers(queueing.ResourceUnscheduledPod) {
		for i, p := range k.pods[1:] {
			add(k.pods[i], p)
		}
	}
	objects := reflect.ValueOf(k.objects).Elem()
	for i := range objects.NumField() {
		all := objects.Field(i)
		if all.Kind() != reflect.Slice {
			continue
		}
		name := queueing.EventResource(all.Type().Elem().Elem().Name())
		if name == queueing.ResourcePod || !covers(name) {
			continue
		}
		for at := range all.Len() {
			add(all.Index(at).Interface(), all.Index((at+1)%all.Len()).Interface())
		}
	}
	return k.some(list)
}

// some keeps as many of the events as are asked about, from all of them.
func (k *kit) some(list []event) []event {
	k.random().Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), hintsMost)]
}

// checkHint compares what a hint says of an event for a pod and for pods that are like it.
func (k *kit) checkHint(h queueing.EventHint, e event, p *framework.PodInfo, twins []twin) *Failure {
	ask := func(p *framework.PodInfo) string {
		k.calling = "Hint"
		says, err := h.Hint(p, e.before, e.after)
		if err != nil || says != queueing.QueueSkip {
			return "Queue" // as a queue takes it
		}
		return "QueueSkip"
	}
	want := ask(p)
	if got := ask(p); got != want {
		return k.fail(fmt.Sprintf("hint for %s, asked again", e), got, want)
	}
	for _, t := range twins {
		if got := ask(t.pod); got != want {
			return k.fail(fmt.Sprintf("hint for %s, for a pod that differs in %s", e, t.what), got, want)
		}
	}
	return nil
}
