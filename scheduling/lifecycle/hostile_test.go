//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"pgregory.net/rapid"
)

// TestHostileEvents sends a driver events of any kind in any order: pods of unknown
// nodes, pods and nodes twice or never, nil objects. An event that cannot be applied
// goes to the error handler. Nothing panics, and every pod that exists by its last
// event is in exactly one place.
func TestHostileEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := virtualclock.New(epoch)
		pods, nodes, bound := map[string]*api.Pod{}, map[string]bool{}, map[string]string{}
		id := func(p *api.Pod) string { return p.Name + " " + string(p.UID) }
		problems := 0
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock,
			Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error {
				if on := bound[id(p)]; on != "" {
					t.Fatalf("pod %s is bound to %s, and was to %s", id(p), node, on)
				}
				bound[id(p)] = node // and is never confirmed
				return nil
			}),
			ErrorHandler: func(err error) {
				if problems++; err.Error() == "" {
					t.Fatal("a problem without a text")
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		serial := 0
		name := func(letter string) string { return fmt.Sprint(letter, rapid.IntRange(0, 4).Draw(t, "name")) }
		expect := func(more int, event lifecycle.Event) {
			before := problems
			d.Apply(event)
			d.Flush(context.Background())
			if problems-before != more {
				t.Fatalf("%d problems, want %d", problems-before, more)
			}
		}
		put := func(p *api.Pod) {
			if old := pods[p.Name]; old != nil && (old.UID != p.UID || p.Spec.NodeName != "" || p.Status.Phase == api.PodFailed) {
				delete(bound, id(old)) // that binding no longer counts
			}
			if p.Status.Phase == api.PodFailed {
				delete(pods, p.Name)
			} else {
				pods[p.Name] = p
			}
			expect(0, lifecycle.Update(p))
		}
		some := func() *api.Pod {
			if len(pods) == 0 {
				t.Skip("no pod")
			}
			return api.Clone(pods[rapid.SampledFrom(slices.Sorted(maps.Keys(pods))).Draw(t, "pod")])
		}
		t.Repeat(map[string]func(*rapid.T){
			"nothing": func(t *rapid.T) {
				expect(1, rapid.SampledFrom([]lifecycle.Event{
					lifecycle.Update[api.Pod](nil), lifecycle.Delete[api.Pod](nil), lifecycle.Update[api.Node](nil),
					lifecycle.Delete[api.Node](nil), lifecycle.Update[api.CSINode](nil), lifecycle.Delete[api.Namespace](nil),
				}).Draw(t, "event"))
				expect(0, lifecycle.Event{})
			},
			"nameless": func(t *rapid.T) {
				expect(1, rapid.SampledFrom([]lifecycle.Event{
					lifecycle.Update(&api.Pod{}), lifecycle.Update(&api.Node{}), lifecycle.Update(&api.StorageClass{}),
				}).Draw(t, "event"))
				expect(0, rapid.SampledFrom([]lifecycle.Event{
					lifecycle.Delete(&api.Pod{}), lifecycle.Delete(&api.Node{}), lifecycle.Delete(&api.StorageClass{}),
				}).Draw(t, "event"))
			},
			"negative":          func(*rapid.T) { expect(1, lifecycle.Update(api.MakePod(name("p")).Requests("-1", "1Gi").Obj())) },
			"negative node":     func(*rapid.T) { expect(1, lifecycle.Update(api.MakeNode(name("n"), "-4", "8Gi").Obj())) },
			"unknown pod goes":  func(*rapid.T) { expect(0, lifecycle.Delete(api.MakePod("q").Obj())) },
			"unknown node goes": func(*rapid.T) { expect(0, lifecycle.Delete(api.MakeNode("m", "1", "1Gi").Obj())) },
			"node": func(*rapid.T) {
				n := api.MakeNode(name("n"), "4", "8Gi").Obj()
				nodes[n.Name] = true
				expect(0, lifecycle.Update(n))
				expect(0, lifecycle.Update(n)) // the second Update of this node
			},
			"node goes": func(*rapid.T) {
				n := api.MakeNode(name("n"), "4", "8Gi").Obj()
				delete(nodes, n.Name)
				expect(0, lifecycle.Delete(n))
				expect(0, lifecycle.Delete(n))
			},
			"pod": func(*rapid.T) {
				serial++
				put(api.MakePod(name("p")).UID(api.UID(fmt.Sprint("u", serial))).Requests("1", "1Gi").Obj())
			},
			"pod without UID":    func(*rapid.T) { put(api.MakePod(name("p")).Requests("1", "1Gi").Obj()) },
			"pod again":          func(*rapid.T) { put(some()) },
			"pod on some node":   func(*rapid.T) { put(onNode(some(), name("n"))) },
			"pod loses its node": func(*rapid.T) { put(onNode(some(), "")) },
			"pod wants another":  func(*rapid.T) { p := some(); p.Spec.SchedulerName = "foreign"; put(p) },
			"pod wants us again": func(*rapid.T) { p := some(); p.Spec.SchedulerName = ""; put(p) },
			"pod is nominated":   func(*rapid.T) { p := some(); p.Status.NominatedNodeName = name("n"); put(p) },
			"pod fails":          func(*rapid.T) { p := some(); p.Status.Phase = api.PodFailed; put(p) },
			"pod of another UID goes": func(*rapid.T) {
				p := some()
				p.UID += "x"
				expect(0, lifecycle.Delete(p))
			},
			"pod goes": func(*rapid.T) {
				p := some()
				delete(pods, p.Name)
				delete(bound, id(p))
				expect(0, lifecycle.Delete(p))
				expect(0, lifecycle.Delete(p))
			},
			"schedule": func(*rapid.T) { d.ScheduleOne(context.Background()) },
			"time":     func(*rapid.T) { clock.Advance(10 * time.Second) },
			"": func(t *rapid.T) {
				d.Flush(context.Background())
				places := map[string][]string{}
				for _, it := range d.Pending() {
					places[it.Pod.Pod.Name] = append(places[it.Pod.Pod.Name], "queue")
				}
				for _, n := range d.Snapshot().All() {
					if !nodes[n.Name()] {
						t.Fatalf("node %s is gone", n.Name())
					}
					for _, p := range n.Pods {
						places[p.Pod.Name] = append(places[p.Pod.Name], n.Name())
					}
				}
				if d.Snapshot().Len() != len(nodes) {
					t.Fatalf("%d nodes, want %d", d.Snapshot().Len(), len(nodes))
				}
				for name, at := range places {
					if pods[name] == nil || len(at) > 1 {
						t.Fatalf("pod %s (there: %t) is in %v", name, pods[name] != nil, at)
					}
				}
				for name, p := range pods {
					node := p.Spec.NodeName
					switch at := places[name]; {
					case node != "" && nodes[node] && !slices.Equal(at, []string{node}):
						t.Fatalf("pod %s is in %v, want on %s", name, at, node)
					case node != "" && !nodes[node] && len(at) > 0:
						t.Fatalf("pod %s is in %v, though its node is not there", name, at)
					case node == "" && p.Spec.SchedulerName == "" && len(at) == 0 && nodes[bound[id(p)]]:
						t.Fatalf("pod %s is lost", name)
					case node == "" && p.Spec.SchedulerName == "" && len(at) == 0 && bound[id(p)] == "":
						t.Fatalf("pod %s is lost, and was never bound", name)
					}
				}
			},
		})
	})
}
