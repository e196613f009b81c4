package frameworktest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/framework/queueing"
)

// A broken plugin breaks the contract at one point. It is made for each test,
// because some count.
type broken struct {
	name  string
	check string // that has to fail
	what  string // how its report begins
	make  func() framework.Plugin
}

// Every check fails where it should, and for the right reason.
func TestBrokenPlugins(t *testing.T) {
	t.Parallel()
	missing := frameworktest.Checks()
	for _, b := range slices.Concat(brokenAnswers, brokenCycles, brokenScopes, brokenForks, brokenHints, idle) {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == b.check })
		t.Run(b.check+"/"+b.name, func(t *testing.T) {
			f := checkOnly(t, b.check, b.make(), frameworktest.Config{State: reservations})
			if f == nil {
				t.Fatalf("check %s did not fail", b.check)
			}
			if !strings.HasPrefix(f.What, b.what) {
				t.Errorf("it reports %q, want it to begin with %q", f.What, b.what)
			}
			if f.Got == f.Want || f.Want == "" {
				t.Errorf("got %q, want %q: not two values", f.Got, f.Want)
			}
		})
	}
	if len(missing) > 0 {
		t.Errorf("no broken plugin for the checks %v", missing)
	}
}

func pods(n *framework.NodeInfo) int64 { return int64(len(n.Pods)) }

// yes is a filter that lets everything pass.
func yes(*framework.PodInfo, *framework.NodeInfo) framework.Status { return framework.Status{} }

var brokenAnswers = []broken{
	{"empty", "name", "Name()", func() framework.Plugin { return nameFunc(func() string { return "" }) }},
	{"changing", "name", "Name(), asked again", func() framework.Plugin {
		calls := 0
		return nameFunc(func() string { calls++; return fmt.Sprint("Plugin", calls/3) })
	}},
	{"a counter", "determinism", "raw score, asked again", func() framework.Plugin {
		calls := int64(0)
		return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { calls++; return calls % 97 })
	}},
	{"a filter that counts", "determinism", "verdict, asked again", func() framework.Plugin {
		calls := 0
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
			if calls++; calls%5 == 0 {
				return framework.UnschedulableStatus("every fifth")
			}
			return framework.Status{}
		})
	}},
	{"reasons of an address", "determinism", "verdict, asked again", func() framework.Plugin {
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
			return framework.UnschedulableStatus(framework.Text(fmt.Sprintf("%p", new(int))))
		})
	}},
	{"the place of a node", "determinism", "raw score, with the nodes in another order", func() framework.Plugin {
		return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return int64(n.Slot()) })
	}},
	{"keeps the feasible nodes", "determinism", "a call", func() framework.Plugin {
		return bindScore(func(_ *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return pods(feasible[0]) })
		})
	}},
	{"panics", "determinism", "a call", func() framework.Plugin {
		return filterFunc(func(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
			if p.Pod.Spec.Affinity.NodeAffinity != nil {
				return framework.UnschedulableStatus("none")
			}
			return framework.Status{}
		})
	}},
	{"above 100", "bounds", "score, which nothing normalizes,", func() framework.Plugin {
		return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return 100 + pods(n) })
	}},
	{"below 0 after normalization", "bounds", "normalized score", func() framework.Plugin {
		return ranged{scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) }), func(raw, _, largest int64) int64 { return raw - largest }}
	}},
	{"two ways to normalize", "bounds", "score by NormalizeScores, beside NormalizeScore", func() framework.Plugin {
		score := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) })
		return listed{ranged{score, func(raw, _, largest int64) int64 { return raw * 100 / max(1, largest) }}, func(_ []*framework.NodeInfo, scores []int64) { clear(scores) }}
	}},
	{"labels the pod", "mutation", "pod object, afterwards", func() framework.Plugin {
		return filterFunc(func(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
			if p.Pod.Labels != nil {
				p.Pod.Labels["seen"] = "yes"
			}
			return framework.Status{}
		})
	}},
	{"cordons the node", "mutation", "node object, afterwards", func() framework.Plugin {
		return filterFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
			n.Node.Spec.Unschedulable = true
			return framework.Status{}
		})
	}},
	{"sorts the pods", "mutation", "pods, afterwards", func() framework.Plugin {
		return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
			slices.SortFunc(n.Pods, func(a, b *framework.PodInfo) int { return strings.Compare(b.Pod.Name, a.Pod.Name) })
			return 0
		})
	}},
	{"adds to the totals", "mutation", "requested, afterwards", func() framework.Plugin {
		return scoreFunc(func(p *framework.PodInfo, n *framework.NodeInfo) int64 {
			n.Requested = n.Requested.Add(p.Requests)
			return 0
		})
	}},
	{"assumes", "mutation", "pods, afterwards", func() framework.Plugin {
		return preFilterFunc(func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
			if c.Snapshot.Len() > 0 {
				_ = c.Snapshot.AddPodAt(c.Pod, c.Snapshot.At(0))
			}
			return framework.PreFiltered{}, framework.Status{}
		})
	}},
	{"sorts the feasible nodes", "mutation", "place 0 of the nodes given to PreScore, afterwards", func() framework.Plugin {
		return bindScore(func(_ *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
			slices.SortStableFunc(feasible, func(a, b *framework.NodeInfo) int { return strings.Compare(b.Name(), a.Name()) })
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 })
		})
	}},
	{"sorts the scored nodes", "mutation", "place 0 of the nodes given to NormalizeScores, afterwards", func() framework.Plugin {
		return listed{scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }), func(nodes []*framework.NodeInfo, _ []int64) { slices.Reverse(nodes) }}
	}},
	{"skips in Filter", "codes", "code of Filter", func() framework.Plugin {
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status { return framework.SkipStatus() })
	}},
	{"waits in PreFilter", "codes", "code of PreFilter", func() framework.Plugin {
		return preFilterFunc(func(*framework.Cycle) (framework.PreFiltered, framework.Status) {
			return framework.PreFiltered{}, framework.NewStatus(framework.Wait, nil)
		})
	}},
	{"invents a code in PreScore", "codes", "code of PreScore", func() framework.Plugin {
		return preScoreFunc(func(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
			return nil, framework.NewStatus(framework.Code(9), nil)
		})
	}},
	{"cannot be compared", "reasons", "comparing the reasons with themselves", func() framework.Plugin {
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
			return framework.NewStatus(framework.Unschedulable, sliceReason{"a", "b"})
		})
	}},
	{"in memory of the cycle", "reasons", "status, read after the cycle", func() framework.Plugin {
		return bind(func(c *framework.Cycle) framework.NodeFilter {
			why := framework.Scratch[podReason](c)
			why.pod = c.Pod
			return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
				return framework.NewStatus(framework.Unschedulable, why)
			})
		})
	}},
	{"explains what it accepts", "details", "Details of an accepted node", func() framework.Plugin {
		return detailed{filterFunc(yes), func() []framework.Detail { return []framework.Detail{{Subject: "cpu"}} }}
	}},
	{"explains nothing", "details", "Details of a rejected node", func() framework.Plugin {
		return detailed{filterFunc(no), func() []framework.Detail { return []framework.Detail{{Subject: "cpu", Asked: 1, Limit: 2}} }}
	}},
	{"explains otherwise", "details", "Details, asked again", func() framework.Plugin {
		n := int64(0)
		return detailed{filterFunc(no), func() []framework.Detail {
			n++
			return []framework.Detail{{Subject: "cpu", Asked: n}}
		}}
	}},
	{"unsorted", "restrict", "NodeNames of PreFilter", func() framework.Plugin { return restriction(nil, "node-02", "node-01") }},
	{"twice", "restrict", "NodeNames of PreFilter", func() framework.Plugin { return restriction(nil, "node-01", "node-01") }},
	{"not honoured", "restrict", "Filter of a node that PreFilter leaves out", func() framework.Plugin { return restriction(filterFunc(yes), "node-01", "node-02") }},
	{"rejects the last alone", "batch", "nodes rejected by FilterNodes", func() framework.Plugin { return lastOnly{} }},
	{"one off", "batch", "score by ScoreNodes", func() framework.Plugin {
		return batch(func(_ *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
			for i := range len(nodes) - 1 {
				scores[i] = pods(nodes[i])
			}
		})
	}},
	{"only what is not 0", "batch", "score by ScoreNodes", func() framework.Plugin {
		return batch(func(_ *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
			for i, n := range nodes {
				if x := pods(n); x != 0 {
					scores[i] = x
				}
			}
		})
	}},
	{"one key for all", "nodekey", "raw score of a node with the key of ", func() framework.Plugin {
		return nodeKeys(func(b []byte, _ *framework.NodeInfo) []byte { return b })
	}},
	{"a node key for each call", "nodekey", "AppendNodeKey, asked again", func() framework.Plugin {
		calls := byte(0)
		return nodeKeys(func(b []byte, _ *framework.NodeInfo) []byte { calls++; return append(b, calls) })
	}},
	{"a node key that forgets the others", "nodekey", "AppendNodeKey, asked again", func() framework.Plugin {
		return nodeKeys(func(_ []byte, n *framework.NodeInfo) []byte { return []byte(n.Name()) })
	}},
	{"a node key that takes a pod away", "mutation", "pods, afterwards", func() framework.Plugin {
		return nodeKeys(func(b []byte, n *framework.NodeInfo) []byte {
			if len(n.Pods) > 0 {
				n.Pods = n.Pods[1:]
			}
			return append(b, n.Name()...)
		})
	}},
}

// lastOnly rejects nodes without pods, but of many only the last.
type lastOnly struct{}

func (lastOnly) Name() string { return "lastOnly" }
func (lastOnly) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if len(n.Pods) == 0 {
		return framework.UnschedulableStatus("no pods")
	}
	return framework.Status{}
}

func (l lastOnly) FilterNodes(p *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	last := len(nodes) - 1
	if last >= 0 && !l.Filter(p, nodes[last]).IsSuccess() {
		rejected = append(rejected, last)
	}
	return rejected
}

type sliceReason []string

func (s sliceReason) Reasons(uint64) []string { return s }

type podReason struct{ pod *framework.PodInfo }

func (p *podReason) Reasons(uint64) []string { return []string{"not for " + p.pod.Pod.Name} }

func restriction(f framework.NodeFilter, names ...string) framework.Plugin {
	return preFilterFunc(func(*framework.Cycle) (framework.PreFiltered, framework.Status) {
		return framework.PreFiltered{Filter: f, NodeNames: names}, framework.Status{}
	})
}

func batch(all func(*framework.PodInfo, []*framework.NodeInfo, []int64)) framework.Plugin {
	one := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) })
	return bindScore(func(*framework.Cycle, []*framework.NodeInfo) framework.NodeScorer { return batching{one, all} })
}

// nodeKeys scores by the number of pods.
func nodeKeys(key func(b []byte, n *framework.NodeInfo) []byte) framework.Plugin {
	one := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) })
	return bindScore(func(*framework.Cycle, []*framework.NodeInfo) framework.NodeScorer { return alike{one, key} })
}

var brokenCycles = []broken{
	{"a filter with one place for the node", "concurrency", "verdict, asked by several goroutines", func() framework.Plugin {
		return bind(func(*framework.Cycle) framework.NodeFilter {
			var at atomic.Pointer[framework.NodeInfo] // atomic only to keep the race detector quiet
			return filterFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
				at.Store(n)
				time.Sleep(10 * time.Microsecond)
				return framework.UnschedulableStatus(framework.Text(at.Load().Name()))
			})
		})
	}},
	{"a scorer with one place for the sum", "concurrency", "raw score, asked by several goroutines", func() framework.Plugin {
		return bindScore(func(*framework.Cycle, []*framework.NodeInfo) framework.NodeScorer {
			var sum atomic.Int64
			return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
				sum.Store(0)
				for range n.Pods {
					time.Sleep(10 * time.Microsecond)
					sum.Add(1)
				}
				runtime.Gosched()
				return sum.Load()
			})
		})
	}},
	{"what the last pod left", "scratch", "raw score, after other pods", func() framework.Plugin {
		return bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
			sum := framework.Scratch[int64](c)
			*sum += int64(len(c.Pod.Pod.Name))
			x := *sum % 100
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return x })
		})
	}},
}

// hinter is a filter whose hint about nodes answers with a function.
type hinter func(p *framework.PodInfo) bool

func (hinter) Name() string { return "Hinter" }
func (hinter) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("none")
}

func (hinter) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsNode}
}

func (h hinter) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{{
		Event: queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: queueing.ActionAdd},
		Hint: func(p *framework.PodInfo, _, after any) (queueing.QueueingHint, error) {
			if h(p) || after.(*api.Node).Name == "" {
				return queueing.Queue, nil
			}
			return queueing.QueueSkip, nil
		},
	}}
}

// indifferent says that no event matters.
type indifferent struct{ hinter }

func (h indifferent) EventsToRegister() []queueing.EventHint {
	list := h.hinter.EventsToRegister()
	list[0].Matters = func(_, _ any) bool { return false }
	return list
}

// narrowed is about nodes by name, and its pods look at the one that they name in a label.
type narrowed struct{ hinter }

func (h narrowed) EventsToRegister() []queueing.EventHint {
	list := h.hinter.EventsToRegister()
	list[0].Subjects = func(p *framework.PodInfo) []queueing.Subject {
		return []queueing.Subject{{Key: "node", Value: p.Pod.Labels["node"]}}
	}
	list[0].About = func(_, after any) []queueing.Subject {
		return []queueing.Subject{{Key: "node", Value: after.(*api.Node).Name}}
	}
	return list
}

// TestHintsOfLabels lets a plugin pass whose hint reads what all pods of a class share.
func TestHintsOfLabels(t *testing.T) {
	t.Parallel()
	p := hinter(func(p *framework.PodInfo) bool { return p.Pod.Labels["app"] == "web" })
	if f := checkOnly(t, "hints", p, frameworktest.Config{}); f != nil {
		t.Error(f)
	}
}

var brokenHints = []broken{
	{"a hint that reads the name", "hints", "hint for an added *api.Node, for a pod that differs in name", func() framework.Plugin {
		return hinter(func(p *framework.PodInfo) bool { return strings.HasSuffix(p.Pod.Name, "1") })
	}},
	{"a hint that reads the UID", "hints", "hint for an added *api.Node, for a pod that differs in UID", func() framework.Plugin {
		return hinter(func(p *framework.PodInfo) bool { return strings.HasSuffix(string(p.Pod.UID), "2") })
	}},
	{"a hint that reads the whole spec", "hints", "hint for an added *api.Node, for a pod that differs in container ports", func() framework.Plugin {
		return hinter(func(p *framework.PodInfo) bool {
			return slices.ContainsFunc(p.Pod.Spec.Containers, func(c api.Container) bool { return len(c.Ports) > 0 && c.Ports[len(c.Ports)-1].HostPort == 0 })
		})
	}},
	{"a hint about what does not matter", "hints", "hint for an added *api.Node, which does not matter,", func() framework.Plugin {
		return indifferent{hinter(func(*framework.PodInfo) bool { return true })}
	}},
	{"a hint about more than the subjects", "hints", "subjects for an added *api.Node, which helps,", func() framework.Plugin {
		return narrowed{hinter(func(*framework.PodInfo) bool { return true })}
	}},
	{"a hint that counts", "hints", "hint for an added *api.Node, asked again", func() framework.Plugin {
		calls := 0
		return hinter(func(*framework.PodInfo) bool { calls++; return calls%2 == 0 })
	}},
}

var brokenScopes = []broken{
	{"a key for each call", "classkey", "AppendClassKey, asked again", func() framework.Plugin {
		calls := byte(0)
		return &keyed{key: func(b []byte, _ *framework.Snapshot) []byte { calls++; return append(b, calls) }}
	}},
	{"a key that forgets the others", "classkey", "AppendClassKey, behind other parts", func() framework.Plugin {
		return &keyed{key: func([]byte, *framework.Snapshot) []byte { return []byte("mine") }}
	}},
	{"a key by the number of nodes, kept", "classkey", "AppendClassKey, with ", func() framework.Plugin {
		return &keyed{key: countNodes, version: (*framework.Snapshot).NodeSet}
	}},
	{"a key without a version", "classkey", "ClassKeyVersion, with ", func() framework.Plugin {
		return &keyed{key: countNodes, reads: framework.ReadsDomain}
	}},
	{"equal keys of pods that differ", "scope", "verdict, for a pod that differs in ", func() framework.Plugin {
		return &keyed{key: func(b []byte, _ *framework.Snapshot) []byte { return b }, verdict: func(p *framework.PodInfo) framework.Status {
			if len(p.Pod.Labels) > 0 {
				return framework.UnschedulableStatus("labels")
			}
			return framework.Status{}
		}}
	}},
	{"idle while it filters", "idle", "verdict, where Idle is true", func() framework.Plugin { return busy{} }},
	{"unconcerned with a scope", "concern", "Scope, for a pod", func() framework.Plugin { return aloof{scope: framework.Scope{Reads: framework.ReadsNode}} }},
	{"unconcerned with a key", "concern", "AppendClassKey, for a pod", func() framework.Plugin { return aloof{key: "x"} }},
	{"a key of pods that do not concern it", "classkey", "AppendClassKey, for a pod that does not concern the key", func() framework.Plugin { return partial{} }},
	{"concerned by resources without a class", "concern", "AppendClassKey, for a pod", func() framework.Plugin { return eager{} }},
	{"unconcerned, and refuses", "concern", "Reserve, for a pod", func() framework.Plugin {
		return aloof{reserve: func(*framework.Cycle, *framework.NodeInfo) framework.Status {
			return framework.UnschedulableStatus("no")
		}}
	}},
	{"unconcerned, and sets a value", "concern", "values that Reserve sets, for a pod", func() framework.Plugin {
		return aloof{reserve: func(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
			aloofKey.Set(c, 1)
			return framework.Status{}
		}}
	}},
	{"scopes vary by names", "varying scope", "Scope, for a pod with the parts", func() framework.Plugin { return moody{} }},
	{"a gate for others, too", "gate", "PreEnqueue, for a pod", func() framework.Plugin { return strict{} }},
	{"unconcerned, and filters", "concern", "PreFilter, for a pod", func() framework.Plugin { return filtering{} }},
	{"unconcerned, and scores", "concern", "PreScore, for a pod", func() framework.Plugin { return rating{} }},
	{"unconcerned, and sets a value", "concern", "values that are set, for a pod", func() framework.Plugin { return setting{} }},
	{"unconcerned, and speaks", "concern", "Reserves, for a pod", func() framework.Plugin { return aloof{words: "a seat"} }},
	{"shared by all that is bound", "kept", "the kept filter, after a rollback", func() framework.Plugin {
		objects := new(uint64) // what the last PreFilter saw
		return declare(preFilterFunc(func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
			*objects = c.Snapshot.Objects()
			bound := c.Snapshot.Objects()
			return framework.PreFiltered{Filter: filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
				if *objects != bound {
					return framework.UnschedulableStatus("other objects")
				}
				return framework.Status{}
			})}, framework.Status{}
		}), framework.FieldsAll, framework.ReadsNode|framework.ReadsObjects)
	}},
	{"another part of the pod", "scope", "verdict, for a pod that differs in tolerations, which Scope leaves out,", func() framework.Plugin {
		return declare(filterFunc(func(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
			if len(n.Node.Spec.Taints) > 0 && len(p.Pod.Spec.Tolerations) == 0 {
				return framework.UnschedulableStatus("tainted")
			}
			return framework.Status{}
		}), framework.FieldsAll&^(framework.FieldTolerations|framework.FieldSpec), framework.ReadsNode)
	}},
	{"a scope by another part of the pod", "scope", "Reads of Scope, for a pod that differs in ", func() framework.Plugin {
		return scopedBy{filterFunc(yes), func(p *framework.PodInfo) framework.Scope {
			if p.Pod.Labels["new"] != "" {
				return framework.Scope{Reads: framework.ReadsNode}
			}
			return framework.Scope{}
		}}
	}},
	{"skips by another part of the pod", "scope", "PreFilter, for a pod that differs in ", func() framework.Plugin {
		return declare(preFilterFunc(func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
			if len(c.Pod.HostPorts) == 0 {
				return framework.PreFiltered{}, framework.SkipStatus()
			}
			return framework.PreFiltered{}, framework.UnschedulableStatus("no ports")
		}), framework.FieldRequests, 0)
	}},
	{"the node", "scope", "raw score, with another object for node-", func() framework.Plugin {
		return declare(scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return n.AllowedPods % 100 }), 0, framework.ReadsPods)
	}},
	{"the pods", "scope", "raw score, with a pod that came to node-", func() framework.Plugin {
		return declare(scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) }), 0, framework.ReadsNode)
	}},
	{"nominated pods", "scope", "raw score, with a pod nominated to node-", func() framework.Plugin {
		return declare(scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return int64(len(n.Nominated)) }), 0, framework.ReadsNode)
	}},
	{"pods of other nodes", "scope", "raw score, with ", func() framework.Plugin {
		return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
			all := int64(0)
			for _, n := range c.Snapshot.All() {
				all += pods(n)
			}
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return all % 100 })
		}), 0, framework.ReadsNode|framework.ReadsPods|framework.ReadsNodeSet|framework.ReadsFeasible)
	}},
	{"the set of nodes", "scope", "verdict, with ", func() framework.Plugin {
		return declare(bind(func(c *framework.Cycle) framework.NodeFilter {
			odd := c.Snapshot.Len()%2 == 1
			return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
				if odd {
					return framework.UnschedulableStatus("an odd number of nodes")
				}
				return framework.Status{}
			})
		}), 0, framework.ReadsNode|framework.ReadsPods)
	}},
	{"the feasible nodes", "scope", "raw score, without node-", func() framework.Plugin {
		return declare(bindScore(func(_ *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
			first := feasible[0].Name()
			return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
				return int64(strings.Compare(n.Name(), first) + 1)
			})
		}), 0, framework.ReadsNodeSet)
	}},
	{"time", "scope", "raw score, with another time, which Scope does not say it reads,", func() framework.Plugin {
		return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
			x := c.Now().Unix() % 100
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return x })
		}), 0, framework.ReadsNode)
	}},
	{"objects", "scope", "raw score, with other objects besides pods and nodes, which Scope does not say it reads,", func() framework.Plugin {
		return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
			x := int64(len(framework.List[api.Service](c.Snapshot)))
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return x })
		}), 0, framework.ReadsNode)
	}},
	{"the seed", "scope", "raw score, with another number and seed", func() framework.Plugin {
		return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
			x := int64(c.Seed % 101)
			return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return x })
		}), framework.FieldsAll, ^framework.ReadsCluster)
	}},
	{"a scope that changes", "scope", "Scope, asked again", func() framework.Plugin { return &fickle{} }},
	{"no expirer", "expiry", "what is bound with a Scope that has ReadsTime", func() framework.Plugin {
		return declare(scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }), 0, framework.ReadsTime)
	}},
	{"valid too long", "expiry", "raw score, at ", func() framework.Plugin { return aging(func(t time.Time) time.Time { return t.Add(time.Second) }) }},
	{"valid for good", "expiry", "raw score, at ", func() framework.Plugin { return aging(func(time.Time) time.Time { return time.Time{} }) }},
	{"no tracker", "domain", "what is bound with a Scope that has ReadsDomain", func() framework.Plugin {
		return declare(scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }), 0, framework.ReadsDomain)
	}},
	{"one version for all", "domain", "raw score, with ", func() framework.Plugin {
		return totals(func(int64) uint64 { return 1 }, func(uint64, func(int)) bool { return false })
	}},
	{"calls too few", "domain", "raw score, with ", func() framework.Plugin {
		return totals(func(sum int64) uint64 { return uint64(sum) }, func(_ uint64, dirty func(int)) bool { dirty(0); return true })
	}},
	{"calls too few in forks", "domain", "raw score, with ", func() framework.Plugin {
		return sums(func([]byte, func(int)) bool { return true })
	}},
}

// fickle declares another scope each time.
type fickle struct{ calls framework.PodFields }

func (*fickle) Name() string                                        { return "Fickle" }
func (*fickle) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }
func (f *fickle) Scope(*framework.PodInfo) framework.Scope {
	f.calls++
	return framework.Scope{Pod: f.calls % framework.FieldsAll}
}

// aging is a plugin whose answer for a node changes three hours after it was
// made. claim turns that time into what it says.
func aging(claim func(time.Time) time.Time) framework.Plugin {
	return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
		now := c.Now()
		change := func(n *framework.NodeInfo) time.Time { return n.Node.CreationTimestamp.Add(3 * time.Hour) }
		return expiring{
			func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
				if now.Before(change(n)) {
					return 1
				}
				return 2
			},
			func(n *framework.NodeInfo) time.Time {
				if !now.Before(change(n)) {
					return time.Time{}
				}
				return claim(change(n))
			},
		}
	}), 0, framework.ReadsNode|framework.ReadsTime)
}

// totals is a plugin that scores by the number of pods in the cluster, with a
// tracker.
func totals(version func(sum int64) uint64, changed func(uint64, func(int)) bool) framework.Plugin {
	return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
		sum := int64(0)
		for _, n := range c.Snapshot.All() {
			sum += pods(n)
		}
		score := scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return sum % 100 })
		return tracking{score, version(sum), changed}
	}), 0, framework.ReadsDomain)
}

// sums is a plugin that scores by the number of pods in the cluster, and tells forks apart.
func sums(from func(state []byte, dirty func(int)) bool) framework.Plugin {
	return declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
		sum := int64(0)
		for _, n := range c.Snapshot.All() {
			sum += pods(n)
		}
		score := scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return sum % 100 })
		return forkTracking{tracking{score, uint64(sum), func(uint64, func(int)) bool { return false }}, from}
	}), 0, framework.ReadsDomain)
}

// forkTracking is a tracker whose state is its version.
type forkTracking struct {
	tracking
	from func(state []byte, dirty func(int)) bool
}

func (x forkTracking) AppendState(b []byte) []byte  { return fmt.Append(b, x.version) }
func (x forkTracking) AppendOrigin(b []byte) []byte { return b }
func (x forkTracking) ChangedFrom(state []byte, dirty func(slot int)) bool {
	return x.from(state, dirty)
}

var brokenForks = []broken{
	{"sums that nobody updates", "updater", "verdict, with ", func() framework.Plugin {
		return bind(func(c *framework.Cycle) framework.NodeFilter {
			return onlyFilter{newCensus(c.Snapshot)}
		})
	}},
	{"shares sums with its fork", "updater", "verdict, after RemovePod of a Fork", func() framework.Plugin {
		return bind(func(c *framework.Cycle) framework.NodeFilter { return sharing{newCensus(c.Snapshot)} })
	}},
	{"forgets AddPod", "updater", "verdict, with ", func() framework.Plugin {
		return bind(func(c *framework.Cycle) framework.NodeFilter { return deaf{newCensus(c.Snapshot)} })
	}},
	{"fails", "updater", "RemovePod of ", func() framework.Plugin {
		return bind(func(c *framework.Cycle) framework.NodeFilter { return failing{newCensus(c.Snapshot)} })
	}},
	{"never gives back", "reserve", "state, after Reserve and Unreserve", func() framework.Plugin { return &clumsy{keep: true} }},
	{"gives back twice", "reserve", "state, after a second Unreserve", func() framework.Plugin { return &clumsy{careless: true} }},
	{"does not record", "reserve", "state, after Reserve in a transaction that was rolled back", func() framework.Plugin { return &clumsy{silent: true} }},
	{"waits", "reserve", "code of Reserve", func() framework.Plugin { return &clumsy{wait: true} }},
	{"leaves a mark in an object", "reserve", "other objects, after Reserve and Unreserve", func() framework.Plugin { return marker{forgetful: true} }},
	{"does not renew the node", "reserve", "verdict, after Reserve, which has not renewed the node", func() framework.Plugin { return &untouching{reserve: true} }},
	{"does not renew the node when it gives back", "reserve", "verdict, after Unreserve, which has not renewed the node", func() framework.Plugin { return &untouching{unreserve: true} }},
	{"renews one node of many", "reserve", "raw score, after Reserve, which has not renewed the node", func() framework.Plugin { return declare(quota{}, 0, framework.ReadsPods) }},
	{"says something else once the pod is there", "reserve", "Reserves, after Reserve", func() framework.Plugin { return unsteady{} }},
	{"one ledger for all forks", "reserve", "verdict, after Reserve in a fork", func() framework.Plugin { return &global{on: map[string]bool{}} }},
}

// census is a bound filter that closes all nodes while there is an odd number
// of pods.
type census struct{ pods int }

func newCensus(s *framework.Snapshot) *census {
	c := &census{}
	for _, n := range s.All() {
		c.pods += len(n.Pods)
	}
	return c
}

func (c *census) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if c.pods%2 == 1 {
		return framework.UnschedulableStatus("an odd number of pods")
	}
	return framework.Status{}
}

func (c *census) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	c.pods++
	return framework.Status{}
}

func (c *census) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	c.pods--
	return framework.Status{}
}

func (c *census) Fork() framework.FilterUpdater { return &census{c.pods} }

type onlyFilter struct{ framework.NodeFilter }

type sharing struct{ *census }

func (s sharing) Fork() framework.FilterUpdater { return s }

type deaf struct{ *census }

func (d deaf) Fork() framework.FilterUpdater { return deaf{&census{d.pods}} }

func (d deaf) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

type failing struct{ *census }

func (f failing) Fork() framework.FilterUpdater { return f }

func (failing) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("not now")
}

// clumsy reserves like reserver, with a fault.
type clumsy struct{ keep, careless, silent, wait bool }

func (*clumsy) Name() string { return "Clumsy" }

func (c *clumsy) Reserve(cycle *framework.Cycle, n *framework.NodeInfo) framework.Status {
	h := heldKey.Of(cycle.Snapshot)
	if c.silent {
		h.change(n.Name(), 1)
	} else {
		h.add(cycle.Snapshot, n, 1)
	}
	reservedOn.Set(cycle, n.Name())
	if c.wait {
		return framework.NewStatus(framework.Wait, nil)
	}
	return framework.Status{}
}

func (c *clumsy) Unreserve(cycle *framework.Cycle, n *framework.NodeInfo) {
	if _, ok := reservedOn.Get(cycle); !ok || c.keep {
		return
	}
	heldKey.Of(cycle.Snapshot).add(cycle.Snapshot, n, -1)
	if !c.careless {
		reservedOn.Delete(cycle)
	}
}

// global keeps what it reserves in the plugin, not in the snapshot.
type global struct{ on map[string]bool }

func (*global) Name() string { return "Global" }

func (g *global) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if g.on[n.Name()] {
		return framework.UnschedulableStatus("reserved")
	}
	return framework.Status{}
}

func (g *global) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	g.on[n.Name()] = true
	reservedOn.Set(c, n.Name())
	return framework.Status{}
}

func (g *global) Unreserve(c *framework.Cycle, n *framework.NodeInfo) {
	if name, ok := reservedOn.Get(c); ok {
		delete(g.on, name)
	}
}

// unsteady reserves like reserver, and says how many have reserved, which changes.
type unsteady struct{ reserver }

func (unsteady) Reserves(s *framework.Snapshot, _ *framework.PodInfo, n *framework.NodeInfo) string {
	return fmt.Sprint("seat ", heldKey.Of(s).pods[n.Name()])
}

// untouching reserves like reserver, but one of its methods does not renew the
// node.
type untouching struct {
	reserver
	reserve, unreserve bool
}

func (u *untouching) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	if !u.reserve {
		return u.reserver.Reserve(c, n)
	}
	h := heldKey.Of(c.Snapshot)
	c.Snapshot.Record(unhold{h, n.Name(), 1})
	h.change(n.Name(), 1)
	reservedOn.Set(c, n.Name())
	return framework.Status{}
}

func (u *untouching) Unreserve(c *framework.Cycle, n *framework.NodeInfo) {
	if _, ok := reservedOn.Get(c); !ok || !u.unreserve {
		u.reserver.Unreserve(c, n)
		return
	}
	h := heldKey.Of(c.Snapshot)
	c.Snapshot.Record(unhold{h, n.Name(), -1})
	h.change(n.Name(), -1)
	reservedOn.Delete(c)
}

// quota scores all nodes by the number of all reservations.
type quota struct{ reserver }

func (quota) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	sum := int64(0)
	for _, pods := range heldKey.Of(c.Snapshot).pods {
		sum += int64(pods)
	}
	return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return min(100, sum) }), framework.Status{}
}

// idle are plugins that do nothing, or always the same.
var idle = []broken{
	{"never rejects", "exercise", "nodes that it rejected", func() framework.Plugin { return filterFunc(yes) }},
	{"never passes", "exercise", "nodes that it let pass", func() framework.Plugin {
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
			return framework.UnschedulableStatus("closed")
		})
	}},
	{"fails always", "exercise", "nodes that it rejected", func() framework.Plugin {
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
			return framework.AsStatus(errors.New("no answer"))
		})
	}},
	{"skips always", "exercise", "pods for which PreScore bound a scorer", func() framework.Plugin {
		return preScoreFunc(func(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
			return nil, framework.SkipStatus()
		})
	}},
	{"scores all alike", "exercise", "pods for which two feasible nodes had different scores", func() framework.Plugin {
		return scoreFunc(func(p *framework.PodInfo, _ *framework.NodeInfo) int64 { return int64(len(p.HostPorts)) })
	}},
	{"normalizes to one score", "exercise", "pods for which two feasible nodes had different scores", func() framework.Plugin {
		score := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) })
		return ranged{score, func(_, _, _ int64) int64 { return 100 }}
	}},
	{"valid for good, always", "exercise", "answers with an end by ValidUntil", func() framework.Plugin {
		return declare(bindScore(func(*framework.Cycle, []*framework.NodeInfo) framework.NodeScorer {
			return expiring{
				func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) },
				func(*framework.NodeInfo) time.Time { return time.Time{} },
			}
		}), 0, framework.ReadsPods|framework.ReadsTime)
	}},
	{"reserves nothing", "exercise", "calls of Reserve that changed something", func() framework.Plugin { return reservesNothing{} }},
}

type reservesNothing struct{}

func (reservesNothing) Name() string { return "ReservesNothing" }
func (reservesNothing) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}
func (reservesNothing) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// keyed has its own part of the class key.
type keyed struct {
	key     func(b []byte, s *framework.Snapshot) []byte
	version func(*framework.Snapshot) uint64 // nil: 0
	verdict func(*framework.PodInfo) framework.Status
	reads   framework.Reads
}

func (*keyed) Name() string { return "Keyed" }

func (k *keyed) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{Reads: k.reads} }

func (k *keyed) AppendClassKey(b []byte, s *framework.Snapshot, _ *framework.PodInfo) []byte {
	return k.key(b, s)
}

func (k *keyed) ClassKeyVersion(s *framework.Snapshot) uint64 {
	if k.version == nil {
		return 0
	}
	return k.version(s)
}

func (k *keyed) Filter(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	if k.verdict == nil {
		return framework.Status{}
	}
	return k.verdict(p)
}

func countNodes(b []byte, s *framework.Snapshot) []byte { return fmt.Append(b, s.Len()) }

// aloof says that only pods with claims concern it, but one of its methods thinks otherwise.
type aloof struct {
	scope   framework.Scope
	key     string
	reserve func(*framework.Cycle, *framework.NodeInfo) framework.Status
	words   string
}

var aloofKey = framework.NewKey[int]("aloof")

func (aloof) Name() string { return "Aloof" }

func (aloof) Concern() framework.PodParts { return framework.PartClaims }

func (a aloof) Scope(*framework.PodInfo) framework.Scope { return a.scope }

func (a aloof) AppendClassKey(b []byte, _ *framework.Snapshot, _ *framework.PodInfo) []byte {
	return append(b, a.key...)
}

func (aloof) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

func (a aloof) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	if a.reserve == nil {
		return framework.Status{}
	}
	return a.reserve(c, n)
}

func (aloof) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

func (a aloof) Reserves(*framework.Snapshot, *framework.PodInfo, *framework.NodeInfo) string {
	return a.words
}

// filtering, rating and setting are called for pods that do not concern them, and do something.
type (
	filtering struct{ aloof }
	rating    struct{ aloof }
	setting   struct{ aloof }
)

func (filtering) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{NodeNames: []string{}}, framework.Status{}
}

func (rating) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return nil, framework.Status{}
}

func (setting) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	aloofKey.Set(c, 1)
	return framework.PreFiltered{}, framework.SkipStatus()
}

// eager says that pods with extended resources concern it, and has a key for them, whether or
// not a device class stands behind one.
type eager struct{ aloof }

func (eager) Concern() framework.PodParts { return framework.PartExtended }

func (eager) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	if pod.HasExtended() {
		b = append(b, 'x')
	}
	return b
}

// partial says that its key concerns pods with claims only, and has one for all.
type partial struct{}

func (partial) Name() string { return "Partial" }

func (partial) KeyConcern() framework.PodParts { return framework.PartClaims }

func (partial) AppendClassKey(b []byte, _ *framework.Snapshot, _ *framework.PodInfo) []byte {
	return append(b, 'x')
}

func (partial) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

func (partial) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// strict says that it keeps out pods with gates only, and keeps out all.
type strict struct{}

func (strict) Name() string { return "Strict" }

func (strict) Gates() framework.PodParts { return framework.PartGates }

func (strict) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	return framework.UnschedulableStatus("no")
}

// moody has a scope by the names of pods, and says that it has one for all.
type moody struct{}

func (moody) Name() string { return "Moody" }

func (moody) Scope(p *framework.PodInfo) framework.Scope {
	if p.Pod.Name[len(p.Pod.Name)-1]%2 == 0 {
		return framework.Scope{Reads: framework.ReadsNode}
	}
	return framework.Scope{}
}

func (moody) ScopeVaries() framework.PodParts { return 0 }

func (moody) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// busy says that it is idle, and filters.
type busy struct{}

func (busy) Name() string { return "Busy" }

func (busy) Idle(*framework.Cycle) bool { return true }

func (busy) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
		return framework.UnschedulableStatus("busy")
	})}, framework.Status{}
}
