package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"pgregory.net/rapid"
)

// The toy plugins of this file use all sorts of scopes, with small ranges so that
// ties, changes of extremes and unschedulable pods are frequent.

// room filters by the number of pods on the node: ReadsPods.
type room struct{}

func (room) Name() string { return "room" }
func (room) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsNode | framework.ReadsPods}
}

func (room) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if int64(len(n.Pods)) >= n.AllowedPods-int64(len(p.Pod.Labels["size"])) {
		return framework.UnschedulableStatus("full")
	}
	return framework.Status{}
}

// color filters by a label: ReadsNode.
type color struct{}

func (color) Name() string { return "color" }
func (color) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsNode}
}

func (color) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if want := p.Pod.Labels["color"]; want != "" && want != n.Node.Labels["color"] {
		return framework.UnresolvableStatus("another color")
	}
	return framework.Status{}
}

// emptier scores by the number of pods: ReadsPods, not normalized.
type emptier struct{}

func (emptier) Name() string { return "emptier" }
func (emptier) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (emptier) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return max(0, 20-int64(len(n.Pods)))
}

// likes scores by a label, normalized by range: ReadsNode.
type likes struct{}

func (likes) Name() string { return "likes" }
func (likes) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (likes) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(len(n.Node.Labels["liked"]))
}

func (likes) NormalizeScore(raw, _, largest int64) int64 {
	if largest == 0 {
		return 100
	}
	return 100 - raw*100/largest
}

// spreadOut normalizes over all feasible nodes with its own formula: ReadsPods.
type spreadOut struct{}

func (spreadOut) Name() string { return "spreadOut" }
func (spreadOut) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsPods}
}

func (spreadOut) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(len(n.Pods) % 3)
}

func (spreadOut) NormalizeScores(_ []*framework.NodeInfo, scores []int64) {
	sum := int64(1)
	for _, s := range scores {
		sum += s
	}
	for i := range scores {
		scores[i] = 100 * scores[i] / sum
	}
}

// crowd scores by the size of the cluster: ReadsNodeSet.
type crowd struct{}

func (crowd) Name() string { return "crowd" }
func (crowd) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsNodeSet}
}

func (crowd) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return boundCrowd(c.Snapshot.Len()), framework.Status{}
}

type boundCrowd int

func (b boundCrowd) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(len(n.Node.Labels["liked"])) * int64(b) % 5
}

// fewer scores by the set of feasible nodes: ReadsFeasible.
type fewer struct{}

func (fewer) Name() string { return "fewer" }
func (fewer) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsPods | framework.ReadsFeasible}
}

func (fewer) PreScore(_ *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if len(feasible)%7 == 0 {
		return nil, framework.SkipStatus()
	}
	return boundFewer(len(feasible)), framework.Status{}
}

type boundFewer int

func (b boundFewer) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(int(b)+len(n.Pods)) % 4
}

// whim declares nothing and reads the pod's name and the whole cluster.
type whim struct{}

func (whim) Name() string { return "whim" }
func (whim) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	pods := 0
	for _, n := range c.Snapshot.All() {
		pods += len(n.Pods)
	}
	return framework.PreFiltered{Filter: boundWhim(pods)}, framework.Status{}
}

type boundWhim int

func (b boundWhim) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if (int(b)+len(p.Pod.Name)+len(n.Name()))%5 == 0 {
		return framework.UnschedulableStatus("a whim")
	}
	return framework.Status{}
}

// caprice is a scorer without a scope.
type caprice struct{}

func (caprice) Name() string { return "caprice" }
func (caprice) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return boundCaprice(c.Seed % 3), framework.Status{}
}

type boundCaprice int

func (b boundCaprice) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64((int(b) + len(n.Pods)) % 3)
}

// tired rejects a node for a minute after each full ten minutes: ReadsTime.
type tired struct{}

func (tired) Name() string { return "tired" }
func (tired) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsTime}
}

func (tired) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: boundTired{c}}, framework.Status{}
}

type boundTired struct{ c *framework.Cycle }

func (b boundTired) phase(n *framework.NodeInfo) time.Duration {
	return time.Duration(b.c.Now().Unix()+int64(len(n.Name()))*60) % 600
}

func (b boundTired) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if b.phase(n) < 60 {
		return framework.UnschedulableStatus("tired")
	}
	return framework.Status{}
}

func (b boundTired) ValidUntil(_ *framework.PodInfo, n *framework.NodeInfo) time.Time {
	if p := b.phase(n); p < 60 {
		return b.c.Now().Add((60 - p) * time.Second)
	} else {
		return b.c.Now().Add((600 - p) * time.Second)
	}
}

// zones counts pods per zone in an extension: ReadsDomain.
type zones struct{}

func (zones) Name() string { return "zones" }
func (zones) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain}
}

func (zones) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: boundZones{zoneCounts.Of(c.Snapshot), c.Snapshot}}, framework.Status{}
}

func (zones) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return boundZones{zoneCounts.Of(c.Snapshot), c.Snapshot}, framework.Status{}
}

func (zones) NormalizeScore(raw, smallest, largest int64) int64 {
	if largest == smallest {
		return 0
	}
	return 100 * (largest - raw) / (largest - smallest)
}

type boundZones struct {
	e *zoneExtension
	s *framework.Snapshot
}

func (b boundZones) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if b.e.pods[n.Node.Labels["zone"]]%11 == 10 {
		return framework.UnschedulableStatus("zone is full")
	}
	return framework.Status{}
}

func (b boundZones) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(b.e.pods[n.Node.Labels["zone"]])
}
func (b boundZones) Version() uint64 { return uint64(len(b.e.log)) }
func (b boundZones) Changed(since uint64, dirty func(int)) bool {
	if since > uint64(len(b.e.log)) {
		return false
	}
	for _, zone := range b.e.log[since:] {
		for _, n := range b.s.All() {
			if n.Node.Labels["zone"] == zone {
				dirty(n.Slot())
			}
		}
	}
	return true
}

var zoneCounts = framework.NewExtensionKey(func(s *framework.Snapshot) *zoneExtension {
	e := &zoneExtension{pods: map[string]int{}}
	for _, n := range s.All() {
		e.pods[n.Node.Labels["zone"]] += len(n.Pods)
	}
	return e
})

type zoneExtension struct {
	pods map[string]int
	log  []string
}

func (e *zoneExtension) Fork(*framework.Snapshot) framework.Extension {
	f := &zoneExtension{pods: map[string]int{}, log: append([]string(nil), e.log...)}
	for k, v := range e.pods {
		f.pods[k] = v
	}
	return f
}

func (e *zoneExtension) count(n *framework.NodeInfo, by int) {
	e.pods[n.Node.Labels["zone"]] += by
	e.log = append(e.log, n.Node.Labels["zone"])
}

func (e *zoneExtension) PodAdded(_ *framework.Snapshot, n *framework.NodeInfo, _ *framework.PodInfo) {
	e.count(n, 1)
}

func (e *zoneExtension) PodRemoved(_ *framework.Snapshot, n *framework.NodeInfo, _ *framework.PodInfo) {
	e.count(n, -1)
}
func (e *zoneExtension) NodeAdded(*framework.Snapshot, *framework.NodeInfo)   {}
func (e *zoneExtension) NodeRemoved(*framework.Snapshot, *framework.NodeInfo) {}
func (e *zoneExtension) NodeUpdated(_ *framework.Snapshot, old, n *framework.NodeInfo) {
	e.count(old, -len(n.Pods))
	e.count(n, len(n.Pods))
}

// seasonal acts as the objects tell it, and may skip: ReadsObjects.
type seasonal struct{}

func (seasonal) Name() string { return "seasonal" }
func (seasonal) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsObjects}
}

func (seasonal) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if word := setting(c.Snapshot); word != "red" && word != "blue" {
		return filterBySetting(c)
	}
	return framework.PreFiltered{Filter: boundSeasonal(setting(c.Snapshot))}, framework.Status{}
}

type boundSeasonal string

func (b boundSeasonal) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Node.Labels["color"] != string(b) {
		return framework.UnschedulableStatus("out of season")
	}
	return framework.Status{}
}

// mood scores by feasible nodes, objects and time.
type mood struct{}

func (mood) Name() string { return "mood" }
func (mood) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsFeasible | framework.ReadsObjects | framework.ReadsTime}
}

func (mood) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return boundMood(len(setting(c.Snapshot)) + len(feasible) + int(c.Now().Unix()/300%4)), framework.Status{}
}

type boundMood int

func (b boundMood) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64((int(b) + len(n.Node.Labels["liked"])) % 4)
}

// machine drives a scheduler that takes both paths for every decision.
type machine struct {
	sched  *scheduling.Scheduler
	snap   *framework.Snapshot
	forks  []*framework.Snapshot
	pods   []*framework.PodInfo
	serial int

	nominated *framework.PodInfo // one at a time
	on        string
	seen      map[string]int
}

func (m *machine) node(t *rapid.T, name string) *api.Node {
	n := &api.Node{}
	n.Name = name
	n.Labels = map[string]string{
		"color": rapid.SampledFrom([]string{"red", "blue"}).Draw(t, "color"),
		"liked": rapid.SampledFrom([]string{"", "a", "aa", "aaa"}).Draw(t, "liked"),
		"zone":  rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "zone"),
	}
	n.Labels["topology.kubernetes.io/zone"] = n.Labels["zone"]
	n.Status.Allocatable = resource.List{resource.Pods: resource.New(rapid.Int64Range(0, 9).Draw(t, "allowed"), resource.DecimalSI)}
	return n
}

func (m *machine) someNode(t *rapid.T) *framework.NodeInfo {
	if m.snap.Len() == 0 {
		t.Skip("no nodes")
	}
	return m.snap.At(rapid.IntRange(0, m.snap.Len()-1).Draw(t, "node"))
}

func (m *machine) newPod(t *rapid.T) *framework.PodInfo {
	m.serial++
	p := &api.Pod{}
	p.Name, p.Namespace, p.UID = fmt.Sprintf("p%d", m.serial), "default", api.UID(fmt.Sprint(m.serial))
	p.Labels = map[string]string{
		"color": rapid.SampledFrom([]string{"", "", "red", "green"}).Draw(t, "color"),
		"size":  rapid.SampledFrom([]string{"", "a", "aa"}).Draw(t, "size"),
	}
	p.Spec.Priority = new(rapid.Int32Range(-1, 2).Draw(t, "priority"))
	info, err := m.snap.NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) schedule(t *rapid.T) {
	p := m.newPod(t)
	d, err := m.sched.Schedule(m.snap, p)
	var different *scheduling.DifferenceError
	if errors.As(err, &different) {
		t.Fatal(err)
	}
	var fit *scheduling.FitError
	if errors.As(err, &fit) {
		m.makeRoom(t, p, d)
	}
	if err == nil && rapid.Bool().Draw(t, "bind") {
		must(t, m.snap.AddPod(p, d.Node))
		m.pods = append(m.pods, p)
	}
}

// makeRoom asks for victims. Half the time it removes them and nominates the pod.
func (m *machine) makeRoom(t *rapid.T, p *framework.PodInfo, d scheduling.Decision) {
	found, _, _, err := m.sched.PostFilter(context.Background(), m.snap, p, d)
	var different *scheduling.DifferenceError
	if errors.As(err, &different) {
		t.Fatal(err)
	}
	if err != nil || len(found.Victims) == 0 {
		return // plugins that change their minds may find that no pod must leave
	}
	m.seen["preemptions"]++
	if !rapid.Bool().Draw(t, "evict") {
		return
	}
	for _, v := range found.Victims {
		must(t, m.snap.RemovePod(v.Pod, found.Nominated))
	}
	m.clearNomination()
	must(t, m.snap.Nominate(p, found.Nominated, ""))
	m.nominated, m.on = p, found.Nominated
}

// fill puts preemptible pods on all nodes until these are full.
func (m *machine) fill(t *rapid.T) {
	for i := range m.snap.Len() {
		for int64(len(m.snap.At(i).Pods)) < m.snap.At(i).AllowedPods {
			m.serial++
			p := api.MakePod(fmt.Sprintf("p%d", m.serial)).UID(api.UID(fmt.Sprint(m.serial))).Priority(-2).Obj()
			info, err := m.snap.NewPodInfo(p)
			must(t, err)
			must(t, m.snap.AddPodAt(info, m.snap.At(i)))
		}
	}
}

func (m *machine) clearNomination() {
	for _, s := range append(slices.Clip(m.forks), m.snap) {
		if m.nominated != nil {
			s.ClearNomination(m.nominated, m.on)
		}
	}
	m.nominated = nil
}

func (m *machine) changeSetting(t *rapid.T) {
	n := &api.Namespace{}
	n.Name = "setting"
	n.Labels = map[string]string{"is": rapid.SampledFrom([]string{"", "", "", "red", "blue", "nobody", "none", "only n1"}).Draw(t, "setting")}
	must(t, framework.Put(m.snap, n))
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"schedule":  m.schedule,
		"schedule2": m.schedule,
		"schedule3": m.schedule,
		"add node": func(t *rapid.T) {
			m.serial++
			must(t, m.snap.AddNode(m.node(t, fmt.Sprintf("n%d", m.serial))))
		},
		"update node": func(t *rapid.T) { must(t, m.snap.UpdateNode(m.node(t, m.someNode(t).Name()))) },
		"remove node": func(t *rapid.T) { must(t, m.snap.RemoveNode(m.someNode(t).Name())) },
		"remove pod": func(t *rapid.T) {
			n := m.someNode(t)
			if len(n.Pods) == 0 {
				t.Skip("no pods")
			}
			must(t, m.snap.RemovePodAt(n.Pods[rapid.IntRange(0, len(n.Pods)-1).Draw(t, "pod")], n))
		},
		"add pod": func(t *rapid.T) { must(t, m.snap.AddPodAt(m.newPod(t), m.someNode(t))) },
		"place the nominated pod": func(t *rapid.T) {
			p := m.nominated
			if p == nil {
				t.Skip("no nominated pod")
			}
			m.clearNomination()
			if m.snap.Node(m.on) != nil {
				must(t, m.snap.AddPod(p, m.on))
			}
		},
		"touch": func(t *rapid.T) { m.snap.Touch(m.someNode(t)) },
		"what if": func(t *rapid.T) {
			n := m.someNode(t)
			mark := m.snap.Begin()
			for len(m.snap.Node(n.Name()).Pods) > 0 {
				must(t, m.snap.RemovePodAt(m.snap.Node(n.Name()).Pods[0], n))
			}
			if rapid.Bool().Draw(t, "objects too") {
				m.changeSetting(t)
			}
			nominated, on := m.nominated, m.on
			m.schedule(t)
			m.snap.Rollback(mark)
			m.nominated, m.on = nominated, on
		},
		"fork": func(t *rapid.T) {
			m.forks = append(m.forks, m.snap.Fork())
			if len(m.forks) > 3 {
				m.forks = m.forks[1:]
			}
		},
		"turn to fork": func(t *rapid.T) {
			if len(m.forks) == 0 {
				t.Skip("no forks")
			}
			i := rapid.IntRange(0, len(m.forks)-1).Draw(t, "fork")
			m.snap, m.forks[i] = m.forks[i], m.snap
		},
		"objects": m.changeSetting,
		"time": func(t *rapid.T) {
			m.snap.SetNow(m.snap.Now().Add(time.Duration(rapid.IntRange(-100, 400).Draw(t, "seconds")) * time.Second))
		},
	}
}

func TestIncrementalEqualsReference(t *testing.T) {
	filters := []framework.Plugin{room{}, color{}, lab{}, seasonal{}, whim{}, tired{}, zones{}}
	scorers := []framework.Plugin{emptier{}, likes{}, spreadOut{}, crowd{}, fewer{}, mood{}, caprice{}, zones{}}
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"preemptions": 1}, func(t *rapid.T) {
		some := func(list []framework.Plugin, label string) []framework.Plugin {
			var out []framework.Plugin
			for i, keep := range rapid.SliceOfN(rapid.IntRange(0, 2), len(list), len(list)).Draw(t, label) {
				if keep > 0 {
					out = append(out, list[i])
				}
			}
			return out
		}
		p := scheduling.Profile{
			Name: "test", Seed: rapid.Uint64().Draw(t, "seed"),
			Filter:     some(filters, "filters"),
			PostFilter: []framework.Plugin{preemption.DefaultPreemption{MinCandidateNodesAbsolute: new(int32(3))}},
			TieRule:    scheduling.TieRule(rapid.IntRange(0, int(scheduling.Custom)).Draw(t, "tie")),
			Percentage: rapid.SampledFrom([]int{scheduling.AllNodes, scheduling.AllNodes, scheduling.Adaptive, 10}).Draw(t, "percentage"),
			Cache:      scheduling.CacheConfig{Verify: true, Budget: rapid.SampledFrom([]int{0, 40_000}).Draw(t, "budget")},
		}
		for _, s := range some(scorers, "scorers") {
			p.Score = append(p.Score, scheduling.Weighted{Plugin: s, Weight: rapid.Int64Range(0, 3).Draw(t, "weight")})
		}
		if p.TieRule == scheduling.Custom {
			p.TieBreak = func(c *framework.Cycle, tied []*framework.NodeInfo) int {
				return int(c.Seed+uint64(len(c.Pod.Pod.Name))+uint64(c.Snapshot.Len())) % len(tied)
			}
		}
		sched, err := scheduling.New(p)
		must(t, err)
		m := &machine{sched: sched, seen: seen, snap: framework.NewSnapshot(framework.NodeOrder(rapid.IntRange(0, 1).Draw(t, "order")))}
		m.snap.SetNow(time.Unix(1_700_000_000, 0))
		for range rapid.SampledFrom([]int{0, 3, 30, 130}).Draw(t, "nodes") {
			m.serial++
			must(t, m.snap.AddNode(m.node(t, fmt.Sprintf("n%d", m.serial))))
		}
		if rapid.Bool().Draw(t, "full") {
			m.fill(t)
		}
		t.Repeat(m.actions())
	})
}

// guard rejects pods with a label, and declares ReadsCluster for those pods only.
type guard struct{}

func (guard) Name() string { return "guard" }

func (guard) Scope(p *framework.PodInfo) framework.Scope {
	if p.Pod.Labels["guarded"] == "" {
		return framework.Scope{}
	}
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsCluster}
}

func (guard) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if c.Pod.Pod.Labels["guarded"] == "" {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: refusal{}}, framework.Status{}
}

type refusal struct{}

func (refusal) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("guarded")
}

// TestClassesKeepApartWhatIsAskedAnew: a plugin that is asked anew for some pods
// leaves no answers for other pods.
func TestClassesKeepApartWhatIsAskedAnew(t *testing.T) {
	s, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{guard{}}})
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"", "yes", "", "yes", ""} {
		pod, err := snap.NewPodInfo(api.MakePod("p").Labels("guarded", label).Obj())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Schedule(snap, pod); (err != nil) != (label != "") {
			t.Errorf("a pod guarded by %q: %v", label, err)
		}
	}
}

// charter filters by labels while there is a service; it reads objects to know
// whether to skip.
type charter struct{}

func (charter) Name() string { return "charter" }

func (charter) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsObjects}
}

func (charter) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if framework.Lookup[api.Service](c.Snapshot, "default/s") == nil {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: refusal{}}, framework.Status{}
}

// TestPluginsThatHadNothingToDoAreAskedAgain: what a skipped plugin reads is watched
// too.
func TestPluginsThatHadNothingToDoAreAskedAgain(t *testing.T) {
	s, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{charter{}}})
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	pod, err := snap.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		for range 3 {
			if _, err := s.Schedule(snap, pod); (err != nil) != (round%2 == 1) {
				t.Errorf("round %d: %v", round, err)
			}
		}
		if round%2 == 0 {
			err = framework.Put(snap, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "s"}})
		} else {
			framework.Delete[api.Service](snap, "default/s")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
