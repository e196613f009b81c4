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
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// side is a cluster and the scheduler that looks after it.
type side struct {
	snap  *framework.Snapshot
	other *framework.Snapshot // the fork that it turned from
	sched *scheduling.Scheduler
}

// sides are one that remembers and one that does not, of equal clusters. What is
// done to one is done to the other.
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
		p.Fast.Off = i == 1
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

// attempt tries a pod on both sides, which must do the same.
func (s sides) attempt(t *rapid.T, pod *framework.Pod) {
	var answers [2]string
	for i, side := range s {
		answers[i] = attempt(t, side.snap, side.sched, pod)
	}
	if answers[0] != answers[1] {
		t.Fatalf("%s: with memory %s, without %s", pod.Name, answers[0], answers[1])
	}
}

// TestMemory makes room for many pods, one after the other, in a cluster that
// changes in between: what is remembered of earlier attempts changes no answer.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		s := drawSides(t, c)
		serial := 0
		another := func() *framework.Pod {
			serial++
			pod := *c.pod
			pod.Name = fmt.Sprintf("new-%d", serial)
			pod.UID = framework.UID(pod.Name)
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
		nominate := func(s *side, pod *framework.Pod, node string) error {
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
				b := budget("web", rapid.Int32Range(0, 2).Draw(t, "allowed"))
				s.each(t, func(s *side) error { return framework.Put(s.snap, b) })
			},
			"a budget goes": func() {
				s.each(t, func(s *side) error {
					framework.Delete[framework.PodDisruptionBudget](s.snap, "default/web")
					return nil
				})
			},
			"a nomination": func() {
				place, pod := place(), another()
				s.each(t, func(s *side) error { return nominate(s, pod, s.snap.At(place).Name()) })
				s.attempt(t, another())
				if rapid.Bool().Draw(t, "is taken back") {
					s.each(t, func(s *side) error {
						s.snap.Denominate(podInfo(t, s.snap, pod), s.snap.At(place).Name())
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
				var marks [2]framework.Mark
				for i, side := range s {
					marks[i] = side.snap.Begin()
				}
				s.each(t, func(s *side) error { return leave(s, place) })
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

// TestMemoryAfterManyChanges: a snapshot remembers only its last changes.
func TestMemoryAfterManyChanges(t *testing.T) {
	c := cluster{nodes: []*framework.Node{node("a", "4"), node("b", "4")}, pods: objs(
		on("a", "a-0", "4", 1), on("b", "b-0", "2", 1), on("b", "b-1", "2", 0))}
	s := snapshotOf(t, c.nodes, c.pods)
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	pod := preemptor("1", 5).Obj()
	for range 3 {
		mark := s.Begin()
		if got := attempt(t, s, sched, pod); !strings.Contains(got, "b without b-1") {
			t.Fatalf("attempt = %s, want b-1 to leave b", got)
		}
		s.Rollback(mark)
	}
	for _, low := range slices.Clone(s.Node("b").Pods) {
		if err := s.RemovePod(low, "b"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddPod(podInfo(t, s, on("b", "b-2", "4", 3).Obj()), "b"); err != nil {
		t.Fatal(err)
	}
	a := s.Node("a").Pods[0]
	for range 20_000 {
		if err := errors.Join(s.RemovePod(a, "a"), s.AddPod(a, "a")); err != nil {
			t.Fatal(err)
		}
	}
	if got := attempt(t, s, sched, pod); !strings.Contains(got, "a without a-0") {
		t.Errorf("attempt = %s, want a-0 to leave a, as b has only a pod of higher priority now", got)
	}
}

// attempt schedules a pod, by evicting others if need be, and says what happened.
func attempt(t failer, s *framework.Snapshot, sched *scheduling.Scheduler, pod *framework.Pod) string {
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
