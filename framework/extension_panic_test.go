//go:build full

package framework_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// fragile counts the pods of all nodes, and panics in a method once the count of its
// calls has reached a number.
type fragile struct {
	pods  int
	calls int
	at    int    // the call that panics; 0 for none
	in    string // the method that panics
}

func (f *fragile) call(method string) {
	if f.calls++; f.at > 0 && f.calls >= f.at && f.in == method {
		f.at = 0
		panic("broken glass")
	}
}

func (f *fragile) Fork(*framework.Snapshot) framework.Extension {
	c := *f
	return &c
}

func (f *fragile) PodAdded(_ *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	f.call("PodAdded")
	f.pods++
}

func (f *fragile) PodRemoved(_ *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	f.call("PodRemoved")
	f.pods--
}

func (f *fragile) NodeAdded(*framework.Snapshot, *framework.NodeInfo) { f.call("NodeAdded") }

func (f *fragile) NodeRemoved(*framework.Snapshot, *framework.NodeInfo) { f.call("NodeRemoved") }

func (f *fragile) NodeUpdated(_ *framework.Snapshot, _, _ *framework.NodeInfo) { f.call("NodeUpdated") }

func (f *fragile) ObjectChanged(*framework.Snapshot, string, any) { f.call("ObjectChanged") }

// Undo takes back a change of no pod.
func (f *fragile) Undo(*framework.Snapshot) { f.call("Undo") }

func newFragileKey() *framework.ExtensionKey[*fragile] {
	return framework.NewExtensionKey(func(*framework.Snapshot) *fragile { return new(fragile) })
}

// counted follows pods by hooks, as plugins do.
func newCountedKey() *framework.NodeStateKey[int] {
	return framework.NewNodeStateKey(framework.NodeHooks[int]{
		PodAdded:   func(n int, _ *framework.NodeInfo, _ *framework.PodInfo) (int, bool) { return n + 1, true },
		PodRemoved: func(n int, _ *framework.NodeInfo, _ *framework.PodInfo) (int, bool) { return n - 1, true },
	})
}

// TestExtensionPanics lets an extension panic anywhere, in and out of transactions. A
// pod whose coming or going it panics over has not moved, for the snapshot and for all
// extensions, and later transactions work as before.
func TestExtensionPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, middle, last := newCountedKey(), newFragileKey(), newCountedKey()
		s := framework.NewSnapshot(framework.Arrival)
		var pods []*framework.PodInfo
		for i := range 6 {
			if i < 2 {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "1000", "1Ti").Obj()); err != nil {
					t.Fatal(err)
				}
			}
			p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj())
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, p)
		}
		first.Of(s)
		f := middle.Of(s)
		last.Of(s)
		on := map[int]string{} // where the pods are
		type level struct {
			mark framework.Mark
			on   map[int]string
		}
		var open []level
		check := func() {
			total := 0
			for _, n := range []string{"n0", "n1"} {
				node, want := s.Node(n), 0
				for _, at := range on {
					if at == n {
						want++
					}
				}
				total += want
				if len(node.Pods) != want || node.Requested.At(0) != int64(1000*want) || first.Of(s).Get(node) != want || last.Of(s).Get(node) != want {
					t.Fatalf("node %s: %d pods, %v requested, counted %d and %d, want %d", n, len(node.Pods), node.Requested, first.Of(s).Get(node), last.Of(s).Get(node), want)
				}
			}
			if f.pods != total {
				t.Fatalf("the extension that panics counts %d pods, want %d", f.pods, total)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { check() },
			"arm": func(t *rapid.T) {
				f.in, f.at = rapid.SampledFrom([]string{"PodAdded", "PodRemoved"}).Draw(t, "method"), f.calls+1
				if len(open) > 0 {
					f.at = 0 // a rollback must not meet it; see TestExtensionPanicsInRollback
				}
			},
			"arm for one call": func(t *rapid.T) {
				i := rapid.IntRange(0, 5).Draw(t, "pod")
				if _, there := on[i]; there {
					return
				}
				f.in, f.at = "PodAdded", f.calls+1
				if err := s.AddPod(pods[i], "n0"); err == nil || !strings.Contains(err.Error(), "extension *framework_test.fragile: PodAdded: panic: broken glass") {
					t.Fatalf("AddPod = %v, want an error that names the extension", err)
				}
			},
			"add or remove": func(t *rapid.T) {
				i := rapid.IntRange(0, 5).Draw(t, "pod")
				node := rapid.SampledFrom([]string{"n0", "n1"}).Draw(t, "node")
				armed := f.at
				if at, there := on[i]; there {
					if err := s.RemovePod(pods[i], at); err == nil {
						delete(on, i)
					} else if armed == 0 {
						t.Fatal(err)
					}
				} else if err := s.AddPod(pods[i], node); err == nil {
					on[i] = node
				} else if armed == 0 {
					t.Fatal(err)
				}
			},
			"begin": func(*rapid.T) {
				f.at = 0
				before := map[int]string{}
				for i, n := range on {
					before[i] = n
				}
				open = append(open, level{s.Begin(), before})
			},
			"end": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				l := open[len(open)-1]
				open = open[:len(open)-1]
				if rapid.Bool().Draw(t, "commit") {
					s.Commit(l.mark)
				} else {
					s.Rollback(l.mark)
					on = l.on
				}
			},
		})
	})
}

// TestExtensionPanicsInRollback checks that a rollback that an extension panics in takes
// back all the rest and ends, and that the snapshot is refused afterwards.
func TestExtensionPanicsInRollback(t *testing.T) {
	for _, method := range []string{"PodAdded", "PodRemoved", "Undo"} {
		s, key := framework.NewSnapshot(framework.Arrival), newFragileKey()
		if err := s.AddNode(api.MakeNode("n", "1000", "1Ti").Obj()); err != nil {
			t.Fatal(err)
		}
		var pods []*framework.PodInfo
		for _, name := range []string{"a", "b"} {
			p, err := s.NewPodInfo(api.MakePod(name).Requests("1", "1Gi").Obj())
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, p)
		}
		f := key.Of(s)
		if err := s.AddPod(pods[0], "n"); err != nil {
			t.Fatal(err)
		}
		kept := &api.Service{ObjectMeta: api.ObjectMeta{Name: "kept"}}
		if err := framework.Put(s, kept); err != nil {
			t.Fatal(err)
		}
		mark := s.Begin()
		if err := errors.Join(s.RemovePod(pods[0], "n"), s.AddPod(pods[1], "n")); err != nil {
			t.Fatal(err)
		}
		s.Record(f)
		f.in, f.at = method, f.calls+1
		s.Rollback(mark)
		n := s.Node("n")
		if s.Recording() || s.RollingBack() || len(n.Pods) != 1 || n.Pods[0] != pods[0] || n.Requested.At(0) != 1000 {
			t.Errorf("%s: after the rollback: recording %t, pods %v, %v requested", method, s.Recording(), n.Pods, n.Requested)
		}
		for name, err := range map[string]error{
			"AddPod": s.AddPod(pods[1], "n"), "RemovePod": s.RemovePod(pods[0], "n"), "AddNode": s.AddNode(api.MakeNode("m", "1", "1").Obj()),
			"RemoveNode": s.RemoveNode("n"), "LoseNode": s.LoseNode("n"), "ReleasePod": s.ReleasePod(pods[0]), "CheckPod": s.CheckPod(pods[0]), "Put": framework.Put(s, new(api.Service)),
			"LosePod": s.LosePod(pods[0], "n"), "CountPod": s.CountPod(pods[1], "n"), "TellPod": s.TellPod(pods[0], "n"),
			"AddPod to a fork": s.Fork().AddPod(pods[1], "n"),
		} {
			if !errors.Is(err, framework.ErrBroken) || !strings.Contains(err.Error(), "framework_test.fragile: "+method+": panic: broken glass") {
				t.Errorf("%s, then %s: %v, want ErrBroken and the name of the extension", method, name, err)
			}
		}
		if framework.Delete[api.Service](s, kept.Key()); framework.Lookup[api.Service](s, kept.Key()) != kept {
			t.Errorf("%s: Delete has removed an object", method)
		}
	}
}

// TestExtensionPanicsOverNodes checks that an extension that misses a node or an object
// breaks the snapshot, and that removing a node is all or nothing.
func TestExtensionPanicsOverNodes(t *testing.T) {
	change := map[string]func(*framework.Snapshot) error{
		"NodeAdded":   func(s *framework.Snapshot) error { return s.AddNode(api.MakeNode("m", "1", "1").Obj()) },
		"NodeUpdated": func(s *framework.Snapshot) error { return s.UpdateNode(api.MakeNode("n", "1", "1").Obj()) },
		"NodeRemoved": func(s *framework.Snapshot) error { return s.RemoveNode("n") },
		"PodRemoved":  func(s *framework.Snapshot) error { return s.RemoveNode("n") },
		"ObjectChanged": func(s *framework.Snapshot) error {
			return framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Name: "x"}})
		},
	}
	for method, do := range change {
		s, key := framework.NewSnapshot(framework.Arrival), newFragileKey()
		if err := s.AddNode(api.MakeNode("n", "1000", "1Ti").Obj()); err != nil {
			t.Fatal(err)
		}
		f := key.Of(s)
		for i := range 3 {
			p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj())
			if err == nil {
				err = s.AddPod(p, "n")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f.in, f.at = method, f.calls+2
		if !strings.HasPrefix(method, "Pod") {
			f.at = f.calls + 1
		}
		if err := do(s); err == nil || !strings.Contains(err.Error(), method+": panic: broken glass") {
			t.Errorf("%s: %v, want an error that names the method", method, err)
		}
		broken := s.RemoveNode("unknown")
		if got, want := errors.Is(broken, framework.ErrBroken), method != "PodRemoved"; got != want {
			t.Errorf("%s: the next change: %v, want it broken: %t", method, broken, want)
		}
		if method == "PodRemoved" && (len(s.Node("n").Pods) != 3 || f.pods != 3 || s.Recording()) {
			t.Errorf("the node kept %d of its pods, the extension %d", len(s.Node("n").Pods), f.pods)
		}
	}
}

// TestRefusedAtOnce checks what would fail late or silently.
func TestRefusedAtOnce(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	func() {
		defer func() {
			if v := recover(); v != "framework: Snapshot.Record: the Undoer is nil" {
				t.Errorf("Record(nil): %v", v)
			}
		}()
		defer s.Rollback(s.Begin())
		s.Record(nil)
	}()
	for _, status := range []framework.Status{
		framework.NewStatus(99, nil), framework.DetailedStatus(7, framework.Text("x"), 1), framework.UnschedulableStatus("x").WithCode(200),
	} {
		if status.Code() != framework.Error || !errors.Is(status.Err(), framework.ErrUnknownCode) {
			t.Errorf("a status of an unknown code is %v", status)
		}
	}
}

// unforkable panics when it is forked, or when its fork is asked what it watches.
type unforkable struct{ asked bool }

func (u unforkable) Fork(*framework.Snapshot) framework.Extension {
	if !u.asked {
		panic("broken glass")
	}
	return askless{}
}

// askless panics when it is asked what it watches.
type askless struct{}

func (a askless) Fork(*framework.Snapshot) framework.Extension                          { return a }
func (askless) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo)   {}
func (askless) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}
func (askless) WatchedParts() framework.PodParts                                        { panic("broken glass") }

// TestForkPanics: an extension that panics in a fork breaks the fork, but not the snapshot.
func TestForkPanics(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		framework.NewExtensionKey(func(*framework.Snapshot) unforkable { return unforkable{asked} }).Of(s)
		f := s.Fork()
		err := f.AddNode(api.MakeNode("m", "4", "16Gi").Obj())
		if !errors.Is(err, framework.ErrBroken) || !strings.Contains(err.Error(), "unforkable: Fork: panic: broken glass") {
			t.Errorf("asked %t: %v, want ErrBroken and the name of the extension", asked, err)
		}
		if err := s.AddNode(api.MakeNode("m", "4", "16Gi").Obj()); err != nil {
			t.Errorf("asked %t: %v", asked, err)
		}
	}
}

// A listener notes what it is told, and whether that takes an earlier event back.
type listener struct{ heard *[]string }

func (l listener) Fork(*framework.Snapshot) framework.Extension { return l }

func (l listener) hear(s *framework.Snapshot, event string) {
	*l.heard = append(*l.heard, fmt.Sprint(event, " ", s.RollingBack()))
}

func (l listener) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	l.hear(s, "added")
}

func (l listener) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	l.hear(s, "removed")
}

// TestOppositeOfARefusedEvent: an extension that was told of a pod is told the opposite if one after it panics, in a
// rollback: what it has recorded is taken back, also outside of transactions.
func TestOppositeOfARefusedEvent(t *testing.T) {
	for _, inside := range []bool{false, true} {
		var heard []string
		s := snapshotOf(t, framework.Arrival, "n")
		p := podInfo(t, s, api.MakePod("p").Obj())
		framework.NewExtensionKey(func(*framework.Snapshot) listener { return listener{&heard} }).Of(s)
		f := newFragileKey().Of(s)
		if inside {
			s.Begin()
		}
		for _, event := range []string{"PodAdded", "PodRemoved"} {
			change := s.AddPod
			if event == "PodRemoved" {
				change = s.RemovePod
			}
			f.in, f.at = event, f.calls+1
			if err := change(p, "n"); err == nil {
				t.Fatalf("%s: the extension did not panic", event)
			}
			if err := change(p, "n"); err != nil {
				t.Fatal(err)
			}
		}
		want := "added false, removed true, added false, removed false, added true, removed false"
		if got := strings.Join(heard, ", "); got != want {
			t.Errorf("in a transaction: %t: told %s, want %s", inside, got, want)
		}
	}
}
