//go:build full

package framework_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// changing is the field of a snapshot that is set while a change of it is under way.
// A test inside of package framework could name it, but then everything that these tests
// import would be compiled a second time.
func changing(s *framework.Snapshot) *bool {
	return (*bool)(unsafe.Pointer(reflect.ValueOf(s).Elem().FieldByName("changing").UnsafeAddr()))
}

// Whatever changes a snapshot panics while another change of it is under way.
func TestGuard(t *testing.T) {
	build := func() (*framework.Snapshot, *framework.PodInfo) {
		s := framework.NewSnapshot(framework.Arrival)
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
	tests := map[string]func(s *framework.Snapshot, p *framework.PodInfo){
		"AddPod":    func(s *framework.Snapshot, p *framework.PodInfo) { _ = s.AddPod(p, "n") },
		"RemovePod": func(s *framework.Snapshot, p *framework.PodInfo) { _ = s.RemovePod(p, "n") },
		"AddNode":   func(s *framework.Snapshot, _ *framework.PodInfo) { _ = s.AddNode(api.MakeNode("m", "1", "1Gi").Obj()) },
		"UpdateNode": func(s *framework.Snapshot, _ *framework.PodInfo) {
			_ = s.UpdateNode(api.MakeNode("n", "1", "1Gi").Obj())
		},
		"RemoveNode": func(s *framework.Snapshot, _ *framework.PodInfo) { _ = s.RemoveNode("n") },
		"Nominate":   func(s *framework.Snapshot, p *framework.PodInfo) { _ = s.Nominate(p, "n", "") },
		"Touch":      func(s *framework.Snapshot, _ *framework.PodInfo) { s.Touch(s.Node("n")) },
		"Fork":       func(s *framework.Snapshot, _ *framework.PodInfo) { s.Fork() },
		"Put": func(s *framework.Snapshot, _ *framework.PodInfo) {
			_ = framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "x"}})
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s, p := build()
			*changing(s) = true
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.Contains(got, "is changed while it is being changed") {
						t.Errorf("panic %q, want one that says so", got)
					}
				}()
				change(s, p)
			}()
			*changing(s) = false
			m := s.Begin() // and what it did wrong was nothing
			change(s, p)
			s.Rollback(m)
			if *changing(s) {
				t.Error("the change has not ended")
			}
		})
	}
}
