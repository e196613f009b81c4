//go:build full

package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// side is a cluster and its scheduler.
type side struct {
	snap  *framework.Snapshot
	other *framework.Snapshot // the fork that it left
	sched *scheduling.Scheduler
}

// sides are two equal clusters: one scheduler caches and the other does not. Every
// action applies to both.
type sides [2]*side

func drawSides(t *rapid.T, c cluster) (s sides) {
	plugin := preemption.DefaultPreemption{}
	if rapid.IntRange(0, 3).Draw(t, "own criteria") == 0 {
		plugin.Criteria = []preemption.Criterion{preemption.FewestVictims, preemption.LatestStart}
	}
	if rapid.Bool().Draw(t, "few candidates") {
		plugin.MinCandidateNodesPercentage, plugin.MinCandidateNodesAbsolute = new(int32(30)), new(int32(2))
	}
	seed := rapid.Uint64().Draw(t, "seed")
	for i := range s {
		p := scheduling.Kubernetes137()
		p.PostFilter, p.Seed = []framework.Plugin{plugin}, seed
		p.Cache.Off, p.Cache.Verify = i == 1, true
		sched, err := scheduling.New(p)
		if err != nil {
			t.Fatal(err)
		}
		s[i] = &side{snapshotOf(t, c.nodes, c.pods, c.budgets...), nil, sched}
	}
	return s
}

// each does the same to both sides.
func (s sides) each(t *rapid.T, do func(*side) error) {
	for _, side := range s {
		if err := do(side); err != nil {
			t.Fatal(err)
		}
	}
}

// attempt tries a pod on both sides, which must behave the same.
func (s sides) attempt(t *rapid.T, pod *api.Pod) {
	var answers [2]string
	for i, side := range s {
		answers[i] = attempt(t, side.snap, side.sched, pod)
	}
	if answers[0] != answers[1] {
		t.Fatalf("%s: with memory %s, without %s", pod.Name, answers[0], answers[1])
	}
}

// TestMemory makes room for many pods, one after the other, in a cluster that
// changes in between: results cached from earlier attempts change no answer.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		s := drawSides(t, c)
		serial := 0
		another := func() *api.Pod {
			serial++
			pod := *c.pod
			pod.Name = fmt.Sprintf("new-%d", serial)
			pod.UID = api.UID(pod.Name)
			if rapid.IntRange(0, 3).Draw(t, "another class") == 0 {
				pod.Spec.Priority = new(int32(3))
			}
			return &pod
		}
		place := func() int { return rapid.IntRange(0, s[0].snap.Len()-1).Draw(t, "place") }
		leave := func(s *side, place int) error {
			n := s.snap.At(place)
			if len(n.Pods) == 0 {
				return nil
			}
			return s.snap.RemovePod(n.Pods[0], n.Name())
		}
		nominate := func(s *side, pod *api.Pod, node string) error {
			info, err := s.snap.NewPodInfo(pod)
			if err != nil {
				return err
			}
			return s.snap.Nominate(info, node, "")
		}
		events := map[string]func(){
			"": func() { s.attempt(t, another()) },
			"a pod leaves": func() {
				place := place()
				s.each(t, func(s *side) error { return leave(s, place) })
			},
			"a budget changes": func() {
				name := rapid.SampledFrom([]string{"web", "db"}).Draw(t, "budget")
				b := budget(name, rapid.Int32Range(0, 2).Draw(t, "allowed"))
				s.each(t, func(s *side) error { return framework.Put(s.snap, b) })
			},
			"a budget goes": func() {
				s.each(t, func(s *side) error {
					framework.Delete[api.PodDisruptionBudget](s.snap, "default/web")
					return nil
				})
			},
			"a nomination": func() {
				place, pod := place(), another()
				on := s[0].snap.At(place).Name()
				s.each(t, func(s *side) error { return nominate(s, pod, on) })
				s.attempt(t, another())
				if s[0].snap.Node(on) != nil && rapid.Bool().Draw(t, "the nominated pod tries again") {
					s.attempt(t, pod)
				}
				if rapid.Bool().Draw(t, "is taken back") {
					s.each(t, func(s *side) error {
						s.snap.ClearNomination(podInfo(t, s.snap, pod), on)
						return nil
					})
				}
			},
			"a fork": func() {
				s.each(t, func(s *side) error {
					s.other, s.snap = s.snap, s.snap.Fork()
					return nil
				})
			},
			"the other fork": func() {
				s.each(t, func(s *side) error {
					if s.other != nil {
						s.other, s.snap = s.snap, s.other
					}
					return nil
				})
			},
			"a what-if": func() {
				place, pod := place(), another()
				b := budget("web", rapid.Int32Range(0, 2).Draw(t, "allowed"))
				var marks [2]framework.Mark
				for i, side := range s {
					marks[i] = side.snap.Begin()
				}
				s.each(t, func(s *side) error { return errors.Join(leave(s, place), framework.Put(s.snap, b)) })
				s.attempt(t, pod)
				for i, side := range s {
					side.snap.Rollback(marks[i])
				}
				s.attempt(t, pod)
			},
			"a node goes and another comes": func() {
				place, serial := place(), serial
				full := on("late", fmt.Sprintf("late-%d", serial), "4", rapid.Int32Range(-2, 4).Draw(t, "priority")).Obj()
				s.each(t, func(s *side) error {
					err := s.snap.RemoveNode(s.snap.At(place).Name())
					if err == nil && s.snap.Node("late") == nil {
						err = errors.Join(s.snap.AddNode(node("late", "4")), s.snap.AddPod(podInfo(t, s.snap, full), "late"))
					}
					return err
				})
				if s[0].snap.Len() == 0 {
					s.each(t, func(s *side) error { return s.snap.AddNode(node("last", "1")) })
				}
			},
		}
		names := slices.Sorted(maps.Keys(events))
		for range rapid.IntRange(2, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "changes") {
				events[rapid.SampledFrom(names).Draw(t, "change")]()
			}
			s.attempt(t, another())
		}
	})
}

// TestMemoryOf changes one thing at a time that a memory must notice. At first the
// pod of the lower priority leaves a.
func TestMemoryOf(t *testing.T) {
	pods := func() []*api.Pod {
		return objs(
			on("a", "a-0", "4", 1).Labels("app", "web"), on("b", "b-0", "4", 2))
	}
	tests := []struct {
		name   string
		change func(t *testing.T, s *framework.Snapshot) *framework.Snapshot
		want   string
	}{
		{"nothing", func(_ *testing.T, s *framework.Snapshot) *framework.Snapshot { return s }, "a without a-0"},
		{"another pod, many changes ago", func(t *testing.T, s *framework.Snapshot) *framework.Snapshot {
			swap(t, s, "a", on("a", "a-1", "4", 3))
			stir(t, s, "b", 20_000)
			return s
		}, "b without b-0"},
		{"another pod, many changes ago in a fork", func(t *testing.T, s *framework.Snapshot) *framework.Snapshot {
			f := s.Fork()
			swap(t, f, "a", on("a", "a-1", "4", 3))
			stir(t, f, "b", 500)
			return f
		}, "b without b-0"},
		{"another cluster with the same generations", func(t *testing.T, s *framework.Snapshot) *framework.Snapshot {
			return snapshotOf(t, []*api.Node{node("a", "4"), node("b", "4")},
				objs(on("a", "a-0", "4", 3).Labels("app", "web"), on("b", "b-0", "4", 2)), budget("web", 1))
		}, "b without b-0"},
		{"a budget that allows less", func(t *testing.T, s *framework.Snapshot) *framework.Snapshot {
			put(t, s, budget("web", 0))
			return s
		}, "b without b-0"},
		{"a budget that protects others", func(t *testing.T, s *framework.Snapshot) *framework.Snapshot {
			b := budget("web", 0)
			b.Spec.Selector.MatchLabels["app"] = "db"
			put(t, s, b)
			return s
		}, "a without a-0"},
		{"another budget", func(t *testing.T, s *framework.Snapshot) *framework.Snapshot {
			b := budget("all the web", 0)
			b.Spec.Selector.MatchLabels["app"] = "web"
			put(t, s, b)
			return s
		}, "b without b-0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, []*api.Node{node("a", "4"), node("b", "4")}, pods(), budget("web", 1))
			p := scheduling.Kubernetes137()
			p.Cache.Verify = true
			sched, err := scheduling.New(p)
			if err != nil {
				t.Fatal(err)
			}
			pod := preemptor("1", 5).Obj()
			for range 3 {
				mark := s.Begin()
				if got := attempt(t, s, sched, pod); !strings.Contains(got, "a without a-0") {
					t.Fatalf("attempt = %s, want a-0 to leave a", got)
				}
				s.Rollback(mark)
			}
			if got := attempt(t, test.change(t, s), sched, pod); !strings.Contains(got, test.want) {
				t.Errorf("attempt = %s, want %s", got, test.want)
			}
		})
	}
}

// swap replaces the first pod of a node.
func swap(t *testing.T, s *framework.Snapshot, node string, p api.PodBuilder) {
	t.Helper()
	err := s.RemovePod(s.Node(node).Pods[0], node)
	if err = errors.Join(err, s.AddPod(podInfo(t, s, p.Obj()), node)); err != nil {
		t.Fatal(err)
	}
}

// stir removes a pod from the node and puts it back that many times.
func stir(t *testing.T, s *framework.Snapshot, node string, times int) {
	t.Helper()
	p := s.Node(node).Pods[0]
	for range times {
		if err := errors.Join(s.RemovePod(p, node), s.AddPod(p, node)); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, s *framework.Snapshot, b *api.PodDisruptionBudget) {
	t.Helper()
	if err := framework.Put(s, b); err != nil {
		t.Fatal(err)
	}
}

// attempt schedules a pod, evicting others if necessary, and describes the result.
func attempt(t failer, s *framework.Snapshot, sched *scheduling.Scheduler, pod *api.Pod) string {
	t.Helper()
	info := podInfo(t, s, pod)
	d, err := sched.Place(s, info)
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		return fmt.Sprintf("placed on %s, %v", d.Node, err)
	}
	result, _, status, err := sched.PostFilter(context.Background(), s, info, d)
	text := fmt.Sprintf("%v, %v: %s without", status, err, result.Nominated)
	for _, v := range result.Victims {
		text += fmt.Sprintf(" %s (%t)", v.Pod.Pod.Name, v.ViolatesBudget)
		if err := s.RemovePod(v.Pod, result.Nominated); err != nil {
			t.Fatal(err)
		}
	}
	if result.Nominated != "" {
		if err := s.AddPod(info, result.Nominated); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// TestMemoryOfNominatedPods: a pod does not count on the node that it is nominated to
// itself, but does for others of its class, so neither may get the other's answer.
func TestMemoryOfNominatedPods(t *testing.T) {
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	for _, tt := range []struct {
		name         string
		cpu          string
		pods         []*api.Pod
		nominee, not string // what the nominated pod gets, and what another one gets
	}{
		{"candidates", "3", objs(on("n", "high", "1", 9), on("n", "low", "1", 1), on("n", "middle", "1", 2)), "n without low (false)", "n without middle (false) low (false)"},
		{"refusals", "2", objs(on("n", "high", "1", 9), on("n", "low", "1", 1)), "n without low (false)", " without"},
	} {
		for _, order := range []string{"nnoo", "oonn", "ooono", "onono"} {
			t.Run(tt.name+" "+order, func(t *testing.T) {
				sched, err := scheduling.New(p)
				if err != nil {
					t.Fatal(err)
				}
				s := snapshotOf(t, []*api.Node{node("n", tt.cpu)}, tt.pods)
				nominee, other := preemptor("1", 5).Obj(), preemptor("1", 5).Obj()
				nominee.Name, nominee.UID, other.Name, other.UID = "nominee", "nominee", "other", "other"
				if err := s.Nominate(podInfo(t, s, nominee), "n", ""); err != nil {
					t.Fatal(err)
				}
				for i, who := range order {
					pod, want := nominee, tt.nominee
					if who == 'o' {
						pod, want = other, tt.not
					}
					mark := s.Begin()
					got := attempt(t, s, sched, pod)
					s.Rollback(mark)
					if !strings.HasSuffix(got, want) {
						t.Errorf("attempt %d by %s = %s, want %s", i, pod.Name, got, want)
					}
				}
			})
		}
	}
}
