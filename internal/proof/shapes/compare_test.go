//go:build full

package shapes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// TestCompareSeesEveryPart changes one part of a decision after the other.
func TestCompareSeesEveryPart(t *testing.T) {
	want := &scheduling.Explanation{
		Pod: "default/p", Chosen: "b", Feasible: 3, TiedNodes: []string{"b", "c"},
		Nodes: []scheduling.NodeExplanation{{Node: "a", Total: 10}, {Node: "b", Total: 20}, {Node: "c", Total: 20}},
	}
	right := scheduling.Decision{Node: "b", Score: 20, Feasible: 3, TiedNodes: 2}
	if err := compare(want, right, nil); err != nil {
		t.Errorf("the same decision: %v", err)
	}
	for what, change := range map[string]func(d *scheduling.Decision){
		"node":     func(d *scheduling.Decision) { d.Node = "c" },
		"score":    func(d *scheduling.Decision) { d.Score++ },
		"feasible": func(d *scheduling.Decision) { d.Feasible-- },
		"tied":     func(d *scheduling.Decision) { d.TiedNodes-- },
	} {
		d := right
		if change(&d); compare(want, d, nil) == nil {
			t.Errorf("another %s is no difference", what)
		}
	}
	if compare(want, right, errors.New("it failed")) == nil {
		t.Error("an error is no difference")
	}
	failed := &scheduling.Explanation{Pod: "default/p", Error: "0/3 nodes are available: one reason"}
	if err := compare(failed, scheduling.Decision{}, errors.New(failed.Error)); err != nil {
		t.Errorf("the same error: %v", err)
	}
	if compare(failed, scheduling.Decision{}, errors.New("0/3 nodes are available: another")) == nil {
		t.Error("another error is no difference")
	}
}

// moody prefers another node each time, though it declares that it reads nothing.
type moody struct{ asked *int }

func (moody) Name() string                             { return "Moody" }
func (moody) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{} }
func (m moody) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	if n.Name() == fmt.Sprintf("node-%05d", *m.asked%40) {
		return framework.MaxNodeScore
	}
	return 0
}

// TestMeasureCompares: kept answers that are wrong do not pass as a measurement.
func TestMeasureCompares(t *testing.T) {
	asked := 0
	s := equal("moody", scheduling.First)
	s.Profile = func(p *scheduling.Profile) {
		p.Score = append(p.Score, scheduling.Weighted{Plugin: moody{&asked}, Weight: 100})
	}
	s.Come = func(w *World, p *framework.PodInfo) error {
		asked++
		return w.Place(p)
	}
	_, err := Measure(s, Config{Nodes: 40, Pods: 400, Budget: time.Minute, Verified: 1})
	if err == nil || !strings.Contains(err.Error(), "the reference path has node") {
		t.Errorf("Measure() = %v, want the difference", err)
	}
}
