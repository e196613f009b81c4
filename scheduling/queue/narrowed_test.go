package queue_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// A thing is an object that events are about.
type thing struct{ namespace, name string }

const (
	resourceThing queueing.EventResource = "Thing"
	resourceRing  queueing.EventResource = "Ring"
)

// thingsOf are what a pod looks at: it says so in an annotation. A pod that does not know looks at all.
func thingsOf(p *framework.PodInfo) (list []queueing.Subject) {
	namespace := p.Pod.Namespace
	switch p.Pod.Annotations["looks"] {
	case "panic":
		panic("no idea")
	case "all":
		return []queueing.Subject{{}}
	case "namespace":
		return []queueing.Subject{{Namespace: namespace}}
	case "named":
		return []queueing.Subject{{Namespace: namespace, Key: "name", AnyValue: true}}
	case "one anywhere":
		return []queueing.Subject{{Key: "name", Value: p.Pod.Annotations["0"]}}
	}
	for _, name := range p.Pod.Annotations {
		list = append(list, queueing.Subject{Namespace: namespace, Key: "name", Value: name})
	}
	return list
}

// aboutThing names a thing before and after. One without a name has only its namespace; one that is
// broken may concern anybody.
func aboutThing(before, after any) (list []queueing.Subject) {
	for _, object := range []any{before, after} {
		x, ok := object.(*thing)
		switch {
		case object == nil:
		case !ok || x.name == "broken":
			panic("no thing")
		case x.name == "nothing":
			return nil
		case x.name == "":
			list = append(list, queueing.Subject{Namespace: x.namespace})
		default:
			list = append(list, queueing.Subject{Namespace: x.namespace, Key: "name", Value: x.name})
		}
	}
	return list
}

// helpsThing is what a hint says that is asked about everything.
func helpsThing(p *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
	about := aboutThing(before, after)
	if len(about) > 0 && slices.ContainsFunc(thingsOf(p), func(s queueing.Subject) bool { return slices.ContainsFunc(about, s.Covers) }) {
		return queueing.Queue, nil
	}
	return queueing.QueueSkip, nil
}

// TestNarrowedEqualsAsked compares a queue whose plugins narrow their events with one that asks hints
// about every waiting pod: each event wakes the same pods, whatever happened to them before.
func TestNarrowedEqualsAsked(t *testing.T) {
	woken, spared, asked := 0, 0, map[bool]int{}
	for seed := range uint64(60) {
		dice := rand.New(rand.NewPCG(seed, 7))
		rigs := map[bool]*rig{}
		for _, narrow := range []bool{true, false} {
			hint := func(r queueing.EventResource) queueing.EventHint {
				h := on(r, queueing.ActionAll, func(p *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
					asked[narrow]++
					return helpsThing(p, before, after)
				})
				if narrow {
					h.Subjects, h.About = thingsOf, aboutThing
				}
				return h
			}
			whole := on(resourceRing, queueing.ActionDelete, nil) // not narrowed in either
			rigs[narrow] = newRig(t, queue.Config{Profiles: profiles(t, scheduling.Profile{Filter: []framework.Plugin{
				plugin{"A", []queueing.EventHint{hint(resourceThing)}},
				plugin{"B", []queueing.EventHint{hint(resourceRing), hint(resourceThing), whole}},
			}})})
		}
		serial := 0
		drawPod := func(name string) *api.Pod {
			p := api.MakePod(name).Namespace(oneOf(dice, "a", "b")).Obj()
			p.Annotations = map[string]string{}
			if looks := oneOf(dice, "", "", "", "", "panic", "all", "namespace", "named", "one anywhere"); looks != "" {
				p.Annotations["looks"] = looks
			}
			for i := range oneOf(dice, 0, 1, 1, 2, 3, 100) {
				p.Annotations[fmt.Sprint(i)] = oneOf(dice, "x", "y", "z", fmt.Sprint("n", i))
			}
			return p
		}
		drawThing := func() *thing {
			return &thing{oneOf(dice, "a", "b"), oneOf(dice, "x", "y", "z", "n1", "n70", "other", "", "broken", "nothing")}
		}
		for range 150 {
			waiting := slices.Sorted(maps.Keys(rigs[true].items))
			pick := func() string { return waiting[dice.IntN(len(waiting))] }
			switch what := dice.IntN(8); {
			case what < 3 || len(waiting) == 0:
				serial++
				p, by := drawPod(fmt.Sprint("p", serial)), oneOf(dice, []string{"A"}, []string{"B"}, []string{"A", "B"})
				for _, r := range rigs {
					it := r.Add(r.ctx, infoFrom(r, p))
					r.items[p.Name] = it
					if r.Pop() != it {
						t.Fatal("another pod is first")
					}
					r.Requeue(r.ctx, it, nil, queue.Rejectors{Plugins: by})
				}
			case what == 3:
				p := drawPod(pick())
				for _, r := range rigs {
					r.Update(r.ctx, r.items[p.Name], infoFrom(r, p))
				}
			case what == 4:
				name := pick()
				for _, r := range rigs {
					r.Delete(r.items[name])
					delete(r.items, name)
				}
			default:
				e := queueing.ClusterEvent{Resource: oneOf(dice, resourceThing, resourceThing, resourceRing), Action: oneOf(dice, queueing.ActionAdd, queueing.ActionDelete)}
				var before, after any
				if object := drawThing(); e.Action == queueing.ActionDelete {
					before = object
				} else if after = object; dice.IntN(3) == 0 {
					e.Action, before = queueing.ActionUpdate, drawThing()
				}
				if dice.IntN(20) == 0 {
					before, after = nil, nil
				}
				for _, r := range rigs {
					r.Move(r.ctx, e, before, after, nil)
				}
			}
			got, want := rigs[true].popReady(), rigs[false].popReady()
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: a narrowed event woke %v, want %v", seed, got, want)
			}
			woken, spared = woken+len(got), spared+len(rigs[true].items)
		}
	}
	if woken < 500 || spared < 5000 || asked[true]*2 > asked[false] {
		t.Errorf("%d pods woken, %d not, hints asked %v times: too few to tell", woken, spared, asked)
	}
}

// popReady takes all pods that an event has woken out of the queue, by name.
func (r *rig) popReady() (names []string) {
	names = r.popAll()
	for _, name := range names {
		delete(r.items, name)
	}
	slices.Sort(names)
	return names
}

func infoFrom(r *rig, p *api.Pod) *framework.PodInfo {
	r.tb.Helper()
	info, err := framework.NewPodInfo(p, r.schema)
	if err != nil {
		r.tb.Fatal(err)
	}
	return info
}

func oneOf[T any](dice *rand.Rand, list ...T) T { return list[dice.IntN(len(list))] }
