package framework_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// keeper notes what it is told of pods.
type keeper struct{ told []string }

func (k *keeper) Fork(*framework.Snapshot) framework.Extension { return new(keeper) }

func (k *keeper) PodAdded(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	k.told = append(k.told, "added "+p.Pod.Name)
}

func (k *keeper) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if s.LosesNode() {
		k.told = append(k.told, "lost "+p.Pod.Name)
		return
	}
	k.told = append(k.told, "removed "+p.Pod.Name)
}

func (k *keeper) PodReleased(_ *framework.Snapshot, p *framework.PodInfo) {
	if p.Pod.Name == "bad" {
		panic("broken glass")
	}
	k.told = append(k.told, "released "+p.Pod.Name)
}

// TestLoseNode: an extension can tell pods that go with their node from pods whose node is
// missing, and hears of those that go meanwhile. The snapshot is as after RemoveNode.
func TestLoseNode(t *testing.T) {
	key := framework.NewExtensionKey(func(*framework.Snapshot) *keeper { return new(keeper) })
	s := framework.NewSnapshot(framework.Arrival)
	k := key.Of(s)
	pod := func(name string) *framework.PodInfo {
		p, err := s.NewPodInfo(api.MakePod(name).Requests("1", "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := pod("a"), pod("b")
	node := api.MakeNode("n", "8", "32Gi").Obj()
	fill := func() error { return errors.Join(s.AddNode(node), s.AddPod(a, "n"), s.AddPod(b, "n")) }
	if err := errors.Join(fill(), s.LoseNode("n"), s.Check(), s.ReleasePod(b), fill(), s.RemoveNode("n"), s.Check()); err != nil {
		t.Fatal(err)
	}
	want := []string{"added a", "added b", "lost b", "lost a", "released b", "added a", "added b", "removed b", "removed a"}
	if !slices.Equal(k.told, want) {
		t.Errorf("told %q, want %q", k.told, want)
	}
	if s.Len() != 0 || s.Node("n") != nil {
		t.Errorf("%d nodes are left", s.Len())
	}
	var invalid *api.InvalidError
	for _, err := range []error{s.LoseNode("n"), s.ReleasePod(nil), s.ReleasePod(&framework.PodInfo{})} {
		if !errors.As(err, &invalid) {
			t.Errorf("error %v, want an InvalidError", err)
		}
	}
	if err := s.ReleasePod(pod("bad")); err == nil || !strings.Contains(err.Error(), "keeper: PodReleased: panic: broken glass") {
		t.Errorf("error %v, want the panic", err)
	}
	if err := s.ReleasePod(a); !errors.Is(err, framework.ErrBroken) {
		t.Errorf("error %v, want ErrBroken", err)
	}
	if err := (*framework.Snapshot)(nil).ReleasePod(a); err == nil {
		t.Error("a nil snapshot releases pods")
	}
}

// TestLosePod: an extension can tell a pod that goes from one that only leaves a node, and hears of it when it goes later.
// In a transaction no pod is lost: a rollback could not tell.
func TestLosePod(t *testing.T) {
	key := framework.NewExtensionKey(func(*framework.Snapshot) *keeper { return new(keeper) })
	s := framework.NewSnapshot(framework.Arrival)
	k := key.Of(s)
	a, err := s.NewPodInfo(api.MakePod("a").Requests("1", "1Gi").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.AddNode(api.MakeNode("n", "8", "32Gi").Obj()), s.AddPod(a, "n")); err != nil {
		t.Fatal(err)
	}
	m := s.Begin()
	if err := s.LosePod(a, "n"); !errors.As(err, new(*api.InvalidError)) || len(s.Node("n").Pods) != 1 {
		t.Errorf("in a transaction: %v, want an InvalidError", err)
	}
	s.Rollback(m)
	if err := errors.Join(s.LosePod(a, "n"), s.ReleasePod(a), s.AddPod(a, "n"), s.RemovePod(a, "n"), s.Check()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"added a", "lost a", "released a", "added a", "removed a"}; !slices.Equal(k.told, want) {
		t.Errorf("told %q, want %q", k.told, want)
	}
	for _, err := range []error{s.LosePod(nil, "n"), s.LosePod(a, "n"), s.LosePod(a, "m"), (*framework.Snapshot)(nil).LosePod(a, "n")} {
		if !errors.As(err, new(*api.InvalidError)) {
			t.Errorf("%v, want an InvalidError", err)
		}
	}
}
