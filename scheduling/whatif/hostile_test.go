package whatif_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

func hostileCluster(t testing.TB, nodes, pods int) *framework.Snapshot {
	o := &api.Objects{}
	for i := range nodes {
		n := fmt.Sprint("n", i)
		o.Nodes = append(o.Nodes, api.MakeNode(n, "8", "16Gi").Zone(fmt.Sprint("z", i%3)).Labels(api.LabelHostname, n).Obj())
	}
	for i := range pods {
		o.Pods = append(o.Pods, api.MakePod(fmt.Sprint("r", i)).Requests("500m", "512Mi").Labels("app", fmt.Sprint(i%3)).Node(fmt.Sprint("n", i%nodes)).Owner("ReplicaSet", "rs").Obj())
	}
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dump(s *framework.Snapshot) string {
	var b strings.Builder
	for _, n := range s.All() {
		fmt.Fprintf(&b, "%s %v %v:", n.Name(), n.Requested, n.Allocatable)
		for _, p := range n.Pods {
			fmt.Fprintf(&b, " %s", p.Pod.Key())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

type question struct {
	name string
	ask  func(p *whatif.Planner) (any, error)
}

func hostilePod(t testing.TB, p *whatif.Planner, b api.PodBuilder) *framework.PodInfo {
	i, err := p.Snapshot().NewPodInfo(b.Obj())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func questions(t testing.TB) []question {
	nan := math.NaN()
	small := api.MakePod("new").Requests("100m", "64Mi").Labels("app", "0")
	spread := api.MakePod("spread").Requests("100m", "64Mi").Labels("app", "0").Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=0")
	zero := api.MakePod("zero").Labels("app", "0")
	huge := api.MakePod("huge").Requests("9000000000000000", "9000000000Gi")
	typ := func(max int, price int64) whatif.NodeType {
		return whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj(), Price: price, Max: max}
	}
	var list []question
	q := func(name string, f func(p *whatif.Planner) (any, error)) { list = append(list, question{name, f}) }
	for n, b := range map[string]api.PodBuilder{"small": small, "spread": spread, "zero": zero, "huge": huge} {
		for _, at := range []int{0, -1, math.MinInt, math.MaxInt, 1, 5} {
			q(fmt.Sprint("Headroom ", n, " ", at), func(p *whatif.Planner) (any, error) { return p.Headroom(hostilePod(t, p, b), at) })
		}
		for _, node := range []string{"n0", "", "nope", strings.Repeat("x", 1<<20)} {
			q(fmt.Sprint("WhyNot ", n, " ", len(node)), func(p *whatif.Planner) (any, error) { return p.WhyNot(hostilePod(t, p, b), node) })
			q(fmt.Sprint("Decide ", n, " ", len(node)), func(p *whatif.Planner) (any, error) { return p.Decide(hostilePod(t, p, b), node) })
		}
		q("Place "+n, func(p *whatif.Planner) (any, error) { return p.Place([]*framework.PodInfo{hostilePod(t, p, b)}) })
		for _, max := range []int{0, -1, 1, math.MaxInt, math.MinInt} {
			for _, price := range []int64{0, -1, math.MaxInt64, 1} {
				q(fmt.Sprint("NodesNeeded ", n, " ", max, " ", price), func(p *whatif.Planner) (any, error) {
					r, err := whatif.Replicas(hostilePod(t, p, b), 50)
					if err != nil {
						return nil, err
					}
					u := typ(max, price)
					u.Name = "u"
					return p.NodesNeeded(r, typ(max, price), u)
				})
			}
		}
	}
	for kind := range 20 {
		kinds := []whatif.ChangeKind{whatif.ChangeRequest, whatif.ChangeToleration, whatif.ChangeNodeLabel, whatif.ChangeNodeSelector, whatif.ChangeNodeAffinity, whatif.ChangeSpread, whatif.ChangeAffinity, whatif.ChangeAntiAffinity, whatif.ChangePodLabel, whatif.ChangeHostPort, whatif.ChangeRemove, whatif.ChangeWeight, whatif.ChangePin, "nonsense", ""}
		k := kinds[kind%len(kinds)]
		for _, c := range []whatif.Change{{Kind: k}, {Kind: k, Index: -1}, {Kind: k, Index: math.MaxInt, Name: "cpu", Amount: math.MinInt64}, {Kind: k, Name: "cpu", Amount: -5, Was: 7}, {Kind: k, Name: "default/r0", Remove: true}, {Kind: k, Name: "NodeResourcesFit", Amount: math.MaxInt64}, {Kind: k, Name: "NodeResourcesFit", Amount: -1}} {
			q(fmt.Sprintf("Decide change %+v", c), func(p *whatif.Planner) (any, error) { return p.Decide(hostilePod(t, p, spread), "n1", c) })
		}
	}
	for _, names := range [][]string{nil, {""}, {"n0", "n0"}, {"nope"}, {"n0", "n1", "n2", "n3", "n4", "n5"}} {
		q(fmt.Sprint("Drain ", names), func(p *whatif.Planner) (any, error) { return p.Drain(names...) })
		q(fmt.Sprint("Removable ", names), func(p *whatif.Planner) (any, error) { return p.Removable(names...) })
		q(fmt.Sprint("Consolidate ", names), func(p *whatif.Planner) (any, error) { return p.Consolidate(names...) })
	}
	for _, v := range []float64{nan, math.Inf(1), math.Inf(-1), -1, 0, 1e308, 50} {
		for _, w := range []int64{0, -1, math.MaxInt64, math.MinInt64} {
			q(fmt.Sprint("Rebalance ", v, " ", w), func(p *whatif.Planner) (any, error) {
				return p.Rebalance(whatif.RebalanceConfig{Low: map[resource.Name]float64{"cpu": v}, High: map[resource.Name]float64{"cpu": v}, UseRequests: true, Weights: map[resource.Name]int64{"cpu": w}, NumberOfNodes: -3, Expiration: time.Duration(math.MinInt64)})
			})
			q(fmt.Sprint("Rebalance dev ", v, " ", w), func(p *whatif.Planner) (any, error) {
				return p.Rebalance(whatif.RebalanceConfig{Low: map[resource.Name]float64{"cpu": 1}, High: map[resource.Name]float64{"cpu": v}, Deviation: true, UseRequests: true, Weights: map[resource.Name]int64{"cpu": w}})
			})
		}
	}
	q("Rebalance nothing", func(p *whatif.Planner) (any, error) { return p.Rebalance(whatif.RebalanceConfig{}) })
	for _, w := range []int64{math.MaxInt64, math.MinInt64, 0, 1} {
		q(fmt.Sprint("Sweep ", w), func(p *whatif.Planner) (any, error) {
			return p.Sweep([]*framework.PodInfo{hostilePod(t, p, small)}, []whatif.Weights{{"NodeResourcesFit": w}, {"NodeResourcesFit": w, "TaintToleration": w}, nil, {"": 1}})
		})
	}
	q("Sweep nil", func(p *whatif.Planner) (any, error) { return p.Sweep([]*framework.PodInfo{nil}, nil) })
	q("Place nil", func(p *whatif.Planner) (any, error) { return p.Place([]*framework.PodInfo{nil, {}}) })
	q("Place empty", func(p *whatif.Planner) (any, error) { return p.Place([]*framework.PodInfo{{}}) })
	q("Headroom nil", func(p *whatif.Planner) (any, error) { return p.Headroom(nil, 0) })
	q("Headroom empty", func(p *whatif.Planner) (any, error) { return p.Headroom(&framework.PodInfo{}, 0) })
	q("WhyNot nil", func(p *whatif.Planner) (any, error) { return p.WhyNot(nil, "n0") })
	q("WhyNot empty", func(p *whatif.Planner) (any, error) { return p.WhyNot(&framework.PodInfo{}, "n0") })
	q("Decide nil", func(p *whatif.Planner) (any, error) { return p.Decide(nil, "n0") })
	q("NodesNeeded nil", func(p *whatif.Planner) (any, error) {
		return p.NodesNeeded([]*framework.PodInfo{nil}, whatif.NodeType{})
	})
	q("NodesNeeded nil node", func(p *whatif.Planner) (any, error) { return p.NodesNeeded(nil, whatif.NodeType{Name: "t"}) })
	q("NodesNeeded nil pods in type", func(p *whatif.Planner) (any, error) {
		u := typ(0, 0)
		u.Pods, u.Devices = []*api.Pod{nil}, []*api.ResourceSlice{nil}
		return p.NodesNeeded([]*framework.PodInfo{hostilePod(t, p, small)}, u)
	})
	q("NodesNeeded empty node", func(p *whatif.Planner) (any, error) {
		r, _ := whatif.Replicas(hostilePod(t, p, small), 50)
		return p.NodesNeeded(r, whatif.NodeType{Name: "t", Node: &api.Node{}})
	})
	q("Compare", func(p *whatif.Planner) (any, error) {
		return p.Compare(scheduling.Profile{}, []*framework.PodInfo{nil})
	})
	q("Renew nil", func(p *whatif.Planner) (any, error) { return nil, p.Renew(nil) })
	q("Pod", func(p *whatif.Planner) (any, error) { return p.Pod("") })
	q("Replicas -1", func(p *whatif.Planner) (any, error) { return whatif.Replicas(hostilePod(t, p, small), -1) })
	q("Replicas min", func(p *whatif.Planner) (any, error) { return whatif.Replicas(hostilePod(t, p, small), math.MinInt) })
	q("Replicas nil", func(p *whatif.Planner) (any, error) { return whatif.Replicas(nil, 3) })
	return list
}

// TestHostileQuestions: hostile arguments neither panic, nor take long, nor change a snapshot.
func TestHostileQuestions(t *testing.T) {
	for _, size := range []struct{ nodes, pods int }{{0, 0}, {6, 20}} {
		s := framework.NewSnapshot(framework.Arrival)
		if size.nodes > 0 {
			s = hostileCluster(t, size.nodes, size.pods)
		}
		before, version := dump(s), s.Version()
		p, err := whatif.New(scheduling.Kubernetes137(), s)
		if err != nil {
			t.Fatal(err)
		}
		own := dump(p.Snapshot())
		for _, q := range questions(t) {
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("%d nodes: %.80s: panic: %v", size.nodes, q.name, v)
					}
				}()
				began := time.Now()
				a, err := q.ask(p)
				if took := time.Since(began); took > time.Second {
					t.Errorf("%d nodes: %.80s takes %v", size.nodes, q.name, took)
				}
				if err != nil && len(err.Error()) > 10000 {
					t.Errorf("%.80s: error of %d bytes", q.name, len(err.Error()))
				}
				if err == nil {
					if _, err := json.Marshal(a); err != nil {
						t.Errorf("%d nodes: %.80s: JSON: %v", size.nodes, q.name, err)
					}
					if strings.HasPrefix(q.name, "Rebalance") || strings.HasPrefix(q.name, "Sweep") || strings.Contains(q.name, "nil") || strings.Contains(q.name, "-1") || strings.Contains(q.name, "92233") {
						j, _ := json.Marshal(a)
						t.Logf("accepted: %d nodes %.60s: %.200s", size.nodes, q.name, j)
					}
				}
			}()
			if now := dump(p.Snapshot()); now != own {
				t.Errorf("%.80s changes the planner's snapshot", q.name)
				own = now
			}
			if dump(s) != before || s.Version() != version {
				t.Fatalf("%.80s changes the caller's snapshot", q.name)
			}
		}
	}
}

// bomb is a plugin that panics at one call.
type bomb struct {
	point string
	left  *int
}

func (bomb) Name() string { return "bomb" }
func (b bomb) hit(point string) {
	if b.point == point {
		if *b.left--; *b.left == 0 {
			panic("oh")
		}
	}
}

func (b bomb) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	b.hit("PreFilter")
	return framework.PreFiltered{}, framework.Status{}
}

func (b bomb) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	b.hit("Filter")
	return framework.Status{}
}
func (b bomb) Score(*framework.PodInfo, *framework.NodeInfo) int64 { b.hit("Score"); return 1 }
func (b bomb) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	b.hit("Reserve")
	return framework.Status{}
}
func (b bomb) Unreserve(*framework.Cycle, *framework.NodeInfo) { b.hit("Unreserve") }

// TestPluginPanicsInQuestion: a plugin panics once in the middle of a question; afterwards the planner
// is as it was, and answers as one that saw no panic.
func TestPluginPanicsInQuestion(t *testing.T) {
	for _, point := range []string{"PreFilter", "Filter", "Score", "Reserve"} {
		for _, when := range []int{1, 2, 5, 13, 40} {
			s := hostileCluster(t, 6, 60)
			left := 0
			profile := scheduling.Kubernetes137()
			b := bomb{point, &left}
			profile.Filter = append(profile.Filter, b)
			profile.Score = append(profile.Score, scheduling.Weighted{Plugin: b, Weight: 1})
			profile.Reserve = append(profile.Reserve, b)
			p, err := whatif.New(profile, s)
			if err != nil {
				t.Fatal(err)
			}
			before := dump(p.Snapshot())
			failures := 0
			for _, q := range []question{
				{"Headroom", func(p *whatif.Planner) (any, error) {
					return p.Headroom(hostilePod(t, p, api.MakePod("h").Requests("100m", "64Mi").Labels("app", "0").Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=0").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=0")), 0)
				}},
				{"Drain", func(p *whatif.Planner) (any, error) { return p.Drain("n0", "n1") }},
				{"Removable", func(p *whatif.Planner) (any, error) { return p.Removable() }},
				{"Consolidate", func(p *whatif.Planner) (any, error) { return p.Consolidate() }},
				{"Rebalance", func(p *whatif.Planner) (any, error) {
					return p.Rebalance(whatif.RebalanceConfig{Low: map[resource.Name]float64{"cpu": 61}, High: map[resource.Name]float64{"cpu": 62}, UseRequests: true})
				}},
				{"Place", func(p *whatif.Planner) (any, error) {
					r, _ := whatif.Replicas(hostilePod(t, p, api.MakePod("h").Requests("100m", "64Mi")), 10)
					return p.Place(r)
				}},
				{"NodesNeeded", func(p *whatif.Planner) (any, error) {
					r, _ := whatif.Replicas(hostilePod(t, p, api.MakePod("h").Requests("2", "64Mi")), 30)
					return p.NodesNeeded(r, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj()})
				}},
				{"WhyNot", func(p *whatif.Planner) (any, error) {
					return p.WhyNot(hostilePod(t, p, api.MakePod("h").Requests("7", "64Mi")), "n2")
				}},
				{"WhyNot running", func(p *whatif.Planner) (any, error) {
					i, err := p.Pod("default/r1")
					if err != nil {
						return nil, err
					}
					return p.WhyNot(i, "n2")
				}},
				{"Decide", func(p *whatif.Planner) (any, error) {
					i, err := p.Pod("default/r1")
					if err != nil {
						return nil, err
					}
					return p.Decide(i, "n2", whatif.Change{Kind: whatif.ChangePin})
				}},
				{"Sweep", func(p *whatif.Planner) (any, error) {
					r, _ := whatif.Replicas(hostilePod(t, p, api.MakePod("h").Requests("100m", "64Mi")), 4)
					return p.Sweep(r, []whatif.Weights{{"bomb": 3}})
				}},
				{"Compare", func(p *whatif.Planner) (any, error) {
					r, _ := whatif.Replicas(hostilePod(t, p, api.MakePod("h").Requests("100m", "64Mi")), 4)
					return p.Compare(scheduling.Kubernetes137(), r)
				}},
			} {
				left = 0
				fresh, _ := whatif.New(profile, s)
				wantA, wantErr := q.ask(fresh)
				want, _ := json.Marshal(wantA)
				func() {
					defer func() {
						if v := recover(); v != nil {
							t.Errorf("%s %d: %s: panic: %v", point, when, q.name, v)
						}
					}()
					left = when
					if _, err := q.ask(p); err != nil {
						failures++
					}
					left = 0
				}()
				if now := dump(p.Snapshot()); now != before {
					t.Errorf("%s %d: %s changes the planner's snapshot", point, when, q.name)
					before = now
				}
				gotA, gotErr := q.ask(p)
				got, _ := json.Marshal(gotA)
				if string(got) != string(want) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
					t.Errorf("%s %d: %s after a panic: %.300s %v, want %.300s %v", point, when, q.name, got, gotErr, want, wantErr)
				}
			}
			t.Log(point, when, failures)
		}
	}
}

// scoped is a plugin whose method Scope panics.
type scoped struct{ bomb }

func (scoped) Scope(*framework.PodInfo) framework.Scope { panic("oh") }

// TestDrainWithoutScopes: a plugin whose method Scope panics counts as one that declares
// nothing, for a drain as for a decision.
func TestDrainWithoutScopes(t *testing.T) {
	s, left := hostileCluster(t, 6, 60), 0
	drain := func(plugin framework.Plugin) *whatif.Drain {
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, plugin)
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Drain("n0")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	b := bomb{"", &left}
	if diff := cmp.Diff(drain(b), drain(scoped{b})); diff != "" {
		t.Errorf("drain (-without Scope +Scope panics):\n%s", diff)
	}
}
