package subjects

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

// A waiter of the model looks at subjects, whatever its pod is.
type looking struct {
	Waiter[string]
	at []queueing.Subject
}

// TestIndex compares an index with asking each waiter whether a subject of its own covers one of the event's,
// and is empty once all waiters have left.
func TestIndex(t *testing.T) {
	pod, err := framework.NewPodInfo(api.MakePod("p").Obj(), resource.NewSchema())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		var now []queueing.Subject // what the pod that is added looks at
		var about []queueing.Subject
		x := NewIndex[string](queueing.EventHint{
			Subjects: func(*framework.PodInfo) []queueing.Subject { return now },
			About:    func(any, any) []queueing.Subject { return about },
		})
		waiters := map[string]*looking{}
		word := func(label string, words ...string) string { return rapid.SampledFrom(words).Draw(rt, label) }
		subject := func() queueing.Subject {
			return queueing.Subject{Namespace: word("namespace", "", "a", "b"), Key: word("key", "", "k", "l"), Value: word("value", "1", "2"), AnyValue: rapid.Bool().Draw(rt, "any")}
		}
		var gathering Gathering[string]
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				name := fmt.Sprint(len(waiters))
				if waiters[name] != nil {
					return
				}
				w := &looking{}
				w.Of = name
				for range rapid.IntRange(0, 4).Draw(rt, "subjects") {
					w.at = append(w.at, subject())
				}
				now = w.at
				x.Add(&w.Waiter, pod)
				waiters[name] = w
			},
			"leave": func(*rapid.T) {
				name := fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "who"))
				if w := waiters[name]; w != nil {
					w.Leave()
					delete(waiters, name)
				}
			},
			"event": func(*rapid.T) {
				about = nil
				for range rapid.IntRange(0, 3).Draw(rt, "objects") {
					s := subject()
					s.AnyValue = false
					about = append(about, s)
				}
				e := Event{After: pod}
				list, known := About(x.hint, e)
				if known == slices.Contains(about, queueing.Subject{}) {
					rt.Fatalf("%v: known %t", about, known)
				}
				if !known {
					return
				}
				gathering.Begin()
				x.Gather(e, list, &gathering)
				var want []string
				for name, w := range waiters {
					if slices.ContainsFunc(w.at, func(s queueing.Subject) bool { return slices.ContainsFunc(about, s.Covers) }) {
						want = append(want, name)
					}
				}
				slices.Sort(want)
				slices.Sort(gathering.List)
				if !slices.Equal(gathering.List, want) {
					rt.Fatalf("about %v: %v, want %v", about, gathering.List, want)
				}
			},
		})
		for _, w := range waiters {
			w.Leave()
		}
		if len(x.bySubject) > 0 {
			rt.Fatalf("%d subjects stay", len(x.bySubject))
		}
	})
}
