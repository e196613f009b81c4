//go:build full

package framework_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A snapshot that nobody made: what has an error to return says what to do, and what
// has none panics with the same words.
func TestSnapshotNotMade(t *testing.T) {
	const want = "snapshot: is nil or zero: make one with NewSnapshot or SnapshotOf"
	whole := snapshotOf(t, framework.Arrival, "n")
	p, n := podInfo(t, whole, plainPod("p")), whole.Node("n")
	for name, s := range map[string]*framework.Snapshot{"nil": nil, "zero": new(framework.Snapshot)} {
		for method, call := range map[string]func() error{
			"AddNode":     func() error { return s.AddNode(plainNode("n")) },
			"UpdateNode":  func() error { return s.UpdateNode(plainNode("n")) },
			"RemoveNode":  func() error { return s.RemoveNode("n") },
			"AddPod":      func() error { return s.AddPod(p, "n") },
			"RemovePod":   func() error { return s.RemovePod(p, "n") },
			"AddPodAt":    func() error { return s.AddPodAt(p, n) },
			"RemovePodAt": func() error { return s.RemovePodAt(p, n) },
			"Nominate":    func() error { return s.Nominate(p, "n", "") },
			"CheckPod":    func() error { return s.CheckPod(p) },
			"NewPodInfo":  func() error { _, err := s.NewPodInfo(p.Pod); return err },
			"Put":         func() error { return framework.Put(s, new(api.Namespace)) },
		} {
			t.Run(name+"/"+method, func(t *testing.T) { wantError(t, call(), want) })
		}
		for method, call := range map[string]func(){
			"Len": func() { s.Len() }, "At": func() { s.At(0) }, "All": func() { s.All() }, "Node": func() { s.Node("n") },
			"Slots": func() { s.Slots() }, "Image": func() { s.Image("x") }, "Schema": func() { s.Schema() },
			"Fork": func() { s.Fork() }, "Begin": func() { s.Begin() }, "Pod": func() { s.Pod("p") },
			"RefuseDuplicates": func() { s.RefuseDuplicates() },
			"Lookup":           func() { framework.Lookup[api.Namespace](s, "x") },
			"List":             func() { framework.List[api.Namespace](s) },
			"Of":               func() { heldKey.Of(s) },
		} {
			t.Run(name+"/"+method, func(t *testing.T) {
				defer func() {
					if got := fmt.Sprint(recover()); got != "framework: the "+strings.Replace(want, ":", "", 1) {
						t.Errorf("panic %q", got)
					}
				}()
				call()
			})
		}
	}
}

// toucher touches each node whose pods change, and panics at a bomb.
type toucher struct{}

func (toucher) Fork(*framework.Snapshot) framework.Extension { return toucher{} }

func (toucher) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	s.Touch(n)
	if p.Pod.Name == "bomb" {
		panic("boom")
	}
}

func (toucher) PodRemoved(s *framework.Snapshot, n *framework.NodeInfo, _ *framework.PodInfo) {
	s.Touch(n)
}

// Extensions may touch nodes while they are told of a change, and may panic: the
// snapshot can still be rolled back.
func TestGuardLetsExtensionsAct(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	framework.NewExtensionKey(func(*framework.Snapshot) toucher { return toucher{} }).Of(s)
	m := s.Begin()
	must(t, s.AddPod(podInfo(t, s, plainPod("p")), "n"))
	func() {
		defer func() { _ = recover() }()
		_ = s.AddPod(podInfo(t, s, plainPod("bomb")), "n")
	}()
	s.Rollback(m)
	must(t, s.AddPod(podInfo(t, s, plainPod("q")), "n"))
	if got := podNames(s.Node("n")); len(got) != 1 || got[0] != "q" {
		t.Errorf("pods %v, want [q]", got)
	}
}
