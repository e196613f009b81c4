package queue_test

import (
	"fmt"
	"maps"
	"runtime"
	"testing"

	"pgregory.net/rapid"

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
		case "values", "labels", "namespaces":
			for i := range 5000 {
				many := fmt.Sprint("other", i)
				list = append(list, map[string]queueing.Subject{
					"values": {Key: "x", Value: many}, "labels": {Namespace: "default", Key: many, Value: "v"}, "namespaces": {Namespace: many, Key: many},
				}[look])
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
	wait("any value", "values")
	wait("any label", "labels")
	wait("any", "namespaces")
	always := map[string]int{"panics": 1, "any value": 1, "any label": 1, "any": 1}
	with := func(name string) map[string]int {
		all := maps.Clone(always)
		all[name] = 1
		return all
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
	come(api.MakePod("plain"), map[string]int{"panics": 1, "any label": 1, "any": 1})
	come(api.MakePod("elsewhere").Namespace("b").Labels("x", "none"), map[string]int{"panics": 1, "any value": 1, "any": 1})
}

// Whatever waiting pods look at, and however many labels a pod has, those are asked that look at
// it, each once.
func TestSubjects(t *testing.T) {
	namespaces, keys, values := []string{"", "a", "b"}, []string{"", "x", "y"}, []string{"", "1", "2"}
	rapid.Check(t, func(rt *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) queueing.Subject {
			return queueing.Subject{
				Namespace: rapid.SampledFrom(namespaces).Draw(t, "namespace"), Key: rapid.SampledFrom(keys).Draw(t, "key"),
				Value: rapid.SampledFrom(values).Draw(t, "value"), AnyValue: rapid.Bool().Draw(t, "any value"),
			}
		}), 0, 4), 1, 12).Draw(rt, "subjects")
		asked := map[string]int{}
		hint := on(queueing.ResourceAssignedPod, queueing.ActionAdd, func(p *framework.PodInfo, _, _ any) (queueing.QueueingHint, error) {
			asked[p.Pod.Name]++
			return queueing.QueueSkip, nil
		})
		hint.Subjects = func(p *framework.PodInfo) []queueing.Subject {
			var i int
			fmt.Sscan(p.Pod.Name, &i)
			return lists[i]
		}
		r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{"A", []queueing.EventHint{hint}}}})})
		for i := range lists {
			it := r.Add(r.ctx, r.info(api.MakePod(fmt.Sprint(i))))
			if r.Pop() != it {
				rt.Fatal("another pod is first")
			}
			r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
		}
		for range 4 {
			p := api.MakePod("event").Namespace(rapid.SampledFrom(namespaces[1:]).Draw(rt, "of")).Obj()
			p.Labels = map[string]string{}
			for _, key := range keys[1:] {
				if i := rapid.IntRange(0, 3).Draw(rt, key); i > 0 {
					p.Labels[key] = values[i-1]
				}
			}
			for i := range rapid.SampledFrom([]int{0, 100}).Draw(rt, "other labels") {
				p.Labels[fmt.Sprint("other", i)] = ""
			}
			want := map[string]int{}
			for i, list := range lists {
				for _, s := range list {
					value, ok := p.Labels[s.Key]
					if (s.Namespace == "" || s.Namespace == p.Namespace) && (s.Key == "" || ok && (s.AnyValue || s.Value == value)) {
						want[fmt.Sprint(i)] = 1
					}
				}
			}
			info, err := framework.NewPodInfo(p, r.schema)
			if err != nil {
				rt.Fatal(err)
			}
			clear(asked)
			r.Move(r.ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionAdd}, nil, info, nil)
			if fmt.Sprint(asked) != fmt.Sprint(want) {
				rt.Fatalf("pod %s %v: asked about %v, want %v", p.Namespace, p.Labels, asked, want)
			}
		}
	})
}

// An event that finds each waiting pod by many subjects costs memory for each pod once.
func TestGatheringIsSmall(t *testing.T) {
	const pods, labels = 50, 400
	p := api.MakePod("event").Obj()
	p.Labels = map[string]string{}
	var subjects []queueing.Subject
	for i := range labels {
		key := fmt.Sprint("k", i)
		p.Labels[key] = ""
		subjects = append(subjects, queueing.Subject{Key: key, AnyValue: true})
	}
	hint := on(queueing.ResourceAssignedPod, queueing.ActionAdd, func(*framework.PodInfo, any, any) (queueing.QueueingHint, error) {
		return queueing.QueueSkip, nil
	})
	hint.Subjects = func(*framework.PodInfo) []queueing.Subject { return subjects }
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{"A", []queueing.EventHint{hint}}}})})
	for i := range pods {
		it := r.Add(r.ctx, r.info(api.MakePod(fmt.Sprint(i))))
		r.Pop()
		r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
	}
	info, err := framework.NewPodInfo(p, r.schema)
	if err != nil {
		t.Fatal(err)
	}
	move := func() {
		r.Move(r.ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionAdd}, nil, info, nil)
	}
	move() // builds the index
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	move()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > pods*200 {
		t.Errorf("an event about %d pods took %d bytes, want about 8 for each", pods, got)
	}
}

// An event that matters to no pod costs nothing, however many wait. If a plugin cannot tell, it matters.
func TestHintsAreNotAskedAboutWhatDoesNotMatter(t *testing.T) {
	asked, told := 0, 0
	hint := on(queueing.ResourceAssignedPod, queueing.ActionDelete, func(*framework.PodInfo, any, any) (queueing.QueueingHint, error) {
		asked++
		return queueing.QueueSkip, nil
	})
	hint.Matters = func(before, _ any) bool {
		told++
		switch before.(*framework.PodInfo).Pod.Name {
		case "panic":
			panic("no idea")
		case "useful":
			return true
		}
		return false
	}
	r := newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{plugin{"A", []queueing.EventHint{hint}}}})})
	const waiting = 50
	for i := range waiting {
		it := r.Add(r.ctx, r.info(api.MakePod(fmt.Sprint("p", i))))
		if r.Pop() != it {
			t.Fatal("another pod is first")
		}
		r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: []string{"A"}})
	}
	for name, want := range map[string]int{"useless": 0, "useful": waiting, "panic": waiting} {
		asked, told = 0, 0
		r.Move(r.ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionDelete}, r.info(api.MakePod(name)), nil, nil)
		if asked != want {
			t.Errorf("%s: asked about %d pods, want %d", name, asked, want)
		}
		if want == 0 && told > 2 {
			t.Errorf("%s: told %d times that it does not matter", name, told)
		}
	}
}
