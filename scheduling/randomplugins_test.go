package scheduling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// A source is what the verdicts and scores of a random plugin depend on, besides the app of the pod.
type source int

const (
	bySomeNode source = iota // a label of the node
	byOwnPods                // pods of the app on the node
	byZone                   // pods of the app in the zone
	byTime                   // whether a time of the node has come
	byObject                 // a service for node and app
	sources
)

// reads is what a plugin must declare at least.
func (x source) reads() framework.Reads {
	return [...]framework.Reads{
		framework.ReadsNode, framework.ReadsNode | framework.ReadsPods, framework.ReadsNode | framework.ReadsPods | framework.ReadsDomain,
		framework.ReadsNode | framework.ReadsTime, framework.ReadsNode | framework.ReadsObjects,
	}[x]
}

// traits are the traits of a random plugin: what it declares, and which optional interfaces it has.
type traits struct {
	filters, scores source
	reads           framework.Reads
	skips           bool // it has nothing to do for pods of the app "b"
	tracks, exact   bool // its tracker names the nodes
	batches, ranges bool
	keyed           bool // by node
}

type anyPlugin struct{ *traits }

func (anyPlugin) Name() string { return "any" }

func (p anyPlugin) skipsPod(pod *framework.PodInfo) bool { return p.skips && appOf(pod) == "b" }

func (p anyPlugin) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if p.skipsPod(c.Pod) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: (&anyBound{p.traits, c.Snapshot, appOf(c.Pod)}).filter()}, framework.Status{}
}

func (p anyPlugin) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if p.skipsPod(c.Pod) {
		return nil, framework.SkipStatus()
	}
	return (&anyBound{p.traits, c.Snapshot, appOf(c.Pod)}).scorer(), framework.Status{}
}

func appOf(p *framework.PodInfo) string { return p.Pod.Labels["app"] }

// The forms of the plugin: with a scope, and with a key of its own, and a word about pods for which it has nothing to do.
type (
	withScope struct{ anyPlugin }
	withKey   struct{ anyPlugin }
	withIdle  struct{ withScope }
	withBoth  struct{ withKey }
)

func (p withScope) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: p.reads}
}

func (p withKey) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{Reads: p.reads} }

func (withKey) AppendClassKey(b []byte, _ *framework.Snapshot, p *framework.PodInfo) []byte {
	return append(b, appOf(p)...)
}

func (withKey) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }
func (p withIdle) Idle(c *framework.Cycle) bool            { return p.skipsPod(c.Pod) }
func (p withBoth) Idle(c *framework.Cycle) bool            { return p.skipsPod(c.Pod) }

// anyBound is the filter and scorer.
type anyBound struct {
	*traits
	s   *framework.Snapshot
	app string
}

func zoneOf(n *framework.NodeInfo) string { return n.Node.Labels[api.LabelTopologyZone] }

func (b *anyBound) own(n *framework.NodeInfo) (pods int) {
	for _, p := range n.Pods {
		if appOf(p) == b.app {
			pods++
		}
	}
	return pods
}

func (b *anyBound) inZone(n *framework.NodeInfo) (pods int) {
	for _, other := range b.s.All() {
		if zoneOf(other) == zoneOf(n) {
			pods += b.own(other)
		}
	}
	return pods
}

// comes is the time of a node, zero for most.
func comes(n *framework.NodeInfo) time.Time {
	return map[string]time.Time{"x": time.Unix(100, 0), "y": time.Unix(200, 0)}[n.Node.Labels["pool"]]
}

// amount is what the answers depend on: small numbers.
func (b *anyBound) amount(x source, n *framework.NodeInfo) int {
	switch x {
	case bySomeNode:
		return 3 * len(n.Node.Labels["pool"]) * int(b.app[0]%2)
	case byOwnPods:
		return b.own(n)
	case byZone:
		return b.inZone(n) / 2
	case byTime:
		if b.s.Now().Before(comes(n)) {
			return 2 + int(b.app[0]%2)
		}
	case byObject:
		if framework.Lookup[api.Service](b.s, "default/"+n.Name()+b.app) != nil {
			return 3
		}
	}
	return 0
}

func (b *anyBound) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if b.amount(b.filters, n) >= 3 {
		return framework.UnschedulableStatus("any")
	}
	return framework.Status{}
}

func (b *anyBound) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(10 * b.amount(b.scores, n) % 100)
}

// Its optional methods, each a part of its own.
type (
	trackedAny  struct{ b *anyBound }
	batchedAny  struct{ b *anyBound }
	expiringAny struct{ b *anyBound }
	keyedAny    struct{ b *anyBound }
	rangedAny   struct{}
)

func (x trackedAny) Version() uint64 { return x.b.s.Version() }

func (x trackedAny) Changed(since uint64, dirty func(slot int)) bool {
	slots, ok := x.b.s.Changes(since)
	if !ok || !x.b.exact {
		return since == x.b.s.Version()
	}
	zones := map[string]bool{}
	for _, slot := range slots {
		if n := x.b.s.AtSlot(slot); n != nil {
			zones[zoneOf(n)] = true
		}
	}
	for _, n := range x.b.s.All() {
		if zones[zoneOf(n)] {
			dirty(n.Slot())
		}
	}
	return true
}

func (x batchedAny) FilterNodes(p *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	for i, n := range nodes {
		if !x.b.Filter(p, n).IsSuccess() {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

func (x batchedAny) ScoreNodes(p *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	for i, n := range nodes {
		scores[i] = x.b.Score(p, n)
	}
}

func (x expiringAny) ValidUntil(_ *framework.PodInfo, n *framework.NodeInfo) time.Time {
	if t := comes(n); x.b.s.Now().Before(t) {
		return t
	}
	return time.Time{}
}

func (x keyedAny) AppendNodeKey(b []byte, p *framework.PodInfo, n *framework.NodeInfo) []byte {
	return append(b, byte(x.b.Score(p, n)))
}

func (rangedAny) NormalizeScore(raw, least, most int64) int64 {
	if least == most {
		return 0
	}
	return (raw - least) * 100 / (most - least)
}

func (b *anyBound) filter() framework.NodeFilter {
	switch timed := b.reads&framework.ReadsTime != 0; {
	case b.tracks && b.batches && timed:
		return struct {
			*anyBound
			trackedAny
			batchedAny
			expiringAny
		}{b, trackedAny{b}, batchedAny{b}, expiringAny{b}}
	case b.tracks && timed:
		return struct {
			*anyBound
			trackedAny
			expiringAny
		}{b, trackedAny{b}, expiringAny{b}}
	case b.tracks:
		return struct {
			*anyBound
			trackedAny
		}{b, trackedAny{b}}
	case timed:
		return struct {
			*anyBound
			expiringAny
		}{b, expiringAny{b}}
	case b.batches:
		return struct {
			*anyBound
			batchedAny
		}{b, batchedAny{b}}
	}
	return b
}

func (b *anyBound) scorer() framework.NodeScorer {
	switch timed := b.reads&framework.ReadsTime != 0; {
	case b.tracks && timed:
		return struct {
			*anyBound
			trackedAny
			expiringAny
			rangedAny
		}{b, trackedAny{b}, expiringAny{b}, rangedAny{}}
	case b.tracks && b.ranges:
		return struct {
			*anyBound
			trackedAny
			rangedAny
		}{b, trackedAny{b}, rangedAny{}}
	case b.tracks:
		return struct {
			*anyBound
			trackedAny
		}{b, trackedAny{b}}
	case timed:
		return struct {
			*anyBound
			expiringAny
		}{b, expiringAny{b}}
	case b.keyed:
		return struct {
			*anyBound
			keyedAny
			rangedAny
		}{b, keyedAny{b}, rangedAny{}}
	case b.batches && b.ranges:
		return struct {
			*anyBound
			batchedAny
			rangedAny
		}{b, batchedAny{b}, rangedAny{}}
	}
	return b
}

// drawPlugin returns a random plugin that declares no less than it reads, and its traits.
func drawPlugin(r *rand.Rand) (framework.Plugin, *traits) {
	half := func() bool { return r.IntN(2) == 0 }
	x := &traits{
		filters: source(r.IntN(int(sources))), scores: source(r.IntN(int(sources))),
		skips: half(), exact: half(), batches: half(), ranges: half(),
	}
	x.reads = x.filters.reads() | x.scores.reads()
	for bit := framework.Reads(1); bit <= framework.ReadsCluster; bit <<= 1 {
		if r.IntN(8) == 0 { // more than it reads
			x.reads |= bit
		}
	}
	domains := x.reads&(framework.ReadsDomain|framework.ReadsCluster) != 0
	onlyPods := x.filters <= byZone && x.scores <= byZone // its tracker knows of pods and nodes alone
	x.tracks = onlyPods && domains && half()
	x.keyed = !domains && x.scores <= byOwnPods && x.reads&(framework.ReadsTime|framework.ReadsFeasible) == 0
	p := anyPlugin{x}
	return [...]framework.Plugin{withScope{p}, withKey{p}, withIdle{withScope{p}}, withBoth{withKey{p}}, p}[r.IntN(5)], x
}

// TestRandomPlugins: plugins with random declarations, all of them true, and random optional interfaces get the decisions of
// the reference path, whatever happens in the cluster, in trials and in forks.
func TestRandomPlugins(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	hits := uint64(0)
	for seed := range uint64(effort.Of(150, 600)) {
		r := rand.New(rand.NewPCG(seed, 1))
		p, of := drawPlugin(r)
		profile := scheduling.Kubernetes137()
		profile.Seed, profile.TieRule = seed, []scheduling.TieRule{scheduling.First, scheduling.Random, scheduling.Heap}[r.IntN(3)]
		profile.Filter = slices.Insert(slices.Clone(profile.Filter), r.IntN(len(profile.Filter)+1), p)
		profile.Score = append(slices.Clone(profile.Score), scheduling.Weighted{Plugin: p, Weight: 2})
		kept := build(t, profile)
		profile.Cache.Off = true
		x := &pluginWorld{t: t, r: r, s: framework.NewSnapshot(framework.Arrival), kept: kept, plain: build(t, profile)}
		for i := range 3 + r.IntN(8) {
			put(x.s.AddNode(x.node(i)))
		}
		if r.IntN(3) == 0 {
			topo.Lower(x.s)
		}
		x.other = x.s.Fork()
		for step := range 40 {
			x.change()
			if difference := x.decide(); difference != "" {
				t.Fatalf("seed %d, step %d: %s; the plugin is a %T %+v", seed, step, difference, p, *of)
			}
			if r.IntN(4) > 0 {
				continue
			}
			mark := x.s.Begin()
			x.changePods()
			in := x.decide()
			x.s.Rollback(mark)
			if after := x.decide(); in != "" || after != "" {
				t.Fatalf("seed %d, step %d: in a trial: %s; after it: %s; the plugin is a %T %+v", seed, step, in, after, p, *of)
			}
		}
		hits += x.kept.Stats().Hits
	}
	if hits == 0 {
		t.Error("no answer was kept")
	}
}

// pluginWorld is a cluster that changes at random, with a scheduler that keeps answers and one that does not.
type pluginWorld struct {
	t           *testing.T
	r           *rand.Rand
	s, other    *framework.Snapshot
	kept, plain *scheduling.Scheduler
	pods        int
}

func (x *pluginWorld) one(of ...string) string { return of[x.r.IntN(len(of))] }

func (x *pluginWorld) node(i int) *api.Node {
	name := fmt.Sprint("n", i)
	return api.MakeNode(name, x.one("3", "4", "6"), "16Gi").Zone(x.one("x", "y", "z")).Labels(api.LabelHostname, name, "pool", x.one("", "x", "y")).Obj()
}

func (x *pluginWorld) pod() *framework.PodInfo {
	x.pods++
	app := x.one("a", "b", "c")
	b := api.MakePod(fmt.Sprint("p", x.pods)).Labels("app", app).Requests(x.one("100m", "500m", "2"), "256Mi").Priority(int32(x.r.IntN(2)))
	switch x.r.IntN(8) {
	case 0:
		b = b.PodAntiAffinity(x.one(api.LabelHostname, api.LabelTopologyZone), "app="+app)
	case 1:
		b = b.Spread(1, x.one(api.LabelHostname, api.LabelTopologyZone), api.DoNotSchedule, "app="+app)
	}
	return podInfo(x.t, x.s, b.Obj())
}

// changePods lets some pods come and go.
func (x *pluginWorld) changePods() {
	for range 1 + x.r.IntN(3) {
		n := x.s.At(x.r.IntN(x.s.Len()))
		if x.r.IntN(2) == 0 || len(n.Pods) == 0 {
			put(x.s.AddPodAt(x.pod(), n))
		} else {
			put(x.s.RemovePodAt(n.Pods[x.r.IntN(len(n.Pods))], n))
		}
	}
}

func (x *pluginWorld) change() {
	switch i := x.r.IntN(x.s.Len()); x.r.IntN(12) {
	case 0:
		x.s.SetNow(time.Unix(x.s.Now().Unix()+int64(x.r.IntN(60)), 0).UTC())
		if x.s.Now().Unix() < 0 {
			x.s.SetNow(time.Unix(50, 0))
		}
	case 1:
		put(x.s.UpdateNode(x.node(i)))
	case 2:
		put(framework.Put(x.s, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: x.s.At(i).Name() + x.one("a", "b", "c")}}))
	case 3:
		framework.Delete[api.Service](x.s, "default/"+x.s.At(i).Name()+x.one("a", "b", "c"))
	case 4:
		put(x.s.Nominate(x.pod(), x.s.At(i).Name(), ""))
	case 5:
		for _, p := range slices.Clone(x.s.At(i).Nominated) {
			x.s.ClearNomination(p, x.s.At(i).Name())
		}
	case 6:
		x.s, x.other = x.other, x.s
	case 7:
		x.other = x.s.Fork()
	case 8:
		x.kept = x.kept.Fork()
	default:
		x.changePods()
	}
}

// decide asks both about a pod and returns how they differ, "" if they do not. If the pod fits nowhere, both try to make room.
func (x *pluginWorld) decide() string {
	pod := x.pod()
	x.kept.Seek(x.plain.Position())
	got, err := x.kept.Schedule(x.s, pod)
	want, wanted := x.plain.Schedule(x.s, pod)
	if a, b := answer(got, err), answer(want, wanted); a != b {
		return fmt.Sprintf("%s, want %s", a, b)
	}
	var fit *scheduling.FitError
	if !errors.As(wanted, &fit) {
		return ""
	}
	if a, b := x.room(x.kept, pod, got), x.room(x.plain, pod, want); a != b {
		return fmt.Sprintf("room: %s, want %s", a, b)
	}
	return ""
}

func answer(d scheduling.Decision, err error) string {
	return fmt.Sprintf("%q %d of %d, %v", d.Node, d.Score, d.TiedNodes, err)
}

func (x *pluginWorld) room(s *scheduling.Scheduler, pod *framework.PodInfo, d scheduling.Decision) string {
	result, plugin, status, err := s.PostFilter(x.t.Context(), x.s, pod, d)
	text := fmt.Sprint(result.Nominated, plugin, status, err)
	for _, v := range result.Victims {
		text += " " + v.Pod.Pod.Name
	}
	return text
}
