//go:build full

package framework_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A picky extension panics over the pods of some names that come, and of some that go, after it has recorded what it
// changed. It knows the others on nodes.
type picky struct {
	refuses, keeps map[string]bool
	knows          map[*framework.PodInfo]string
	odd            string // what it was told that cannot be
}

func (x *picky) Fork(*framework.Snapshot) framework.Extension {
	return &picky{maps.Clone(x.refuses), maps.Clone(x.keeps), maps.Clone(x.knows), x.odd}
}

// A forgetful undoer takes back what a picky extension knew of a pod.
type forgetful struct {
	pod  *framework.PodInfo
	node string
}

func (u forgetful) Undo(s *framework.Snapshot) { pickyKey.Of(s).set(u.pod, u.node) }

func (x *picky) set(p *framework.PodInfo, node string) {
	if node == "" {
		delete(x.knows, p)
	} else {
		x.knows[p] = node
	}
}

func (x *picky) change(s *framework.Snapshot, p *framework.PodInfo, node string, panics bool) {
	s.Record(forgetful{p, x.knows[p]})
	x.set(p, node)
	if panics {
		panic("not this one")
	}
}

func (x *picky) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	if s.RollingBack() {
		return
	}
	if x.knows[p] != "" {
		x.odd = p.Pod.Name + " comes twice"
	}
	x.change(s, p, n.Name(), x.refuses[p.Pod.Name])
}

func (x *picky) PodRemoved(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	if s.RollingBack() {
		return
	}
	if x.knows[p] != n.Name() {
		x.odd = p.Pod.Name + " leaves, and never came"
	}
	x.change(s, p, "", x.keeps[p.Pod.Name])
}

var pickyKey = framework.NewExtensionKey(func(*framework.Snapshot) *picky {
	return &picky{map[string]bool{}, map[string]bool{}, map[*framework.PodInfo]string{}, ""}
})

// TestCountPod: a pod that the cluster has, and each newer version, counts although an extension panics over it, for all
// others. The extension hears of it when told again; before that it sees the version that it saw last.
func TestCountPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, last := newCountedKey(), newCountedKey()
		s := framework.NewSnapshot(framework.Arrival)
		nodes, names := []string{"n0", "n1"}, []string{"p0", "p1", "p2", "p3"}
		for _, n := range nodes {
			if err := s.AddNode(api.MakeNode(n, "1000", "1Ti").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		first.Of(s)
		x := pickyKey.Of(s)
		last.Of(s)
		type pod struct {
			info, seen *framework.PodInfo
			node       string
		}
		on := map[string]pod{}
		drawn := func(t *rapid.T) (string, string) {
			return rapid.SampledFrom(names).Draw(t, "pod"), rapid.SampledFrom(nodes).Draw(t, "node")
		}
		there := func(t *rapid.T) (string, pod) {
			name, _ := drawn(t)
			p, is := on[name]
			if !is {
				t.Skip()
			}
			return name, p
		}
		version := func(name string) *framework.PodInfo {
			p, err := s.NewPodInfo(api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Obj())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		// refused checks the error of a call that the extension refuses, or does not.
		refused := func(err error, want bool) bool {
			t.Helper()
			if (err != nil) != want || want && !strings.Contains(err.Error(), "extension *framework_test.picky: Pod") {
				t.Fatalf("%v, want a refusal: %t", err, want)
			}
			return want
		}
		// shows returns whether the extension refuses to see a version in the place of what it sees.
		shows := func(name string, seen *framework.PodInfo) bool {
			return seen != nil && x.keeps[name] || x.refuses[name]
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				for _, n := range nodes {
					node, want := s.Node(n), 0
					for _, p := range on {
						if p.node == n {
							want++
						}
					}
					if len(node.Pods) != want || node.Requested.At(0) != int64(1000*want) || first.Of(s).Get(node) != want || last.Of(s).Get(node) != want {
						t.Fatalf("node %s: %d pods, %v requested, counted %d and %d, want %d", n, len(node.Pods), node.Requested, first.Of(s).Get(node), last.Of(s).Get(node), want)
					}
				}
				knows := map[*framework.PodInfo]string{}
				for _, p := range on {
					if p.seen != nil {
						knows[p.seen] = p.node
					}
				}
				if x.odd != "" || !maps.Equal(x.knows, knows) {
					t.Fatalf("the extension knows %v, want %v; %s", x.knows, knows, x.odd)
				}
				must(s.Broken())
				must(s.Check())
			},
			"refuse": func(t *rapid.T) {
				name, _ := drawn(t)
				x.refuses[name] = !x.refuses[name]
			},
			"keep": func(t *rapid.T) {
				name, _ := drawn(t)
				x.keeps[name] = !x.keeps[name]
			},
			"count": func(t *rapid.T) {
				name, node := drawn(t)
				if _, is := on[name]; is {
					t.Skip()
				}
				p := pod{info: version(name), node: node}
				if !refused(s.CountPod(p.info, node), x.refuses[name]) {
					p.seen = p.info
				}
				on[name] = p
			},
			"add": func(t *rapid.T) {
				name, node := drawn(t)
				if _, is := on[name]; is {
					t.Skip()
				}
				p := version(name)
				if !refused(s.AddPod(p, node), x.refuses[name]) {
					on[name] = pod{p, p, node}
				}
			},
			"renew": func(t *rapid.T) {
				name, p := there(t)
				old := p.info
				if rapid.Bool().Draw(t, "newer") {
					p.info = version(name)
				}
				if !refused(s.RenewPod(old, p.info, p.node), shows(name, p.seen)) {
					p.seen = p.info
				}
				on[name] = p
			},
			"replace": func(t *rapid.T) {
				name, p := there(t)
				now := version(name)
				if !refused(s.ReplacePod(p.info, now, p.node), shows(name, p.seen)) {
					on[name] = pod{now, now, p.node}
				}
			},
			"tell": func(t *rapid.T) {
				name, p := there(t)
				if !refused(s.TellPod(p.info, p.node), p.seen != p.info && shows(name, p.seen)) {
					p.seen = p.info
				}
				on[name] = p
			},
			"remove": func(t *rapid.T) {
				name, p := there(t)
				remove := s.RemovePod
				if rapid.Bool().Draw(t, "lose") {
					remove = s.LosePod
				}
				if !refused(remove(p.info, p.node), p.seen != nil && x.keeps[name]) {
					delete(on, name)
				}
			},
			"transaction": func(t *rapid.T) {
				name, p := there(t)
				m := s.Begin()
				defer s.Rollback(m)
				if err := errors.Join(s.CountPod(p.info, p.node), s.RenewPod(p.info, p.info, p.node)); !errors.As(err, new(*api.InvalidError)) {
					t.Fatal(err)
				}
				if refused(s.RemovePod(p.info, p.node), p.seen != nil && x.keeps[name]) {
					return
				}
				switch rapid.IntRange(0, 3).Draw(t, "then") {
				case 0: // nothing was meant
				case 1: // it leaves
					s.Commit(m)
					delete(on, name)
				case 2: // it moves
					to := nodes[0]
					if to == p.node {
						to = nodes[1]
					}
					if !refused(s.AddPod(p.info, to), x.refuses[name]) {
						s.Commit(m)
						on[name] = pod{p.info, p.info, to}
					}
				case 3: // it comes back
					if !refused(s.AddPod(p.info, p.node), p.seen != nil && x.refuses[name]) {
						s.Commit(m)
					}
				}
			},
			"lose the node": func(t *rapid.T) {
				_, n := drawn(t)
				node, kept := s.Node(n).Node, false
				for name, p := range on {
					kept = kept || p.node == n && p.seen != nil && x.keeps[name]
				}
				if refused(s.LoseNode(n), kept) {
					return
				}
				must(s.AddNode(node))
				maps.DeleteFunc(on, func(_ string, p pod) bool { return p.node == n })
			},
			"go on with a fork": func(*rapid.T) {
				s = s.Fork()
				x = pickyKey.Of(s)
			},
		})
	})
}

// TestExtensionsMadeMeanwhile: an extension that another one makes when it is told of a pod is built from what is there, and
// knows the pods also if a third then panics.
func TestExtensionsMadeMeanwhile(t *testing.T) {
	for _, what := range []string{"AddPod", "CountPod", "RemovePod"} {
		for _, inside := range []bool{false, true} {
			if what == "CountPod" && inside {
				continue
			}
			s := snapshotOf(t, framework.Arrival, "n")
			p := podInfo(t, s, api.MakePod("p").Obj())
			if what == "RemovePod" {
				if err := s.AddPod(p, "n"); err != nil {
					t.Fatal(err)
				}
			}
			counted, knowing := newCountedKey(), framework.NewExtensionKey(func(s *framework.Snapshot) follower {
				f := follower{}
				for _, p := range s.Node("n").Pods {
					f[p] = "n"
				}
				return f
			})
			framework.NewExtensionKey(func(*framework.Snapshot) maker { return func(s *framework.Snapshot) { counted.Of(s); knowing.Of(s) } }).Of(s)
			x := pickyKey.Of(s)
			x.refuses["p"], x.keeps["p"] = true, true
			if what == "RemovePod" {
				x.knows[p] = "n"
			}
			if inside {
				defer s.Commit(s.Begin())
			}
			err := map[string]func(*framework.PodInfo, string) error{"AddPod": s.AddPod, "CountPod": s.CountPod, "RemovePod": s.RemovePod}[what](p, "n")
			n := s.Node("n")
			if err == nil || len(knowing.Of(s)) != len(n.Pods) || counted.Of(s).Get(n) != len(n.Pods) {
				t.Errorf("%s, in a transaction: %t: %d pods, extensions that were made meanwhile know %d and %d (%v)", what, inside, len(n.Pods), len(knowing.Of(s)), counted.Of(s).Get(n), err)
			}
		}
	}
}

// A follower knows where pods are.
type follower map[*framework.PodInfo]string

func (f follower) Fork(*framework.Snapshot) framework.Extension { return maps.Clone(f) }

func (f follower) PodAdded(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	f[p] = n.Name()
}

func (f follower) PodRemoved(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	delete(f, p)
}

// A maker is an extension that makes others when it is told of a pod.
type maker func(*framework.Snapshot)

func (m maker) Fork(*framework.Snapshot) framework.Extension { return m }

func (m maker) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) { m(s) }

func (m maker) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) { m(s) }

// TestCountPodErrors: nothing counts after another error than a refusal.
func TestCountPodErrors(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	p := podInfo(t, s, api.MakePod("p").Obj())
	x := pickyKey.Of(s)
	for name, err := range map[string]error{
		"no pod": s.CountPod(nil, "n"), "no node": s.CountPod(p, "m"), "no snapshot": (*framework.Snapshot)(nil).CountPod(p, "n"),
		"tell of no pod": s.TellPod(nil, "n"), "tell of no node": s.TellPod(p, "m"), "tell of a pod elsewhere": s.TellPod(p, "n"),
		"tell no snapshot": (*framework.Snapshot)(nil).TellPod(p, "n"),
		"renew no pod":     s.RenewPod(nil, p, "n"), "by no pod": s.RenewPod(p, nil, "n"), "renew a pod elsewhere": s.RenewPod(p, p, "n"),
		"renew in no snapshot": (*framework.Snapshot)(nil).RenewPod(p, p, "n"),
	} {
		if !errors.As(err, new(*api.InvalidError)) {
			t.Errorf("%s: %v, want an InvalidError", name, err)
		}
	}
	x.refuses["p"] = true
	if err := s.CountPod(p, "n"); err == nil {
		t.Error("the extension does not refuse the pod")
	}
	before := s.Node("n").Generation()
	if err := s.TellPod(p, "n"); err == nil || s.Node("n").Generation() != before {
		t.Errorf("refused again: %v; answers that are kept for the node hold: %t", err, s.Node("n").Generation() == before)
	}
	x.refuses["p"] = false
	if err := s.TellPod(p, "n"); err != nil || s.Node("n").Generation() == before {
		t.Errorf("told: %v; answers that are kept for the node hold: %t", err, s.Node("n").Generation() == before)
	}
	x.refuses["p"] = true
	if err := s.RemovePod(p, "n"); err != nil {
		t.Fatal(err)
	}
	if err := s.CountPod(p, "n"); err == nil {
		t.Error("the extension does not refuse the pod")
	}
	s.RefuseDuplicates()
	if err := s.CountPod(p, "n"); !errors.As(err, new(*api.InvalidError)) || len(s.Node("n").Pods) != 1 {
		t.Errorf("a duplicate: %v, want an InvalidError", err)
	}
	m := s.Begin()
	if err := s.TellPod(p, "n"); !errors.As(err, new(*api.InvalidError)) {
		t.Errorf("in a transaction: %v, want an InvalidError", err)
	}
	s.Rollback(m)
}
