package whatif_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/framework/replica"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A mine is what the plugins of these tests share: the method that panics.
type mine struct{ in string }

func (m *mine) step(method string) {
	if m.in == method {
		panic("a mine in " + method)
	}
}

// A mined plugin implements every interface that a plugin of a profile may have, and steps on the mine in each method.
type mined struct {
	*mine
	reads framework.Reads
}

func (p mined) Name() string { p.step("Name"); return "mined" }

func (p mined) Scope(*framework.PodInfo) framework.Scope {
	p.step("Scope")
	return framework.Scope{Reads: p.reads}
}

func (p mined) AppendClassKey(b []byte, _ *framework.Snapshot, _ *framework.PodInfo) []byte {
	p.step("AppendClassKey")
	return append(b, 1)
}

func (p mined) ClassKeyVersion(*framework.Snapshot) uint64 { p.step("ClassKeyVersion"); return 1 }
func (p mined) ClassKeySource() string                     { p.step("ClassKeySource"); return "mined" }
func (p mined) ScopeVaries() framework.PodParts            { p.step("ScopeVaries"); return 0 }
func (p mined) KeyConcern() framework.PodParts             { p.step("KeyConcern"); return 0 }
func (p mined) Idle(*framework.Cycle) bool                 { p.step("Idle"); return false }

func (p mined) EventsToRegister() []queueing.EventHint { p.step("EventsToRegister"); return nil }

func (p mined) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	p.step("PreFilter")
	return framework.PreFiltered{Filter: minedBound(p)}, framework.Status{}
}

func (p mined) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	p.step("PreScore")
	return minedBound(p), framework.Status{}
}

func (p mined) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	p.step("Reserve")
	return framework.Status{}
}

func (p mined) Unreserve(*framework.Cycle, *framework.NodeInfo) { p.step("Unreserve") }

func (p mined) Reserves(*framework.Snapshot, *framework.PodInfo, *framework.NodeInfo) string {
	p.step("Reserves")
	return "x"
}

// minedBound is its filter and scorer.
type minedBound mined

func (b minedBound) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	b.step("Filter")
	return framework.Status{}
}

func (b minedBound) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	b.step("AddPod")
	return framework.Status{}
}

func (b minedBound) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	b.step("RemovePod")
	return framework.Status{}
}

func (b minedBound) Fork() framework.FilterUpdater { b.step("Fork"); return b }

func (b minedBound) Replicas(*framework.PodInfo, *framework.NodeInfo) (int64, bool) {
	b.step("Replicas")
	return 3, true
}

func (b minedBound) FilterAfter(_ *framework.PodInfo, _ *framework.NodeInfo, replicas int64) framework.Status {
	b.step("FilterAfter")
	if replicas >= 3 {
		return framework.UnschedulableStatus("three are enough")
	}
	return framework.Status{}
}

func (b minedBound) ReplicaSpread(*framework.PodInfo) (replica.Spread, bool) {
	b.step("ReplicaSpread")
	return replica.Spread{
		Rules: []replica.Rule{{Key: "zone", MaxSkew: 5, Place: func(*framework.NodeInfo) replica.Place {
			b.step("Place")
			return replica.Place{Counts: true}
		}}},
		Filter: func(*framework.NodeInfo, []replica.Count) framework.Status {
			b.step("SpreadFilter")
			return framework.Status{}
		},
	}, true
}

func (b minedBound) Score(*framework.PodInfo, *framework.NodeInfo) int64 { b.step("Score"); return 1 }

func (b minedBound) NormalizeScore(s, _, _ int64) int64 { b.step("NormalizeScore"); return s }

func (b minedBound) Version() uint64 { b.step("Version"); return 1 }

func (b minedBound) Changed(uint64, func(int)) bool { b.step("Changed"); return true }

func (b minedBound) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	b.step("ValidUntil")
	return time.Unix(1<<40, 0)
}

func (b minedBound) Details(*framework.PodInfo, *framework.NodeInfo) []framework.Detail {
	b.step("Details")
	return nil
}

var minedMethods = []string{
	"Name", "Scope", "AppendClassKey", "ClassKeyVersion", "ClassKeySource", "ScopeVaries", "KeyConcern", "Idle", "EventsToRegister",
	"PreFilter", "PreScore", "Reserve", "Unreserve", "Reserves", "Filter", "AddPod", "RemovePod", "Fork", "Replicas", "FilterAfter",
	"ReplicaSpread", "Place", "SpreadFilter", "Score", "NormalizeScore", "Version", "Changed", "ValidUntil", "Details",
}

// TestPanicsReachNobody: a method of a plugin panics in a question of a scheduler, a Filtering, a placer of groups or a
// planner. The question may fail, but returns; no transaction stays open, and the snapshot is in order.
func TestPanicsReachNobody(t *testing.T) {
	kinds := []framework.Reads{
		0, framework.ReadsNode | framework.ReadsPods, framework.ReadsNode | framework.ReadsDomain, framework.ReadsTime, framework.ReadsCluster,
	}
	for _, reads := range kinds {
		for _, method := range minedMethods {
			m := &mine{}
			for name, ask := range minedQuestions(t, mined{m, reads}) {
				m.in = method
				func() {
					defer func() {
						m.in = ""
						if v := recover(); v != nil {
							t.Errorf("reads %v: a panic in %s reaches the caller of %s: %v", reads, method, name, v)
						}
					}()
					ask()
				}()
			}
		}
	}
}

// minedQuestions returns questions about a small cluster with the plugin. After the last one, the cluster is checked.
func minedQuestions(t *testing.T, p mined) func(yield func(string, func()) bool) {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		try(s.AddNode(api.MakeNode(name, "4", "4Gi").Zone(map[bool]string{true: "east", false: "west"}[name < "d"]).Obj()))
		try(s.AddPod(must(s.NewPodInfo(api.MakePod("low-"+name).Requests("2", "1Gi").Obj())), name))
	}
	try(s.Nominate(must(s.NewPodInfo(api.MakePod("nominated").Requests("100m", "1Gi").Priority(9).Obj())), "a", ""))
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, p)
	profile.Score = append(profile.Score, scheduling.Weighted{Plugin: p, Weight: 1})
	profile.Reserve = append(profile.Reserve, p)
	sched := must(scheduling.New(profile))
	asked := 0
	pod := func(cpu string) *framework.PodInfo {
		asked++
		return must(s.NewPodInfo(api.MakePod("p").UID(api.UID(rune('a'+asked))).Requests(cpu, "1Gi").Priority(5).Obj()))
	}
	small := func() *framework.PodInfo { return pod("1") }
	large := func() *framework.PodInfo { return pod("3") } // it has to preempt
	group := func(of func() *framework.PodInfo) *gang.Group {
		return &gang.Group{Namespace: "default", Name: "g", Priority: 5, Pods: []*framework.PodInfo{of(), of()}}
	}
	for range 5 {
		must(sched.Schedule(s, small()))
	}
	f, table := must(sched.Filtering(s, small())), must(sched.ScoreTable(s, small()))
	placer, planner := must(gang.New(sched, gang.Rules{})), must(whatif.New(profile, s))
	d := must(sched.Schedule(s, small()))
	var nodes []*framework.NodeInfo
	for _, n := range s.All() {
		nodes = append(nodes, n)
	}
	inTrial := func(f func()) {
		mark := s.Begin()
		defer s.Rollback(mark)
		f()
	}
	list := []struct {
		name string
		ask  func()
	}{
		{"Scheduler.Schedule", func() { _, _ = sched.Schedule(s, small()) }},
		{"Scheduler.Place", func() { inTrial(func() { _, _ = sched.Place(s, small()) }) }},
		{"Scheduler.FilterNodes", func() { _, _ = sched.FilterNodes(s, small(), nodes) }},
		{"Scheduler.ScoreNodes", func() { _, _ = sched.ScoreNodes(s, small(), nodes) }},
		{"Scheduler.ScoreTable", func() { _, _ = sched.ScoreTable(s, small()) }},
		{"ScoreTable.Renew", func() { _ = table.Renew(s, small()) }},
		{"Scheduler.Explain", func() { sched.Explain(s, small()) }},
		{"Scheduler.ExplainAll", func() { sched.ExplainAll(s, large()) }},
		{"Scheduler.ExplainDecision", func() { sched.ExplainDecision(s, small(), d) }},
		{"Scheduler.CommonClassKey", func() { _, _, _ = sched.CommonClassKey(s, small(), small()) }},
		{"Scheduler.ClassKeysAt", func() { sched.ClassKeysAt(s) }},
		{"Scheduler.Alike", func() { sched.Alike(s, small(), d) }},
		{"Scheduler.Events", func() { sched.Events() }},
		{"Scheduler.Measure", func() { sched.Measure(s, small(), d, time.Now) }},
		{"Scheduler.Fork", func() { _, _ = sched.Fork().Schedule(s.Fork(), small()) }},
		{"Scheduler.PostFilter", func() {
			p := large()
			if d, err := sched.Schedule(s, p); err != nil {
				_, _, _, _ = sched.PostFilter(t.Context(), s, p, d)
			}
		}},
		{"Scheduler.Filtering", func() { _, _ = sched.Filtering(s, small()) }},
		{"Filtering.Node", func() { _, _ = f.Node(s.At(0)) }},
		{"Filtering.NodeOnly", func() { f.NodeOnly() }},
		{"Filtering.ChangesWithPods", func() { f.ChangesWithPods() }},
		{"Filtering.ReadingNodes", func() { f.ReadingNodes() }},
		{"Filtering.ReservesNothing", func() { f.ReservesNothing() }},
		{"Filtering.ReservesByOthers", func() { f.ReservesByOthers() }},
		{"Filtering.Rejections", func() { _, _ = f.Rejections(s.At(0)) }},
		{"Filtering.Count", func() { _, _, _, _ = f.Count(s.At(0)) }},
		{"Filtering.Replicas", func() { _, _ = f.Replicas(s.At(0), 10) }},
		{"Filtering.Without", func() { _, _ = f.Without(s.At(0).Pods, s.At(0)) }},
		{"Filtering.TryPlace", func() { inTrial(func() { _, _ = f.TryPlace(small(), s.At(0)) }) }},
		{"Filtering.Rebind", func() { _ = f.Rebind() }},
		{"Filtering.Spread", func() {
			if parts, ok, err := f.Spread(); ok && err == nil {
				_, _ = parts.Rest.Node(s.At(0))
			}
		}},
		{"Placer.Try", func() { _, _ = placer.Try(s, group(small)) }},
		{"Placer.Attempt", func() { _, _ = placer.Attempt(s, group(small)) }},
		{"Placer.Preempt", func() { _, _ = placer.Preempt(s, group(large)) }},
		{"Placer.Capacity", func() { _, _ = placer.Capacity(s, group(small), 3) }},
		{"Planner.Headroom", func() { _, _ = planner.Headroom(small(), 0) }},
		{"Planner.Place", func() { _, _ = planner.Place([]*framework.PodInfo{small(), small()}) }},
		{"Planner.Drain", func() { _, _ = planner.Drain("a") }},
		{"Planner.WhyNot", func() { _, _ = planner.WhyNot(large(), "a") }},
		{"Planner.Removable", func() { _, _ = planner.Removable() }},
		{"Planner.Consolidate", func() { _, _ = planner.Consolidate() }},
		{"Planner.NodesNeeded", func() {
			_, _ = planner.NodesNeeded([]*framework.PodInfo{large(), large()}, whatif.TypeLike("t", s.At(0)))
		}},
		{"Planner.Rebalance", func() { _, _ = planner.Rebalance(whatif.RebalanceConfig{}) }},
		{"Planner.Sweep", func() { _, _ = planner.Sweep([]*framework.PodInfo{small()}, []whatif.Weights{{}}) }},
		{"Planner.Compare", func() { _, _ = planner.Compare(scheduling.Kubernetes137(), []*framework.PodInfo{small()}) }},
		{"Planner.Decide", func() { _, _ = planner.Decide(small(), "a") }},
	}
	return func(yield func(string, func()) bool) {
		for _, q := range list {
			if !yield(q.name, q.ask) {
				return
			}
			if s.Recording() {
				t.Errorf("%s leaves a transaction open", q.name)
			}
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](x T, err error) T {
	try(err)
	return x
}

// breaker is an extension whose Undo panics, which breaks a snapshot.
type breaker struct{}

func (breaker) Fork(*framework.Snapshot) framework.Extension { return breaker{} }
func (breaker) Undo(*framework.Snapshot)                     { panic("a mine in Undo") }

// TestBrokenSnapshotsRefuse: a snapshot that is broken answers no question, also none of a Filtering or planner that was there before.
func TestBrokenSnapshotsRefuse(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b"} {
		try(s.AddNode(api.MakeNode(name, "4", "8Gi").Obj()))
	}
	pod := must(s.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Obj()))
	sched := must(scheduling.New(scheduling.Kubernetes137()))
	f, planner := must(sched.Filtering(s, pod)), must(whatif.New(scheduling.Kubernetes137(), s))
	for _, s := range []*framework.Snapshot{s, planner.Snapshot()} {
		framework.NewExtensionKey(func(*framework.Snapshot) breaker { return breaker{} }).Of(s)
		mark := s.Begin()
		s.Record(breaker{})
		s.Rollback(mark)
	}
	for name, ask := range map[string]func() error{
		"Node":         func() error { _, err := f.Node(s.At(0)); return err },
		"Rejections":   func() error { _, err := f.Rejections(s.At(0)); return err },
		"Replicas":     func() error { _, err := f.Replicas(s.At(0), 3); return err },
		"Count":        func() error { _, _, _, err := f.Count(s.At(0)); return err },
		"Without":      func() error { _, err := f.Without(nil, s.At(0)); return err },
		"Spread":       func() error { _, _, err := f.Spread(); return err },
		"Rebind":       func() error { return f.Rebind() },
		"Drain":        func() error { _, err := planner.Drain("a"); return err },
		"Removable":    func() error { _, err := planner.Removable("a"); return err },
		"Consolidate":  func() error { _, err := planner.Consolidate("a"); return err },
		"Rebalance":    func() error { _, err := planner.Rebalance(whatif.RebalanceConfig{UseRequests: true}); return err },
		"Place no pod": func() error { _, err := planner.Place(nil); return err },
		"NodesNeeded":  func() error { _, err := planner.NodesNeeded(nil, whatif.TypeLike("t", s.At(0))); return err },
	} {
		if err := ask(); !errors.Is(err, framework.ErrBroken) {
			t.Errorf("%s: %v, want ErrBroken", name, err)
		}
	}
}

// A limited plugin fails in PreFilter in clusters of more than so many nodes.
type limited struct{ most int }

func (limited) Name() string { return "limited" }

func (limited) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (l limited) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if c.Snapshot.Len() > l.most {
		return framework.PreFiltered{}, framework.AsStatus(errors.New("too many nodes"))
	}
	return framework.PreFiltered{}, framework.SkipStatus()
}

// TestNodesNeededFails: a plugin fails while replicas are counted in a cluster with more nodes.
func TestNodesNeededFails(t *testing.T) {
	for most := 2; most <= 10; most++ { // 2 and one for each replica
		s := framework.NewSnapshot(framework.Arrival)
		for _, name := range []string{"a", "b"} {
			try(s.AddNode(api.MakeNode(name, "2", "4Gi").Labels(api.LabelHostname, name).Obj()))
		}
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, limited{most})
		replicas := must(whatif.Replicas(must(s.NewPodInfo(
			api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web").Obj(),
		)), 8))
		need, err := must(whatif.New(profile, s)).NodesNeeded(replicas, whatif.TypeLike("t", s.At(0)))
		if failed := most < 10; failed != (err != nil) || failed && !strings.Contains(err.Error(), "too many nodes") {
			t.Errorf("at most %d nodes: %+v, %v", most, need, err)
		}
	}
}

// TestNodesNeededForTerminatingPods: pods that are being deleted do not count where pods spread.
func TestNodesNeededForTerminatingPods(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		s := framework.NewSnapshot(framework.Arrival)
		for name, cpu := range map[string]string{"full": "100m", "roomy": "8"} {
			try(s.AddNode(api.MakeNode(name, cpu, "64Gi").Labels(api.LabelHostname, name).Obj()))
		}
		web := api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web").Obj()
		if deleted {
			web.DeletionTimestamp = new(time.Unix(1_700_000_000, 0))
		}
		var pods []*framework.PodInfo
		for i := range 20 {
			pod := api.Clone(web)
			pod.Name = fmt.Sprint("web-", i)
			pods = append(pods, must(s.NewPodInfo(pod)))
		}
		need := must(must(whatif.New(scheduling.Kubernetes137(), s)).NodesNeeded(pods, whatif.TypeLike("t", s.Node("roomy"))))
		if want := map[bool]int{false: 19, true: 2}[deleted]; need.Counts[0].Nodes != want || len(need.Placement.Placed) != 20 && deleted {
			t.Errorf("deleted %v: %v, %d placed, want %d nodes", deleted, need.Counts, len(need.Placement.Placed), want)
		}
	}
}
