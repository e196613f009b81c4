package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/match"
)

// A Spread holds the counts for spread constraints, for all pods with the same
// constraints. It stays valid while the snapshot changes.
type Spread struct {
	// Counts holds the counts of each rule.
	Counts []Count

	tables  *Tables
	who     spreader // these pods
	rules   *Rules
	kind    byte
	hard    bool
	keys    []int32 // the label of each rule
	strict  bool
	found   resolution
	derived bool    // the workloads determine which Spread a pod has
	sizes   [][]int // lists passed to Sized so far
	resize  uint64  // time when sizes was last emptied
	weighed weighed
	usage   usage
	grouped struct {
		at     uint64 // Tables.anew; 0: groups is not known
		groups incremental.Groups
	} // of SoftGroups
}

// A spreadKey identifies a Spread: by its rules, and how they count.
type spreadKey struct {
	kind byte
	text string // Rules.text
}

const (
	hardSpread byte = iota
	strictSpread
	looseSpread
)

// Hard returns the counts for constraints with the action DoNotSchedule. They count
// the pods of the pod's namespace that are not terminating, on nodes that have the
// keys of all rules and that the rule's policies include.
func (t *Tables) Hard(p *framework.PodInfo, r *Rules) *Spread {
	key := spreadKey{hardSpread, r.text}
	if s := t.kept(key, r); s != nil {
		return s
	}
	return t.keep(key, &Spread{tables: t, who: spreaderOf(p, r), rules: r, hard: true, strict: true})
}

// Soft returns the counts for constraints with the action ScheduleAnyway. It counts
// like Hard, but if the key is the host name, it counts the pods of each single
// node. If strict is false, nodes without a key count too, as if its value were
// empty.
func (t *Tables) Soft(p *framework.PodInfo, r *Rules, strict bool) *Spread {
	key := spreadKey{looseSpread, r.text}
	if strict {
		key.kind = strictSpread
	}
	if s := t.kept(key, r); s != nil {
		return s
	}
	return t.keep(key, &Spread{tables: t, who: spreaderOf(p, r), rules: r, strict: strict})
}

// recentSpreads are found without their text, by its hash: pods of some apps come in turn,
// and a pod asks several times.
type recentSpreads [shardCount]*Spread

// Dropped is that of [Affinity].
func (s *Spread) Dropped() bool { return s.usage.dropped }

// Renewed returns the Spread or, if it was Dropped, the one of now.
func (s *Spread) Renewed() *Spread {
	if !s.usage.dropped {
		return s
	}
	t, key := s.tables, spreadKey{s.kind, s.rules.text}
	if now := t.kept(key, s.rules); now != nil {
		return now
	}
	return t.keep(key, &Spread{tables: t, who: s.who, rules: s.rules, hard: s.hard, strict: s.strict})
}

// resolve finds the counters.
func (s *Spread) resolve() {
	t, r := s.tables, s.rules
	looked := t.looks
	s.usage.ids, s.keys, s.Counts, s.grouped.at = nil, nil, nil, 0
	var labels []string
	if s.strict {
		labels = keysOf(r)
	}
	anyVacant := false
	wholes := wholes{}
	sets := map[[2]bool]int32{} // of nodes: they differ by what a rule honors only
	for i := range r.List {
		rule := &r.List[i]
		q := query{key: t.nodeKey(), nodes: none, pods: podsOf(s.who.namespace, rule)}
		if s.hard || rule.Key != api.LabelHostname {
			honors := [2]bool{rule.affinity, rule.taints}
			nodes, ok := sets[honors]
			if !ok {
				nodes = t.nodesOf(&s.who, rule, labels)
				sets[honors] = nodes
			}
			q.key, q.nodes, q.loose, q.extent = t.key(rule.Key), nodes, !s.strict, s.hard
		}
		q.wholes = wholes
		id, vacant := t.podCounter(q)
		anyVacant = anyVacant || vacant
		s.usage.ids, s.keys = append(s.usage.ids, id), append(s.keys, t.key(rule.Key))
		s.Counts = append(s.Counts, Count{t, id})
	}
	s.found = t.resolved(anyVacant)
	s.usage.cost = t.costSince(looked)
}

// Meet finds the counters again if pods have come that selectors may match.
func (s *Spread) Meet() {
	if s.found.old(s.tables) {
		ids := s.usage.ids
		s.resolve()
		s.tables.hold(s.usage.ids)
		s.tables.release(ids)
	}
}

// kept returns the cached Spread of a key, or nil.
func (t *Tables) kept(key spreadKey, r *Rules) *Spread {
	t.lookup()
	if r.workloads != t.workloads && r.workloads != 0 {
		t.clock++
		t.workloads, t.owned = r.workloads, t.clock
	}
	if t.recent == nil {
		t.recent = new(recentSpreads)
	}
	last := &t.recent[r.hash]
	s := *last
	if s == nil || s.rules != r || s.kind != key.kind {
		if s = t.spreads[key]; s == nil {
			return nil
		}
		*last = s
	}
	s.usage.note(t)
	s.Meet()
	return s
}

// keep makes a new Spread ready.
func (t *Tables) keep(key spreadKey, s *Spread) *Spread {
	t.followNominations()
	s.resolve()
	t.hold(s.usage.ids)
	t.clock++
	s.usage.note(t)
	s.kind, s.derived, s.resize = key.kind, !s.rules.Own, t.clock
	t.spreads[key] = s
	t.held += sizeOf(key.text)
	return s
}

// Has reports whether the node has the label of a rule of Soft.
func (s *Spread) Has(rule int, n *framework.NodeInfo) bool {
	return s.tables.keys[s.keys[rule]].of(n.Slot()) >= 0
}

// single reports whether a rule counts the pods of each single node.
func (s *Spread) single(rule int) bool {
	return s.tables.keys[s.tables.counters[s.Counts[rule].id].key].single
}

// SoftExceptions calls visit with the slot of each node on which a rule about single
// nodes counts pods. All other nodes of a group of SoftGroups have equal counts.
func (s *Spread) SoftExceptions(visit func(slot int)) {
	for i, c := range s.Counts {
		if s.single(i) {
			s.tables.counters[c.id].counts.Each(func(n int32) bool { return n == 0 }, visit)
		}
	}
}

// GroupAt is the count of a rule for all nodes of a group of SoftGroups that are no
// exceptions: 0 for a rule about single nodes.
func (s *Spread) GroupAt(rule int, n *framework.NodeInfo) int64 {
	if s.single(rule) {
		return 0
	}
	return s.Counts[rule].At(n)
}

// Ignores reports whether Soft leaves out the node because it lacks the label of a
// rule.
func (s *Spread) Ignores(n *framework.NodeInfo) bool {
	if !s.strict {
		return false
	}
	for _, key := range s.keys {
		if s.tables.keys[key].of(n.Slot()) < 0 {
			return true
		}
	}
	return false
}

// Place returns the domain of a node for a rule of Soft. A node without the label
// is in the domain of the empty value.
func (s *Spread) Place(rule int, n *framework.NodeInfo) int32 {
	k := s.tables.keys[s.keys[rule]]
	if d := k.of(n.Slot()); d >= 0 {
		return d
	}
	return k.empty
}

// keysOf returns the topology keys of the rules, sorted, each once.
func keysOf(r *Rules) []string {
	var keys []string
	for i := range r.List {
		keys = append(keys, r.List[i].Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// podsOf returns the set of pods that a rule counts. An empty selector counts no
// pod, as in kube-scheduler.
func podsOf(namespace string, rule *Rule) *podSet {
	selector := rule.pods
	if selector.SelectsEverything() {
		selector = match.Nothing()
	}
	return &podSet{running: true, parts: []podPart{{namespaces: []string{namespace}, pods: selector}}}
}

// nodesOf returns the set of nodes that a rule counts.
func (t *Tables) nodesOf(p *spreader, rule *Rule, labels []string) int32 {
	set := nodeRule{labels: labels, taints: rule.taints}
	b := appendStrings(nil, labels)
	if rule.affinity && p.required != nil {
		set.required = p.required
		b = match.AppendString(append(b, 1), p.choice)
	}
	if rule.taints {
		set.tolerations = p.tolerations
		b = match.AppendString(append(b, 2), p.tolerates)
	}
	return t.nodeSet(string(b), &set)
}

// A spreader is what a Spread needs to know of its pods, which may be large.
type spreader struct {
	namespace   string
	required    *match.RequiredNodeAffinity // nil if nothing is required, or no rule honors it
	choice      string                      // identifies it
	tolerations []api.Toleration            // if a rule honors taints
	tolerates   string                      // identifies them
}

func spreaderOf(p *framework.PodInfo, r *Rules) spreader {
	who := spreader{namespace: p.Pod.Namespace}
	if demands(p) && slices.ContainsFunc(r.List, func(r Rule) bool { return r.affinity }) {
		who.required, who.choice = match.RequiredNodeAffinityOf(p), p.ClassKey(framework.FieldNodeChoice)
	}
	if slices.ContainsFunc(r.List, func(r Rule) bool { return r.taints }) {
		who.tolerations, who.tolerates = p.Pod.Spec.Tolerations, p.ClassKey(framework.FieldTolerations)
	}
	return who
}

// demands reports whether the pod has requirements on its node.
func demands(p *framework.PodInfo) bool {
	spec := &p.Pod.Spec
	return len(spec.NodeSelector) > 0 || spec.Affinity != nil && spec.Affinity.NodeAffinity != nil &&
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}
