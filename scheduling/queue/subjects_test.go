package queue_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// An event about a pod on a node costs nothing for waiting pods that look at others, however many
// they are; and a pod that has changed is found by what it looks at now, not before.
func TestHintsAreAskedAboutSubjects(t *testing.T) {
	asked := map[string]int{}
	hint := on(queueing.ResourceAssignedPod, queueing.ActionAdd, func(p *framework.PodInfo, _, _ any) (queueing.QueueingHint, error) {
		asked[p.Pod.Name]++
		return queueing.QueueSkip, nil
	})
	hint.Subjects = func(p *framework.PodInfo) (list []queueing.Subject) {
		switch look := p.Pod.Annotations["look"]; look {
		case "panic":
			panic("no idea")
		case "many":
			for i := range 5000 {
				list = append(list, queueing.Subject{Key: "x", Value: fmt.Sprint("other", i)})
			}
			return list
		default:
			return []queueing.Subject{{Key: "x", Value: look}}
		}
	}
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{"A", []queueing.EventHint{hint}}}})})
	looking := func(name, at string) *framework.PodInfo {
		p := api.MakePod(name).Obj()
		p.Annotations = map[string]string{"look": at}
		info, err := framework.NewPodInfo(p, r.schema)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	items := map[string]*queue.Item{}
	wait := func(name, at string) {
		items[name] = r.Add(r.ctx, looking(name, at))
		if r.Pop() != items[name] {
			t.Fatal("another pod is first")
		}
		r.Requeue(r.ctx, items[name], nil, queue.Rejectors{Plugins: []string{"A"}})
	}
	come := func(b api.PodBuilder, want map[string]int) {
		t.Helper()
		clear(asked)
		info, err := framework.NewPodInfo(b.Obj(), r.schema)
		if err != nil {
			t.Fatal(err)
		}
		r.Move(r.ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionAdd}, nil, info, nil)
		if fmt.Sprint(asked) != fmt.Sprint(want) {
			t.Errorf("asked about %v, want %v", asked, want)
		}
	}
	for i := range 100 {
		wait(fmt.Sprint("p", i), fmt.Sprint(i))
	}
	wait("panics", "panic")
	wait("many", "many")
	always := map[string]int{"panics": 1, "many": 1}
	with := func(name string) map[string]int {
		return map[string]int{"panics": 1, "many": 1, name: 1}
	}
	one := func(x string) api.PodBuilder { return api.MakePod("one").Labels("x", x) }
	come(one("7"), with("p7"))
	come(one("other0"), always)
	r.Update(r.ctx, items["p7"], looking("p7", "new"))
	come(one("7"), always)
	come(one("new"), with("p7"))
	r.Delete(items["p7"])
	come(one("new"), always)
	wait("late", "new")
	come(one("new"), with("late"))
	come(api.MakePod("plain"), always)
}
