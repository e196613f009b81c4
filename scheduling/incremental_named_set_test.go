package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
)

// namer names the nodes of the pod's namespace, and counts how often it is asked. It has no
// scope.
type namer struct {
	nodes map[string][]string
	asked *int
}

func (namer) Name() string { return "Namer" }

func (x namer) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	*x.asked++
	return framework.PreFiltered{NodeNames: x.nodes[c.Pod.Pod.Namespace]}, framework.Status{}
}

func (namer) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// keptNamer is a namer with a scope: its answers would be kept.
type keptNamer struct{ namer }

func (keptNamer) Name() string { return "KeptNamer" }

func (keptNamer) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldNamespace, Reads: framework.ReadsNode}
}

// noter is a filter that answers only as long as the cycle has what its PreFilter noted.
type noter struct{}

var notedKey = framework.NewKey[string]("noted")

func (noter) Name() string { return "Noter" }

func (noter) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	notedKey.Set(c, c.Pod.Pod.Name)
	return framework.PreFiltered{Filter: boundNoter{c}}, framework.Status{}
}

type boundNoter struct{ cycle *framework.Cycle }

func (b boundNoter) Filter(pod *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if name, _ := notedKey.Get(b.cycle); name != pod.Pod.Name {
		return framework.UnschedulableStatus(framework.Text("nothing was noted on " + n.Name()))
	}
	return framework.Status{}
}

// TestNamedSets: pods of a few classes, for which PreFilters name many nodes. All decisions are
// those of the reference path, and are made from what is kept.
func TestNamedSets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for seed := range uint64(effort.Of(6, 24)) {
		r := rand.New(rand.NewPCG(seed, 14))
		s := framework.NewSnapshot([]framework.NodeOrder{framework.Arrival, framework.ZoneInterleaved}[seed%2])
		nodes := 300
		for i := range nodes {
			cpu := fmt.Sprint(1 + r.IntN(3))
			if i%60 < 3 {
				cpu = "500m" // too small for all
			}
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), cpu, "16Gi").Zone(fmt.Sprint("z", i%3)).Obj()); err != nil {
				t.Fatal(err)
			}
		}
		asked := 0
		first, second := namer{map[string][]string{}, &asked}, namer{map[string][]string{}, &asked}
		for i := range 3 {
			for k := range nodes + 20 { // the last do not exist
				name := fmt.Sprint("n", k)
				if k%3 != i {
					first.nodes[fmt.Sprint("ns-", i)] = append(first.nodes[fmt.Sprint("ns-", i)], name)
				}
				if i > 0 && k%10 != i && k < 300 { // as many for ns-1 and ns-2, nothing for ns-0
					second.nodes[fmt.Sprint("ns-", i)] = append(second.nodes[fmt.Sprint("ns-", i)], name)
				}
			}
			slices.Sort(first.nodes[fmt.Sprint("ns-", i)])
			slices.Sort(second.nodes[fmt.Sprint("ns-", i)])
		}
		p := scheduling.Kubernetes137()
		p.Cache.Verify, p.Seed = true, seed
		p.TieRule = scheduling.TieRule(seed % uint64(scheduling.Custom+1))
		if p.TieRule == scheduling.Custom {
			p.TieBreak = func(_ *framework.Cycle, tied []*framework.NodeInfo) int { return len(tied) - 1 }
		}
		p.Percentage = []int{scheduling.AllNodes, 20, scheduling.Adaptive}[seed%3]
		switch seed % 4 {
		case 0:
			p.Filter = append(p.Filter, first)
		case 1:
			p.Filter = append(p.Filter, keptNamer{first})
		default:
			p.Filter = append(p.Filter, keptNamer{first}, second)
		}
		if seed%3 == 1 {
			p.Filter = append(p.Filter, noter{})
		}
		if seed%5 == 0 {
			p.Extenders = []scheduling.Extender{{
				Name: "x", Weight: 1, Interested: func(p *framework.PodInfo) bool { return p.Pod.Namespace == "ns-2" },
				Prioritize: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (list []scheduling.HostScore, _ error) {
					for _, n := range nodes {
						list = append(list, scheduling.HostScore{Host: n.Name(), Score: 3})
					}
					return list, nil
				},
			}}
		}
		sched := build(t, p)
		waiting := podInfo(t, s, api.MakePod("waiting").Requests("3", "1Gi").Priority(9).Obj())
		if err := s.Nominate(waiting, s.At(7).Name(), ""); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for i := range 240 {
			name := fmt.Sprint("p", i)
			b := api.MakePod(name).UID(api.UID(name)).Namespace(fmt.Sprint("ns-", i%3)).Requests("1", "1Gi").Labels("app", fmt.Sprint("a", i%2))
			switch i % 7 {
			case 0:
				b = b.Requests("8", "1Gi") // fits nowhere
			case 1:
				b = b.Spread(1, api.LabelTopologyZone, api.ScheduleAnyway, "app=a0")
			case 2:
				b = b.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=a0")
			}
			if _, err := sched.Place(s, podInfo(t, s, b.Obj())); err != nil {
				var fit *scheduling.FitError
				if !errors.As(err, &fit) || strings.Contains(err.Error(), "noted") {
					t.Fatalf("seed %d, pod %d: %v", seed, i, err)
				}
				failed++
			}
			if i == 120 {
				if err := s.RemoveNode("n31"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if hits := sched.Stats().Hits; hits < 150 && seed%5 > 0 || hits == 0 {
			t.Errorf("seed %d: %d hits of 240", seed, hits)
		}
		if failed < 30 || asked == 0 {
			t.Errorf("seed %d: %d pods fit nowhere, PreFilter is asked %d times", seed, failed, asked)
		}
	}
}

// TestNamedSetHoldsEverywhere: a pod for which a PreFilter names many nodes goes to none but
// these, also among the nodes of a set, and if a fork of the scheduler decides.
func TestNamedSetHoldsEverywhere(t *testing.T) {
	s, asked, names := smallCluster(t), 0, []string(nil)
	var others []*framework.NodeInfo
	for i := range 24 {
		name, cpu := fmt.Sprintf("n%02d", i), "64" // emptier, and so preferred
		if i < 12 {
			names, cpu = append(names, name), "4"
		}
		if err := s.AddNode(api.MakeNode(name, cpu, "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		if i >= 12 {
			others = append(others, s.Node(name))
		}
	}
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter, keptNamer{namer{map[string][]string{"default": names}, &asked}})
	sched := build(t, p)
	outside, err := scheduling.NewNodeSet(s, others)
	if err != nil {
		t.Fatal(err)
	}
	pod := func(i int) *framework.PodInfo {
		return podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint("p", i))).Requests("1", "1Gi").Obj())
	}
	for i := range 4 {
		for who, decides := range []*scheduling.Scheduler{sched, sched.Fork()} {
			if d, err := decides.Schedule(s, pod(i)); err != nil || !slices.Contains(names, d.Node) {
				t.Errorf("pod %d, scheduler %d: node %q, %v, want a named one", i, who, d.Node, err)
			}
			var fit *scheduling.FitError
			if d, err := decides.ScheduleWithin(s, pod(i), outside); !errors.As(err, &fit) {
				t.Errorf("pod %d, scheduler %d, among other nodes: node %q, %v, want that none fits", i, who, d.Node, err)
			}
		}
	}
	if stats := sched.Stats(); stats.Hits < 2 {
		t.Errorf("%+v, want 2 hits or more", stats)
	}
}
