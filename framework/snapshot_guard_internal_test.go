package framework

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// Whatever changes a snapshot panics while another change of it is under way.
func TestGuard(t *testing.T) {
	build := func() (*Snapshot, *PodInfo) {
		s := NewSnapshot(Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		p, err := s.NewPodInfo(api.MakePod("p").Obj())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AddPod(p, "n"); err != nil {
			t.Fatal(err)
		}
		return s, p
	}
	tests := map[string]func(s *Snapshot, p *PodInfo){
		"AddPod":     func(s *Snapshot, p *PodInfo) { _ = s.AddPod(p, "n") },
		"RemovePod":  func(s *Snapshot, p *PodInfo) { _ = s.RemovePod(p, "n") },
		"AddNode":    func(s *Snapshot, _ *PodInfo) { _ = s.AddNode(api.MakeNode("m", "1", "1Gi").Obj()) },
		"UpdateNode": func(s *Snapshot, _ *PodInfo) { _ = s.UpdateNode(api.MakeNode("n", "1", "1Gi").Obj()) },
		"RemoveNode": func(s *Snapshot, _ *PodInfo) { _ = s.RemoveNode("n") },
		"Nominate":   func(s *Snapshot, p *PodInfo) { _ = s.Nominate(p, "n", "") },
		"Touch":      func(s *Snapshot, _ *PodInfo) { s.Touch(s.Node("n")) },
		"Fork":       func(s *Snapshot, _ *PodInfo) { s.Fork() },
		"Put":        func(s *Snapshot, _ *PodInfo) { _ = Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "x"}}) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s, p := build()
			s.startChange()
			func() {
				defer func() {
					if got := recover(); got != concurrentUse {
						t.Errorf("panic %v, want %q", got, concurrentUse)
					}
				}()
				change(s, p)
			}()
			s.endChange()
			m := s.Begin() // and what it did wrong was nothing
			change(s, p)
			s.Rollback(m)
			if s.changing {
				t.Error("the change has not ended")
			}
		})
	}
}
