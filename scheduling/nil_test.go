package scheduling_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestNil: every method returns an error for a nil snapshot, pod or node.
func TestNil(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	pod := podInfo(t, s, api.MakePod("p").Obj())
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Schedule(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	nodes := []*framework.NodeInfo{s.Node("n"), nil}
	for name, call := range map[string]func(*framework.Snapshot, *framework.PodInfo) error{
		"Schedule": func(s *framework.Snapshot, p *framework.PodInfo) error { _, err := sched.Schedule(s, p); return err },
		"Place":    func(s *framework.Snapshot, p *framework.PodInfo) error { _, err := sched.Place(s, p); return err },
		"Assume":   func(s *framework.Snapshot, p *framework.PodInfo) error { return sched.Assume(s, p, d) },
		"Release":  func(s *framework.Snapshot, p *framework.PodInfo) error { return sched.Release(s, p, "n") },
		"PostFilter": func(s *framework.Snapshot, p *framework.PodInfo) error {
			_, _, _, err := sched.PostFilter(context.Background(), s, p, d)
			return err
		},
		"Unreserve": func(s *framework.Snapshot, p *framework.PodInfo) error { return sched.Binding(p, d).Unreserve(s) },
		"FilterNodes": func(s *framework.Snapshot, p *framework.PodInfo) error {
			_, err := sched.FilterNodes(s, p, nil)
			return err
		},
		"ScoreNodes": func(s *framework.Snapshot, p *framework.PodInfo) error {
			_, err := sched.ScoreNodes(s, p, nil)
			return err
		},
	} {
		var invalid *api.InvalidError
		if err := call(nil, pod); !errors.As(err, &invalid) {
			t.Errorf("%s(nil, pod) = %v, want an InvalidError", name, err)
		}
		if err := call(s, nil); !errors.As(err, &invalid) {
			t.Errorf("%s(snapshot, nil) = %v, want an InvalidError", name, err)
		}
	}
	for name, sched := range map[string]*scheduling.Scheduler{"nil": nil, "zero": new(scheduling.Scheduler)} {
		const want = "scheduler: is nil or the zero value; make one with scheduling.New"
		_, errSchedule := sched.Schedule(s, pod)
		_, errPlace := sched.Place(s, pod)
		_, _, _, errPostFilter := sched.PostFilter(context.Background(), s, pod, d)
		_, errFilter := sched.FilterNodes(s, pod, nil)
		_, errScore := sched.ScoreNodes(s, pod, nil)
		for call, err := range map[string]error{
			"Schedule": errSchedule, "Place": errPlace, "PostFilter": errPostFilter, "FilterNodes": errFilter, "ScoreNodes": errScore,
			"Assume": sched.Assume(s, pod, d), "Release": sched.Release(s, pod, "n"),
			"Explain":         errors.New(sched.Explain(s, pod).Error),
			"ExplainDecision": errors.New(sched.ExplainDecision(s, pod, d).Error),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%s of a %s Scheduler = %v, want %s", call, name, err, want)
			}
		}
		if stats := sched.Stats(); stats != (scheduling.Stats{}) {
			t.Errorf("Stats of a %s Scheduler = %+v, want none", name, stats)
		}
		if times := sched.Measure(s, pod, d, time.Now); times != nil {
			t.Errorf("Measure of a %s Scheduler = %v, want none", name, times)
		}
	}
	const want = "nodes[1]: is nil"
	if _, err := sched.FilterNodes(s, pod, nodes); err == nil || err.Error() != want {
		t.Errorf("FilterNodes: %v, want %s", err, want)
	}
	if _, err := sched.ScoreNodes(s, pod, nodes); err == nil || err.Error() != want {
		t.Errorf("ScoreNodes: %v, want %s", err, want)
	}
	var r scheduling.Registry
	if err := r.Register("x", scheduling.RegisterValue(scheduling.PrioritySort{})); err != nil || len(r.Names()) != 1 {
		t.Errorf("the zero Registry has %v: %v, want x", r.Names(), err)
	}
}
