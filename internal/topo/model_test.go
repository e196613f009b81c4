package topo

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// TestTables changes a cluster at random, forks it and rolls changes back. It
// compares the answers of every fork's tables, and their reported changes, with a
// look at all pods.
func TestTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{T: t, forks: []*fork{newFork(framework.NewSnapshot(framework.Arrival))}, states: map[string][]state{}}
		if rapid.Bool().Draw(t, "hardly anything is kept") {
			Lower(m.forks[0].snap)
		}
		if rapid.Bool().Draw(t, "terms are summed up") {
			Of(m.forks[0].snap).limits.termsFew = 0
		}
		Of(m.forks[0].snap).limits.pairs = rapid.SampledFrom([]int{0, 2, 10, usual.pairs}).Draw(t, "counters listed at most")
		all := wanted()
		for range 5 {
			m.pods = append(m.pods, rapid.SampledFrom(all).Draw(t, "pod"))
		}
		for range rapid.IntRange(2, 4).Draw(t, "nodes") {
			m.addNode(m.forks[0].snap)
		}
		for range rapid.IntRange(10, 40).Draw(t, "steps") {
			at := rapid.IntRange(0, len(m.forks)-1).Draw(t, "fork")
			m.step(m.forks[at])
			for _, f := range m.forks {
				m.check(f)
			}
		}
	})
}

// model is a cluster and its forks.
type model struct {
	*rapid.T
	forks  []*fork
	pods   []*api.Pod // to be placed
	serial int
	states map[string][]state // of answers, in any fork
}

// state is a state of answers about the nodes.
type state struct {
	text []byte
	by   map[int]string
}

// fork is one fork, with its earlier answers.
type fork struct {
	snap    *framework.Snapshot
	answers map[string]*answers
	parent  map[string]*answers // those of the snapshot that it was forked from, then
}

func newFork(s *framework.Snapshot) *fork { return &fork{snap: s, answers: map[string]*answers{}} }

func draw[T any](m *model, what string, list ...T) T { return rapid.SampledFrom(list).Draw(m.T, what) }

func (m *model) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *model) step(f *fork) {
	s := f.snap
	switch draw(m, "step", "pod", "pod", "pod", "pod goes", "pod goes", "node", "node changes", "node goes", "namespace", "service", "fork", "fork goes", "what if", "sweep", "evict", "weigh", "another pod") {
	case "pod":
		m.addPod(s)
	case "pod goes":
		m.removePod(s)
	case "node":
		if s.Len() < 6 {
			m.addNode(s)
		}
	case "node changes":
		m.updateNode(s)
	case "node goes":
		m.removeNode(s)
	case "namespace":
		m.namespace(s)
	case "service":
		m.service(s)
	case "fork":
		if len(m.forks) < 3 {
			child := newFork(s.Fork())
			child.parent = maps.Clone(f.answers)
			m.forks = append(m.forks, child)
		}
	case "fork goes":
		if at := slices.Index(m.forks, f); len(m.forks) > 1 {
			m.forks = slices.Delete(m.forks, at, at+1)
		}
	case "weigh":
		t := Of(s)
		t.tick += 2 * usual.weighEvery
		t.weigh()
		t.tick += 2 * usual.recent
	case "another pod":
		m.pods[rapid.IntRange(0, len(m.pods)-1).Draw(m.T, "place")] = m.anyPod()
	case "what if":
		mark := s.Begin()
		for range draw(m, "changes", 1, 2, 3) {
			m.change(s)
		}
		m.check(f)
		s.Rollback(mark)
	case "sweep":
		Of(s).sweep(0, Of(s).tick+1)
	case "evict":
		t := Of(s)
		t.tick += 2 * usual.recent
		t.evict(t.bindings())
		t.sweep(0, t.tick+1)
	}
}

// change is a step that can be rolled back.
func (m *model) change(s *framework.Snapshot) {
	switch draw(m, "change", "pod", "pod goes", "namespace", "service") {
	case "pod":
		m.addPod(s)
	case "pod goes":
		m.removePod(s)
	case "namespace":
		m.namespace(s)
	default:
		m.service(s)
	}
}

// node makes a node, sometimes with an empty zone or none.
func (m *model) node(name string) *api.Node {
	b := api.MakeNode(name, "4", "4Gi").Labels(api.LabelHostname, name)
	if zone := draw(m, "zone", "a", "a", "b", "b", "", "-"); zone != "-" {
		b = b.Labels(api.LabelTopologyZone, zone)
	}
	if rack := draw(m, "rack", "1", "2", "-"); rack != "-" {
		b = b.Labels("rack", rack)
	}
	b = b.Labels("disk", draw(m, "disk", "ssd", "hdd"))
	if draw(m, "taint", false, false, true) {
		b = b.Taint("gpu:NoSchedule")
	}
	return b.Obj()
}

func (m *model) addNode(s *framework.Snapshot) {
	m.serial++
	m.must(s.AddNode(m.node(fmt.Sprint("n", m.serial))))
}

func (m *model) someNode(s *framework.Snapshot) *framework.NodeInfo {
	return s.At(rapid.IntRange(0, s.Len()-1).Draw(m.T, "node"))
}

func (m *model) updateNode(s *framework.Snapshot) {
	if s.Len() > 0 {
		m.must(s.UpdateNode(m.node(m.someNode(s).Name())))
	}
}

func (m *model) removeNode(s *framework.Snapshot) {
	if s.Len() > 1 {
		m.must(s.RemoveNode(m.someNode(s).Name()))
	}
}

func (m *model) addPod(s *framework.Snapshot) {
	if s.Len() == 0 {
		return
	}
	m.serial++
	like := m.anyPod()
	if draw(m, "known", false, true, true) {
		like = draw(m, "like", append(wanted(), m.pods...)...)
	}
	pod := *like
	pod.Name = fmt.Sprint("p", m.serial)
	pod.UID = api.UID(pod.Name)
	if draw(m, "terminating", false, false, false, true) {
		pod.DeletionTimestamp = new(s.Now())
	}
	p, err := s.NewPodInfo(&pod)
	m.must(err)
	m.must(s.AddPod(p, m.someNode(s).Name()))
}

// anyPod makes a pod with labels and selectors that few other pods have.
func (m *model) anyPod() *api.Pod {
	m.serial++
	p := api.MakePod(fmt.Sprint("any", m.serial)).Obj()
	p.Namespace = draw(m, "in", "default", "default", "other")
	p.Labels = map[string]string{}
	for _, key := range []string{"app", "tier", "own"} {
		if value := draw(m, key, "-", "web", "front", "1", "2", "3"); value != "-" {
			p.Labels[key] = value
		}
	}
	key := func() string { return draw(m, "key", api.LabelTopologyZone, api.LabelHostname, "rack") }
	term := func() []api.PodAffinityTerm {
		if draw(m, "no term", true, true, false) {
			return nil
		}
		t := api.PodAffinityTerm{TopologyKey: key(), LabelSelector: m.selector()}
		t.Namespaces = draw(m, "named", nil, nil, []string{"other"}, []string{"default", "other"})
		t.NamespaceSelector = draw(m, "chosen", nil, nil, &api.LabelSelector{}, &api.LabelSelector{MatchLabels: map[string]string{"team": "a"}})
		return []api.PodAffinityTerm{t}
	}
	weighted := func() (list []api.WeightedPodAffinityTerm) {
		for _, t := range term() {
			list = append(list, api.WeightedPodAffinityTerm{Weight: draw(m, "weight", int32(1), 2), PodAffinityTerm: t})
		}
		return list
	}
	p.Spec.Affinity = &api.Affinity{
		PodAffinity: &api.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  append(term(), term()...),
			PreferredDuringSchedulingIgnoredDuringExecution: weighted(),
		},
		PodAntiAffinity: &api.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  append(term(), term()...),
			PreferredDuringSchedulingIgnoredDuringExecution: weighted(),
		},
	}
	for _, action := range []api.UnsatisfiableConstraintAction{api.DoNotSchedule, api.ScheduleAnyway} {
		if draw(m, "spread", false, false, true) {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, api.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: key(), WhenUnsatisfiable: action, LabelSelector: m.selector(),
			})
		}
	}
	return p
}

func (m *model) selector() *api.LabelSelector {
	s := &api.LabelSelector{}
	for range draw(m, "requirements", 0, 1, 1, 2) {
		e := api.LabelSelectorRequirement{
			Key:      draw(m, "label", "app", "tier", "own"),
			Operator: draw(m, "operator", api.LabelSelectorOpIn, api.LabelSelectorOpIn, api.LabelSelectorOpNotIn, api.LabelSelectorOpExists, api.LabelSelectorOpDoesNotExist),
		}
		if e.Operator == api.LabelSelectorOpIn || e.Operator == api.LabelSelectorOpNotIn {
			e.Values = draw(m, "values", []string{"1"}, []string{"2"}, []string{"web"}, []string{"1", "front"}, []string{"3", "3"})
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

func (m *model) removePod(s *framework.Snapshot) {
	if s.Len() == 0 {
		return
	}
	if n := m.someNode(s); len(n.Pods) > 0 {
		m.must(s.RemovePod(draw(m, "which", n.Pods...), n.Name()))
	}
}

func (m *model) namespace(s *framework.Snapshot) {
	n := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: draw(m, "namespace", "default", "other")}}
	switch team := draw(m, "team", "a", "b", "", "-"); team {
	case "-":
		framework.Delete[api.Namespace](s, n.Name)
		return
	case "":
	default:
		n.Labels = map[string]string{"team": team}
	}
	m.must(framework.Put(s, n))
}

func (m *model) service(s *framework.Snapshot) {
	switch draw(m, "object", "service", "service", "another service", "replica set", "stateful set", "deployment", "none") {
	case "another service":
		o := &api.Service{ObjectMeta: api.ObjectMeta{Name: draw(m, "name", "o", "p"), Namespace: "other"}}
		o.Spec.Selector = draw(m, "selector", nil, map[string]string{}, map[string]string{"app": "web"}, map[string]string{"own": "1", "app": "web"})
		m.must(framework.Put(s, o))
		return
	case "replica set":
		m.must(framework.Put(s, &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: "r", Namespace: "other"}}))
		return
	case "stateful set":
		m.must(framework.Put(s, &api.StatefulSet{ObjectMeta: api.ObjectMeta{Name: "r", Namespace: "other"}}))
		return
	case "deployment":
		m.must(framework.Put(s, &api.Deployment{ObjectMeta: api.ObjectMeta{Name: "r", Namespace: "other"}}))
		return
	case "none":
		framework.Delete[api.Deployment](s, "other/r")
		framework.Delete[api.Service](s, draw(m, "gone", "default/s", "other/o", "other/p"))
		framework.Delete[api.ReplicaSet](s, "other/r")
		framework.Delete[api.StatefulSet](s, "other/r")
		return
	}
	o := &api.Service{ObjectMeta: api.ObjectMeta{Name: "s", Namespace: "default"}}
	switch draw(m, "selects", "app", "tier", "both", "nobody") {
	case "app":
		o.Spec.Selector = map[string]string{"app": "web"}
	case "tier":
		o.Spec.Selector = map[string]string{"tier": "front"}
	case "both":
		o.Spec.Selector = map[string]string{"app": "web", "tier": "front"}
	}
	m.must(framework.Put(s, o))
}

// wanted are pods that differ in properties relevant for counts.
func wanted() []*api.Pod {
	web := &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	term := func(key string, teams map[string]string, namespaces ...string) api.PodAffinityTerm {
		t := api.PodAffinityTerm{TopologyKey: key, LabelSelector: web, Namespaces: namespaces}
		if teams != nil {
			t.NamespaceSelector = &api.LabelSelector{MatchLabels: teams}
		}
		return t
	}
	teamA := map[string]string{"team": "a"}
	const zone, host = api.LabelTopologyZone, api.LabelHostname
	near := func(terms ...api.PodAffinityTerm) *api.Affinity {
		return &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	away := func(terms ...api.PodAffinityTerm) *api.Affinity {
		return &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	likes := &api.Affinity{
		PodAffinity: &api.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{
			{Weight: 3, PodAffinityTerm: term(zone, teamA)}, {Weight: 5, PodAffinityTerm: term("rack", nil)},
		}},
		PodAntiAffinity: &api.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{
			{Weight: 7, PodAffinityTerm: term(host, map[string]string{})},
		}},
	}
	constraint := func(key string, action api.UnsatisfiableConstraintAction, taints bool) api.TopologySpreadConstraint {
		c := api.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: action, LabelSelector: web}
		if taints {
			c.NodeTaintsPolicy = new(api.NodeInclusionPolicyHonor)
		}
		return c
	}
	var pods []*api.Pod
	add := func(a *api.Affinity, spread ...api.TopologySpreadConstraint) *api.Pod {
		p := api.MakePod(fmt.Sprint("w", len(pods))).Labels("app", "web", "tier", "front").Obj()
		p.Spec.Affinity, p.Spec.TopologySpreadConstraints = a, spread
		pods = append(pods, p)
		return p
	}
	add(nil)
	add(nil).Labels = map[string]string{"app": "web"}
	add(nil).Namespace = "other"
	add(near(term(host, nil)))
	add(near(term(zone, nil), term("rack", teamA)))
	add(near(term(zone, nil))).Labels = map[string]string{"tier": "front"} // not of its own group
	add(away(term(zone, nil)))
	add(away(term(zone, teamA)))
	add(away(term("rack", map[string]string{}, "other")))
	add(likes)
	for _, action := range []api.UnsatisfiableConstraintAction{api.DoNotSchedule, api.ScheduleAnyway} {
		add(nil, constraint(zone, action, false))
		add(nil, constraint(zone, action, false)).Spec.NodeSelector = map[string]string{"disk": "ssd"}
		add(nil, constraint(zone, action, true))
		add(nil, constraint(zone, action, true)).Spec.Tolerations = []api.Toleration{{Operator: api.TolerationOpExists}}
		add(nil, constraint(zone, action, false), constraint("rack", action, false), constraint(host, action, false))
		add(nil, constraint(host, action, false))
	}
	return pods
}

// answers are the answers about the nodes of a fork at some version.
type answers struct {
	version uint64
	of      string         // what counts they are of, and sizes
	by      map[int]string // by slot
}

// tracker is what a bound plugin reports about its answers.
type tracker struct {
	version uint64
	changed func(since uint64, dirty func(slot int)) bool
	state   func(b []byte) []byte
	origin  func(b []byte) []byte
	from    func(state []byte, dirty func(slot int)) bool
}

// statesMost is how many states of one kind of answers are compared with those of other forks.
const statesMost = 8

// promised compares the answers with those of the previous version. They may differ
// only where the tracker reports a change; a nil tracker means that the plugin is
// skipped.
func (m *model) promised(f *fork, what string, tr *tracker, answer func(n *framework.NodeInfo) string) {
	m.Helper()
	if tr == nil {
		delete(f.answers, what)
		return
	}
	is := tr.state(nil)
	_, of, _ := Of(f.snap).at(is)
	now := &answers{tr.version, string(of), map[int]string{}}
	for _, n := range f.snap.All() {
		now.by[n.Slot()] = answer(n)
	}
	m.compareForks(f, what, tr, state{is, now.by})
	was := f.answers[what]
	f.answers[what] = now
	if was == nil {
		return
	}
	dirty := map[int]bool{}
	if was.version != now.version && !tr.changed(was.version, func(slot int) { dirty[slot] = true }) {
		return
	}
	for _, slot := range slices.Sorted(maps.Keys(now.by)) {
		if !dirty[slot] && was.by[slot] != now.by[slot] {
			m.Fatalf("%s: versions %d and %d: the answer for slot %d was %q, is %q, and nobody said so", what, was.version, now.version, slot, was.by[slot], now.by[slot])
		}
	}
}

// compareForks compares the answers with those in other states, of any fork, and with those in which the
// snapshot was forked.
func (m *model) compareForks(f *fork, what string, tr *tracker, now state) {
	m.Helper()
	compare := func(other string, from []byte, was map[int]string) {
		dirty := map[int]bool{}
		if !tr.from(from, func(slot int) { dirty[slot] = true }) {
			return
		}
		for _, slot := range slices.Sorted(maps.Keys(now.by)) {
			if !dirty[slot] && was[slot] != now.by[slot] {
				m.Fatalf("%s: since %s %x, the answer for slot %d was %q, is %q, and nobody said so", what, other, from, slot, was[slot], now.by[slot])
			}
		}
	}
	known := m.states[what]
	for _, x := range known {
		compare("the state", x.text, x.by)
	}
	if was := f.parent[what]; was != nil {
		origin := tr.origin(nil)
		if _, of, ok := Of(f.snap).at(origin); ok && string(of) == was.of {
			compare("the origin", origin, was.by)
		}
	}
	m.states[what] = append(known[max(0, len(known)+1-statesMost):], now)
}

// grouped compares the answers for nodes of one group.
func (m *model) grouped(f *fork, what string, g incremental.Groups, answer func(n *framework.NodeInfo) string) {
	m.Helper()
	if g.Count == 0 {
		return
	}
	seen := map[int32]string{}
	for _, n := range f.snap.All() {
		group, is := g.Of[n.Slot()], answer(n)
		if was, ok := seen[group]; ok && was != is {
			m.Fatalf("%s: the nodes of group %d answer %q and %q", what, group, was, is)
		}
		seen[group] = is
	}
}
