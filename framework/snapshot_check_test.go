//go:build full

package framework_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// touchy panics when it is asked to check itself.
type touchy struct{ toucher }

func (touchy) Check(*framework.Snapshot) error { panic("no") }

// TestCheckPanics: an extension whose Check panics is named.
func TestCheckPanics(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	framework.NewExtensionKey(func(*framework.Snapshot) touchy { return touchy{} }).Of(s)
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "touchy") || !strings.Contains(err.Error(), "Check") {
		t.Errorf("error %v, want one that names the extension", err)
	}
}

// TestCheckFindsFaults plants a fault in each thing that Check finds anew.
func TestCheckFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(s *framework.Snapshot)
		want  string
	}{
		{"nothing", func(*framework.Snapshot) {}, ""},
		{"objects out of order", func(s *framework.Snapshot) {
			list := framework.List[api.Namespace](s)
			list[0], list[1] = list[1], list[0]
		}, "otherwise than by their keys"},
		{"an object that was changed", func(s *framework.Snapshot) { framework.List[api.Namespace](s)[0].Name = "z" }, `the key "a"`},
		{"a pod that nobody added", func(s *framework.Snapshot) {
			n := s.Node("n1")
			n.Pods = append(n.Pods, podInfo(t, s, plainPod("new")))
		}, "is missing"},
		{"a pod with affinity that nobody added", func(s *framework.Snapshot) {
			n := s.Node("n1")
			n.Pods = append(n.Pods, podInfo(t, s, lonely("new")))
		}, "1 pods have pod affinity, and 0 are counted"},
		{"a pod that nobody removed", func(s *framework.Snapshot) { s.Node("n1").Pods = nil }, "others, want -1"},
		{"one of two pods of a name", func(s *framework.Snapshot) { s.Node("n2").Pods = s.Node("n2").Pods[:1] }, "1 others, want 0"},
		{"a pod on another node", func(s *framework.Snapshot) {
			s.Node("n1").Pods, s.Node("n3").Pods = nil, s.Node("n1").Pods
		}, "is not on the node"},
		{"a total that nobody counted", func(s *framework.Snapshot) { s.Node("n3").NonZeroRequested[0]++ }, "the total with defaults 0 is 1, that of its pods 0"},
		{"a request that nobody counted", func(s *framework.Snapshot) { s.Node("n3").Requested[1]++ }, "total 1 is 1, that of its pods 0"},
		{"in a fork", func(s *framework.Snapshot) {
			f := s.Fork()
			must(t, f.RemovePod(f.Node("n1").Pods[0], "n1"))
			if err := f.Check(); err != nil {
				t.Error(err)
			}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := snapshotOf(t, framework.Arrival, "n1", "n2", "n3")
			for _, name := range []string{"b", "a"} {
				must(t, framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name}}))
			}
			must(t, s.AddPod(podInfo(t, s, plainPod("p")), "n1"))
			must(t, s.AddPod(podInfo(t, s, plainPod("twice")), "n2"))
			must(t, s.AddPod(podInfo(t, s, plainPod("twice")), "n2"))
			s.Pod("default/p")
			framework.List[api.Namespace](s)
			must(t, s.Check())
			tt.plant(s)
			switch err := s.Check(); {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Check() = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// A pod that comes and goes after a fork leaves nothing in the index.
func TestCheckAfterAPodHasComeAndGone(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	s.Pod("default/p") // makes the index
	for _, side := range []*framework.Snapshot{s.Fork(), s} {
		p, err := side.NewPodInfo(api.MakePod("p").Obj())
		if err == nil {
			err = side.AddPod(p, "n")
		}
		if err == nil {
			err = side.RemovePod(p, "n")
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := side.Check(); err != nil {
			t.Errorf("Check = %v", err)
		}
	}
}

// lonely is a pod that keeps away from its like.
func lonely(name string) *api.Pod {
	p := plainPod(name)
	p.Spec.Affinity = &api.Affinity{PodAntiAffinity: new(api.PodAntiAffinity)}
	return p
}

// TestPodsWithAffinity counts pods that come and leave in all ways.
func TestPodsWithAffinity(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1", "n2")
	count := func(after string, s *framework.Snapshot, want int) {
		t.Helper()
		if got := s.PodsWithAffinity(); got != want {
			t.Errorf("after %s: %d pods with affinity, want %d", after, got, want)
		}
		must(t, s.Check())
	}
	a, b := podInfo(t, s, lonely("a")), podInfo(t, s, lonely("b"))
	must(t, s.AddPod(podInfo(t, s, plainPod("plain")), "n1"))
	count("a plain pod", s, 0)
	must(t, s.AddPod(a, "n1"))
	count("a pod with affinity", s, 1)
	f := s.Fork()
	must(t, f.AddPod(b, "n2"))
	count("another one in a fork", f, 2)
	count("the fork's", s, 1)
	mark := s.Begin()
	must(t, s.RemovePod(a, "n1"))
	must(t, s.AddPod(b, "n1"))
	must(t, s.RemovePod(b, "n1"))
	count("a transaction", s, 0)
	s.Rollback(mark)
	count("a rollback", s, 1)
	mark = s.Begin()
	must(t, s.AddPod(b, "n2"))
	s.Rollback(mark)
	count("the rollback of a pod that came", s, 1)
	must(t, f.RemoveNode("n2"))
	count("its node", f, 1)
}
