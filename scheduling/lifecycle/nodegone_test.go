package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// A fuse is an extension that panics so many times, about pods that leave a node or, if it is inverted, come to one.
type fuse struct {
	lit      *int
	inverted bool
}

func (f fuse) Fork(*framework.Snapshot) framework.Extension { return f }

func (f fuse) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	f.burn(s, f.inverted)
}

func (f fuse) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	f.burn(s, !f.inverted)
}

func (f fuse) burn(s *framework.Snapshot, mine bool) {
	if mine && *f.lit > 0 && !s.RollingBack() {
		*f.lit--
		panic("the fuse")
	}
}

// lay lays a fuse in the driver's snapshot.
func (f fuse) lay(d *lifecycle.Driver) {
	framework.NewExtensionKey(func(*framework.Snapshot) fuse { return f }).Of(d.Snapshot())
}

// A node that is deleted leaves the snapshot also if an extension panics then, once or for a while, and takes no pod in
// between. It does not leave if it has come back meanwhile, and has room again then.
func TestDeletedNodeLeavesAfterAPanic(t *testing.T) {
	for _, back := range []bool{false, true} {
		for _, times := range []int{1, 2, 5} {
			lit, node := 0, api.MakeNode("n", "4", "8Gi").Obj()
			node.ResourceVersion = "5" // it may come back as it was, as after a list that missed it
			w := newWorld(t, scheduling.Kubernetes137())
			w.confirm = true
			fuse{lit: &lit}.lay(w.d)
			w.d.Apply(lifecycle.Update(node))
			w.pods(api.MakePod("a").Requests("1", "1Gi"))
			w.all()
			w.d.Flush(w.ctx)
			lit = times
			w.d.Apply(lifecycle.Delete(node))
			w.d.Flush(w.ctx)
			if back {
				w.d.Apply(lifecycle.Update(node))
			}
			w.pods(api.MakePod("b").Requests("1", "1Gi"))
			for range 6 {
				w.all()
				w.pass(time.Second)
			}
			if left := w.d.Snapshot().Node("n") != nil; left != back {
				t.Errorf("back %v, refused %d times: the node is in the snapshot: %v", back, times, left)
			}
			if bound := w.bound["b"] != ""; bound != back {
				t.Errorf("back %v, refused %d times: pod b is bound: %v", back, times, bound)
			}
			if len(w.problems) == 0 || !strings.Contains(w.problems[0], "the fuse") {
				t.Errorf("back %v, refused %d times: problems %v, want the panic", back, times, w.problems)
			}
		}
	}
}

// A pod that an extension kept on its node leaves it later, but not if the node has gone and come
// back meanwhile, with a newer version of the pod.
func TestLeavingAgainSparesANewerPod(t *testing.T) {
	for _, back := range []bool{false, true} {
		lit := 0
		w := newWorld(t, scheduling.Kubernetes137())
		fuse{lit: &lit}.lay(w.d)
		node, pod := api.MakeNode("n", "4", "8Gi"), onNode(api.MakePod("a").Requests("1", "1Gi").Obj(), "n")
		w.nodes(node)
		w.d.Apply(lifecycle.Update(pod))
		w.d.Flush(w.ctx)
		lit = 1
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

// What happens to a pod after an extension has refused its newest version, and before that is tried again.
func TestAfterARefusedVersion(t *testing.T) {
	node, other := api.MakeNode("n", "4", "8Gi"), api.MakeNode("m", "4", "8Gi")
	newest := onNode(api.MakePod("a").Requests("2", "1Gi").Obj(), "n")
	moved := onNode(api.MakePod("a").Requests("2", "1Gi").Obj(), "m")
	for name, tt := range map[string]struct {
		event lifecycle.Event
		on    map[string]*api.Pod // by node
	}{
		"its node goes": {lifecycle.Delete(node.Obj()), map[string]*api.Pod{"n": newest}}, // and comes back
		"it goes":       {lifecycle.Delete(newest), nil},
		"it moves":      {lifecycle.Update(moved), map[string]*api.Pod{"m": moved}},
		"nothing":       {lifecycle.Update(other.Obj()), map[string]*api.Pod{"n": newest}},
	} {
		lit := 0
		w := newWorld(t, scheduling.Kubernetes137())
		fuse{lit: &lit}.lay(w.d)
		w.nodes(node, other)
		w.d.Apply(lifecycle.Update(onNode(api.MakePod("a").Requests("1", "1Gi").Obj(), "n")))
		w.d.Flush(w.ctx)
		lit = 1
		w.d.Apply(lifecycle.Update(newest), tt.event)
		w.d.Flush(w.ctx)
		w.nodes(node)
		w.d.Flush(w.ctx)
		for _, n := range w.d.Snapshot().All() {
			want := tt.on[n.Name()]
			if is := len(n.Pods) == 1 && n.Pods[0].Pod == want; is != (want != nil) || len(n.Pods) > 1 {
				t.Errorf("%s: node %s has the pods %v", name, n.Name(), n.Pods)
			}
		}
		w.wantProblem("the fuse")
	}
}

// A pod that waits is tried soon after what it waits for counts, however often an extension kept that from counting.
func TestWaitingAfterPanics(t *testing.T) {
	node := api.MakeNode("n", "2", "8Gi").Labels(api.LabelHostname, "n")
	large, small := api.MakePod("a").Requests("2", "1Gi"), api.MakePod("a").Requests("1", "1Gi")
	waits := api.MakePod("b").Requests("1", "1Gi")
	follows := api.MakePod("b").Requests("1", "1Gi").PodAffinity(api.LabelHostname, "app=x")
	there := func(b api.PodBuilder) lifecycle.Event { return lifecycle.Update(onNode(b.Obj(), "n")) }
	for name, tt := range map[string]struct {
		before []lifecycle.Event
		pod    api.PodBuilder // that waits
		event  lifecycle.Event
		on     []string
	}{
		"leaves":         {[]lifecycle.Event{lifecycle.Update(node.Obj()), there(large)}, waits, lifecycle.Delete(large.Obj()), []string{"b"}},
		"shrinks":        {[]lifecycle.Event{lifecycle.Update(node.Obj()), there(large)}, waits, there(small), []string{"a", "b"}},
		"comes":          {[]lifecycle.Event{lifecycle.Update(node.Obj())}, follows, there(small.Labels("app", "x")), []string{"a", "b"}},
		"gets a label":   {[]lifecycle.Event{lifecycle.Update(node.Obj()), there(small)}, follows, there(small.Labels("app", "x")), []string{"a", "b"}},
		"node come back": {[]lifecycle.Event{there(small.Labels("app", "x"))}, follows, lifecycle.Update(node.Obj()), []string{"a", "b"}},
	} {
		for _, inverted := range []bool{false, true} {
			for times := range 4 {
				t.Run(fmt.Sprint(name, inverted, times), func(t *testing.T) {
					lit := 0
					w := newWorld(t, scheduling.Kubernetes137())
					w.confirm = true
					fuse{&lit, inverted}.lay(w.d)
					w.d.Apply(tt.before...)
					w.pods(tt.pod)
					w.all()
					w.pass(time.Minute) // beyond its backoff
					w.all()
					lit = times
					w.d.Apply(tt.event)
					for range times + 2 {
						w.all()
						w.pass(15 * time.Second) // beyond the backoff of an attempt that came too early
					}
					on := w.on("n")
					slices.Sort(on)
					if !slices.Equal(on, tt.on) {
						t.Errorf("node n holds %v, want %v", on, tt.on)
					}
				})
			}
		}
	}
}
