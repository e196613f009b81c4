package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// TestMemory makes room for many pods, one after the other, in a cluster that
// changes in between: what is remembered of earlier attempts changes no answer.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		type side struct {
			snap  *framework.Snapshot
			sched *scheduling.Scheduler
		}
		var sides [2]side
		for i, off := range []bool{false, true} {
			p := scheduling.Kubernetes137()
			p.Fast.Off = off
			sched, err := scheduling.New(p)
			if err != nil {
				t.Fatal(err)
			}
			sides[i] = side{snapshotOf(t, c.nodes, c.pods, c.budgets...), sched}
		}
		for step := range rapid.IntRange(2, 12).Draw(t, "steps") {
			pod := *c.pod
			pod.Name = fmt.Sprintf("new-%d", step)
			pod.UID = framework.UID(pod.Name)
			if rapid.Bool().Draw(t, "another class") {
				priority := int32(3)
				pod.Spec.Priority = &priority
			}
			leaves := rapid.IntRange(-3, len(c.nodes)-1).Draw(t, "a pod leaves node")
			var answers [2]string
			for i, s := range sides {
				answers[i] = s.sched.Profile() + " " + attempt(t, s.snap, s.sched, &pod)
				if leaves >= 0 {
					if n := s.snap.At(leaves); len(n.Pods) > 0 {
						if err := s.snap.RemovePod(n.Pods[0], n.Name()); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if answers[0] != answers[1] {
				t.Fatalf("step %d: with memory %s, without %s", step, answers[0], answers[1])
			}
		}
	})
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
