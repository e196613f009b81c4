//go:build full

package framework_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A picky extension panics over the pods that come of those that it refuses, and knows the others on nodes.
type picky struct {
	refuses map[*framework.PodInfo]bool
	knows   map[*framework.PodInfo]string
	odd     string // what it was told that cannot be
}

func (x *picky) Fork(*framework.Snapshot) framework.Extension {
	return &picky{maps.Clone(x.refuses), maps.Clone(x.knows), x.odd}
}

func (x *picky) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	if x.refuses[p] && !s.RollingBack() {
		panic("not this one")
	}
	if x.knows[p] != "" {
		x.odd = p.Pod.Name + " comes twice"
	}
	x.knows[p] = n.Name()
}

func (x *picky) PodRemoved(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	if x.knows[p] != n.Name() {
		x.odd = p.Pod.Name + " leaves, and never came"
	}
	delete(x.knows, p)
}

func newPickyKey() *framework.ExtensionKey[*picky] {
	return framework.NewExtensionKey(func(*framework.Snapshot) *picky {
		return &picky{map[*framework.PodInfo]bool{}, map[*framework.PodInfo]string{}, ""}
	})
}

// TestCountPod: a pod that the cluster has counts although an extension panics over it, for all others. The extension hears
// of it when told again, and before that neither of its leaving nor of what a transaction does with it.
func TestCountPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, middle, last := newCountedKey(), newPickyKey(), newCountedKey()
		s := framework.NewSnapshot(framework.Arrival)
		nodes := []string{"n0", "n1"}
		for _, n := range nodes {
			if err := s.AddNode(api.MakeNode(n, "1000", "1Ti").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		var pods []*framework.PodInfo
		for i := range 5 {
			p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj())
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, p)
		}
		first.Of(s)
		x := middle.Of(s)
		last.Of(s)
		on, untold := map[*framework.PodInfo]string{}, map[*framework.PodInfo]bool{}
		draw := func(t *rapid.T) (*framework.PodInfo, string) {
			return pods[rapid.IntRange(0, len(pods)-1).Draw(t, "pod")], rapid.SampledFrom(nodes).Draw(t, "node")
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		// refused checks the error of a call that the extension refuses, or does not.
		refused := func(err error, want bool) {
			t.Helper()
			if (err != nil) != want || want && !strings.Contains(err.Error(), "extension *framework_test.picky: PodAdded: panic: not this one") {
				t.Fatalf("%v, want a refusal: %t", err, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				for _, n := range nodes {
					node, want := s.Node(n), 0
					for _, at := range on {
						if at == n {
							want++
						}
					}
					if len(node.Pods) != want || node.Requested.At(0) != int64(1000*want) || first.Of(s).Get(node) != want || last.Of(s).Get(node) != want {
						t.Fatalf("node %s: %d pods, %v requested, counted %d and %d, want %d", n, len(node.Pods), node.Requested, first.Of(s).Get(node), last.Of(s).Get(node), want)
					}
				}
				for _, p := range pods {
					want := on[p]
					if untold[p] {
						want = ""
					}
					if x.odd != "" || x.knows[p] != want {
						t.Fatalf("%s: the extension knows it on %q, want %q; %s", p.Pod.Name, x.knows[p], want, x.odd)
					}
				}
				must(s.Broken())
				must(s.Check())
			},
			"refuse": func(t *rapid.T) {
				p, _ := draw(t)
				x.refuses[p] = !x.refuses[p]
			},
			"count": func(t *rapid.T) {
				p, n := draw(t)
				if on[p] != "" {
					t.Skip()
				}
				refused(s.CountPod(p, n), x.refuses[p])
				on[p], untold[p] = n, x.refuses[p]
			},
			"add": func(t *rapid.T) {
				p, n := draw(t)
				if on[p] != "" {
					t.Skip()
				}
				if refused(s.AddPod(p, n), x.refuses[p]); !x.refuses[p] {
					on[p], untold[p] = n, false
				}
			},
			"tell": func(t *rapid.T) {
				p, n := draw(t)
				switch err := s.TellPod(p, n); {
				case on[p] != n:
					if !errors.As(err, new(*api.InvalidError)) {
						t.Fatal(err)
					}
				case untold[p]:
					refused(err, x.refuses[p])
					untold[p] = x.refuses[p]
				default:
					must(err)
				}
			},
			"remove": func(t *rapid.T) {
				p, _ := draw(t)
				if on[p] == "" {
					t.Skip()
				}
				must(s.RemovePod(p, on[p]))
				delete(on, p)
				delete(untold, p)
			},
			"transaction": func(t *rapid.T) {
				p, n := draw(t)
				if on[p] == "" {
					t.Skip()
				}
				m := s.Begin()
				if err := s.CountPod(p, n); !errors.As(err, new(*api.InvalidError)) {
					t.Fatal(err)
				}
				must(s.RemovePod(p, on[p]))
				back := on[p]
				switch rapid.IntRange(0, 3).Draw(t, "then") {
				case 0:
					s.Rollback(m)
					return
				case 1: // it leaves
					s.Commit(m)
					delete(on, p)
					delete(untold, p)
					return
				case 2: // it moves
					back = nodes[0]
					if back == on[p] {
						back = nodes[1]
					}
				}
				still := untold[p] && back == on[p]
				err := s.AddPod(p, back)
				if refused(err, x.refuses[p] && !still); err != nil {
					s.Rollback(m)
					return
				}
				s.Commit(m)
				on[p], untold[p] = back, still
			},
			"lose the node": func(t *rapid.T) {
				_, n := draw(t)
				node := s.Node(n).Node
				must(errors.Join(s.LoseNode(n), s.AddNode(node)))
				for p, at := range on {
					if at == n {
						delete(on, p)
						delete(untold, p)
					}
				}
			},
			"go on with a fork": func(*rapid.T) {
				s = s.Fork()
				x = middle.Of(s)
			},
		})
	})
}

// TestCountPodErrors: nothing counts after another error than a refusal.
func TestCountPodErrors(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	p, err := s.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	x := newPickyKey().Of(s)
	for name, err := range map[string]error{
		"no pod": s.CountPod(nil, "n"), "no node": s.CountPod(p, "m"), "no snapshot": (*framework.Snapshot)(nil).CountPod(p, "n"),
		"tell of no pod": s.TellPod(nil, "n"), "tell of no node": s.TellPod(p, "m"), "tell of a pod elsewhere": s.TellPod(p, "n"),
		"tell no snapshot": (*framework.Snapshot)(nil).TellPod(p, "n"),
	} {
		if !errors.As(err, new(*api.InvalidError)) {
			t.Errorf("%s: %v, want an InvalidError", name, err)
		}
	}
	x.refuses[p] = true
	if err := s.CountPod(p, "n"); err == nil {
		t.Error("the extension does not refuse the pod")
	}
	before := s.Node("n").Generation()
	x.refuses[p] = false
	if err := s.TellPod(p, "n"); err != nil || s.Node("n").Generation() == before {
		t.Errorf("told: %v; answers that are kept for the node hold: %t", err, s.Node("n").Generation() == before)
	}
	x.refuses[p] = true
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
