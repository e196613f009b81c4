package lifecycle_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// A fuse is an extension that panics once, about the next pod that leaves a node.
type fuse struct{ lit *bool }

func (f fuse) Fork(*framework.Snapshot) framework.Extension { return f }

func (f fuse) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

func (f fuse) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	if *f.lit && !s.RollingBack() {
		*f.lit = false
		panic("the fuse")
	}
}

// A node that is deleted leaves the snapshot also if an extension panics then, and not if it has
// come back meanwhile.
func TestDeletedNodeLeavesAfterAPanic(t *testing.T) {
	for _, back := range []bool{false, true} {
		lit := false
		key := framework.NewExtensionKey(func(*framework.Snapshot) fuse { return fuse{&lit} })
		w := newWorld(t, scheduling.Kubernetes137())
		w.confirm = true
		key.Of(w.d.Snapshot())
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(api.MakePod("a").Requests("1", "1Gi"))
		w.all()
		lit = true
		gone := api.MakeNode("n", "4", "8Gi").Obj()
		w.d.Apply(lifecycle.Delete(gone))
		if back {
			w.nodes(api.MakeNode("n", "8", "8Gi"))
		}
		w.pods(api.MakePod("b").Requests("1", "1Gi"))
		w.all()
		if left := w.d.Snapshot().Node("n") != nil; left != back {
			t.Errorf("back %v: the node is in the snapshot: %v", back, left)
		}
		if bound := w.bound["b"] != ""; bound != back {
			t.Errorf("back %v: pod b is bound: %v", back, bound)
		}
		if len(w.problems) != 1 {
			t.Errorf("back %v: problems %v, want the panic", back, w.problems)
		}
	}
}

// A pod that an extension kept on its node leaves it later, but not if the node has gone and come
// back meanwhile, with a newer version of the pod.
func TestLeavingAgainSparesANewerPod(t *testing.T) {
	for _, back := range []bool{false, true} {
		lit := false
		key := framework.NewExtensionKey(func(*framework.Snapshot) fuse { return fuse{&lit} })
		w := newWorld(t, scheduling.Kubernetes137())
		key.Of(w.d.Snapshot())
		node, pod := api.MakeNode("n", "4", "8Gi"), onNode(api.MakePod("a").Requests("1", "1Gi").Obj(), "n")
		w.nodes(node)
		w.d.Apply(lifecycle.Update(pod))
		w.d.Flush(w.ctx)
		lit = true
		w.d.Apply(lifecycle.Delete(pod))
		if back {
			w.d.Apply(lifecycle.Delete(node.Obj()))
			w.nodes(node)
			w.d.Apply(lifecycle.Update(onNode(api.MakePod("a").Requests("2", "1Gi").Obj(), "n")))
		}
		w.d.Flush(w.ctx)
		if back {
			w.wantOn("n", "a")
		} else {
			w.wantOn("n")
		}
		w.wantProblem("the fuse")
	}
}
