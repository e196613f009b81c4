package topo

import (
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An Affinity holds the counts for the inter-pod affinity of a pod to be placed,
// and of all pods that terms see as the same, see mentions. It stays valid while
// the snapshot changes, but only [Tables.Affinity] and Renewed notice terms that are
// new in the cluster.
type Affinity struct {
	tables *Tables
	text   string // by which the tables know it
	seen   string // of these pods; see seenAs
	size   int    // see sizeOf

	// Attract counts, for each required affinity term of the pod, the pods that
	// match all of these terms, by the term's key. Self is true if the pod itself
	// matches them.
	Attract []Count
	Self    bool
	// Repel counts, for each required anti-affinity term, the pods it matches. Terms that
	// match nobody are left out; RepelTerms has the number of each term that is not.
	Repel      []Count
	RepelTerms []int
	// Barred counts, for each required anti-affinity term of pods in the cluster
	// that matches this pod, the pods with that term.
	Barred []Count
	// Prefer counts, for each preferred term of the pod, the pods it matches. For
	// each preferred term of pods in the cluster that matches this pod, it counts
	// the pods with that term. Anti-affinity has the opposite weight. Terms of the pod
	// that match nobody are left out.
	Prefer []Weighted
	// Demand counts, for each required affinity term of pods in the cluster that
	// matches this pod, the pods with that term.
	Demand []Count
	// Others sums up the terms of pods in the cluster that match this pod, if they are
	// many. Then Barred, Prefer and Demand leave them out. nil if they are few.
	Others *TermSet

	looks    looks // of the first of these pods
	traits   *traits
	mentions uint64 // version of the mentions by which all of these pods are seen as the same
	named    uint64 // clock of the namespaces considered
	own      int    // number of Prefer that are terms of the pod
	usage    usage
	found    resolution

	set  uint64 // Tables.termVersion considered
	met  uint64 // clock then
	with int    // number of terms of pods in the cluster found then
	anew uint64 // changes before this time are not known
}

// Idle reports whether nothing counts for the pod, and nothing can until a pod with
// affinity terms is added. It may be false until the last such term is forgotten.
func (t *Tables) Idle(p *framework.PodInfo) bool { return t.termCount == 0 && !hasTerms(p) }

// NoRequired reports whether nothing is required of nodes for the pod: it has no required
// affinity term, none of its required anti-affinity terms matches a pod in the cluster, and
// none of a pod in the cluster matches it. It stays so while [KeyVersion] does.
func NoRequired(s *framework.Snapshot, p *framework.PodInfo) bool {
	a, ok := affinityOf(s, p)
	return ok && (a == nil || a.requiresNothing())
}

// NoPreferred reports whether nothing tells nodes apart for the pod: no preferred term of it
// matches a pod in the cluster, and no preferred term and no required affinity term of a pod
// in the cluster matches it. It stays so while [KeyVersion] does.
func NoPreferred(s *framework.Snapshot, p *framework.PodInfo) bool {
	a, ok := affinityOf(s, p)
	return ok && (a == nil || a.prefersNothing())
}

func (a *Affinity) requiresNothing() bool {
	return a.Others == nil && len(a.Attract)+len(a.Repel)+len(a.Barred) == 0
}

func (a *Affinity) prefersNothing() bool {
	return a.Others == nil && len(a.Prefer)+len(a.Demand) == 0
}

// affinityOf returns what [Tables.Affinity] does; false if a term of the pod is malformed.
func affinityOf(s *framework.Snapshot, p *framework.PodInfo) (a *Affinity, ok bool) {
	if hasTerms(p) && TermsOf(p).Err != nil {
		return nil, false
	}
	return Of(s).Affinity(p), true
}

// Affinity returns the counts for the pod, or nil if the tables are Idle. A term
// that is malformed (see [Terms].Err) counts nothing.
func (t *Tables) Affinity(p *framework.PodInfo) *Affinity {
	if t.Idle(p) {
		return nil // which is no lookup: most clusters have no terms
	}
	a := t.asked
	if a != nil && t.question == t.questionAbout(p) { // a cycle asks several times, and nothing has changed
		t.tick++
		a.usage.at = t.tick
		return a
	}
	t.lookup()
	t.followNamespaces()
	t.followNominations()
	seen := t.seenAs(p)
	if a = t.asked; a == nil || a.text != seen {
		a = t.affinities[seen]
	}
	if a != nil && a.mentions != t.mentions.version {
		a = a.apart(p)
	}
	switch {
	case a == nil:
		a = t.addAffinity(seen, seen, p)
	case a.named != t.named:
		a.resolveAnew()
	}
	t.asked = a
	a.usage.at = t.tick
	a.meet()
	t.question = t.questionAbout(p)
	return a
}

// addAffinity makes the Affinity of a pod, and of those that are seen as the same.
func (t *Tables) addAffinity(text, seen string, p *framework.PodInfo) *Affinity {
	a := &Affinity{tables: t, text: text, seen: seen, size: sizeOf(seen), looks: looksOf(p.Pod), traits: &noTraits, anew: t.forgot, mentions: t.mentions.version}
	if hasTerms(p) {
		a.traits = traitsOf.Of(p)
		a.size = sizeOf(a.traits.text)
	}
	t.affinities[text] = a
	t.held += a.size
	a.resolve()
	return a
}

// resolveAnew is resolve for one that has been resolved.
func (a *Affinity) resolveAnew() {
	ids := a.usage.ids
	a.resolve()
	a.tables.release(ids)
}

// apart returns the Affinity of a pod that is seen as those of this one, after other things are
// mentioned than when it was asked for last. If the first of its pods is seen in another way now, it
// becomes the one of this pod; but if the cycle at hand may hold it, another one does.
func (a *Affinity) apart(p *framework.PodInfo) *Affinity {
	t := a.tables
	switch {
	case a.represents():
		a.mentions = t.mentions.version
		return a
	case a.usage.at+t.limits.recent > t.tick:
		text := string(append(binary.LittleEndian.AppendUint64([]byte{1}, t.mentions.version), a.seen...))
		if b := t.affinities[text]; b != nil {
			return b
		}
		return t.addAffinity(text, a.seen, p)
	default:
		a.leave()
		a.looks, a.mentions, a.anew = looksOf(p.Pod), t.mentions.version, t.forgot
		a.resolveAnew()
		return a
	}
}

// Renewed returns the counts for the pod that these were asked for, after pods with terms have come, or after these were
// Dropped.
func (a *Affinity) Renewed(p *framework.PodInfo) *Affinity {
	t := a.tables
	if a.usage.dropped {
		if now := t.Affinity(p); now != nil {
			return now
		}
		return &Affinity{tables: t, traits: &noTraits, usage: usage{dropped: true}} // no term is left
	}
	if t.seenAs(p) != a.seen || a.mentions != t.mentions.version && !a.represents() { // both are needed: others share this
		if now := t.Affinity(p); now != nil {
			return now
		}
	}
	a.meet()
	return a
}

// A question is who asked for an [Affinity], and all that the answer may depend on.
type question struct {
	pod                            *framework.PodInfo
	clock, keys, terms, namespaces uint64
	nominated                      bool
}

func (t *Tables) questionAbout(p *framework.PodInfo) question {
	return question{
		p, t.clock, t.keyVersion, t.termVersion,
		framework.ObjectsVersion[api.Namespace](t.snapshot), t.snapshot.Nominations() > 0,
	}
}

// Dropped reports whether the tables have given the counts up, because nobody had asked for
// them for long, or those of a term that is gone: they are not those of now any more.
func (a *Affinity) Dropped() bool { return a.usage.dropped || a.met < a.tables.freed }

// resolve finds the counters of the pod's own terms.
func (a *Affinity) resolve() {
	t, terms := a.tables, a.traits.terms
	a.Attract, a.Repel, a.RepelTerms, a.Barred, a.Prefer, a.Demand = nil, nil, nil, nil, nil, nil
	a.named, a.usage.ids, a.Self = t.named, nil, false
	looked := t.looks
	a.set = 0 // meet must find out whether terms of pods in the cluster are gone
	one := func(term *Term) *podSet { return &podSet{parts: []podPart{t.partOf(term)}} }
	anyVacant, wholes := false, wholes{}
	count := func(key string, pods *podSet, shared *classesOf) (c Count, vacant bool) {
		id, vacant := t.podCounter(query{key: t.key(key), nodes: none, pods: pods, shared: shared, wholes: wholes})
		a.usage.ids, anyVacant = append(a.usage.ids, id), anyVacant || vacant
		return Count{t, id}, vacant
	}
	prefer := func(term *Term, weight int64) {
		if c, vacant := count(term.Key, one(term), nil); !vacant {
			a.Prefer = append(a.Prefer, Weighted{c, weight})
		}
	}
	all, shared := &podSet{}, &classesOf{}
	for i := range terms.Required {
		all.parts = append(all.parts, t.partOf(&terms.Required[i]))
	}
	for i := range terms.Required {
		c, _ := count(terms.Required[i].Key, all, shared)
		a.Attract = append(a.Attract, c)
	}
	if len(all.parts) > 0 {
		a.Self = all.has(a.looks)
	}
	for i := range terms.RequiredAnti {
		if c, vacant := count(terms.RequiredAnti[i].Key, one(&terms.RequiredAnti[i]), nil); !vacant {
			a.Repel, a.RepelTerms = append(a.Repel, c), append(a.RepelTerms, i)
		}
	}
	for i := range terms.Preferred {
		prefer(&terms.Preferred[i], terms.Preferred[i].Weight)
	}
	for i := range terms.PreferredAnti {
		prefer(&terms.PreferredAnti[i], -terms.PreferredAnti[i].Weight)
	}
	a.own = len(a.Prefer)
	a.found = t.resolved(anyVacant)
	a.usage.cost = t.costSince(looked)
	t.hold(a.usage.ids)
}

// meet finds the terms of pods in the cluster that match the pod, if terms have come
// or gone, and the pods that match its own, if pods have come.
func (a *Affinity) meet() {
	t, pod := a.tables, a.looks
	if a.found.old(t) {
		a.resolveAnew()
	}
	if a.set == t.termVersion {
		return
	}
	var labels map[string]string
	if n := framework.Lookup[api.Namespace](t.snapshot, pod.namespace); n != nil {
		labels = n.Labels
	}
	if !a.concerned(labels) {
		a.set, a.met = t.termVersion, t.clock
		return
	}
	a.Barred, a.Demand, a.Prefer = a.Barred[:0], a.Demand[:0], a.Prefer[:a.own]
	stayed := 0
	t.found = t.terms.find(t, t.found[:0], pod)
	matching := t.found[:0]
	for _, id := range t.found {
		c := t.counters[id]
		if !c.term.Matches(pod.namespace, labels, pod.labels) {
			continue
		}
		matching = append(matching, id)
		if c.born <= a.met {
			stayed++
		}
	}
	with := len(matching)
	if with > t.limits.termsFew {
		a.join(matching)
	} else {
		a.leave()
		a.list(matching)
	}
	if stayed < a.with {
		// A counter has been dropped. Its last changes are not known any more, and
		// no version may fall below that of an answer that knew them.
		a.anew = max(a.anew, t.forgot)
	}
	a.set, a.met, a.with = t.termVersion, t.clock, with
}

// concerned reports whether some of the terms that have come or gone since the last time may
// matter to the pod: anybody can make terms come and go.
func (a *Affinity) concerned(in map[string]string) bool {
	t := a.tables
	news, ok := t.termNews.since(a.met)
	if !ok || a.set == 0 {
		return true
	}
	return slices.ContainsFunc(news, func(n timed[termNews]) bool {
		if n.is.gone {
			return a.has(n.is.id)
		}
		c := t.counters[n.is.id]
		return c != nil && c.born == n.is.born && c.term.Matches(a.looks.namespace, in, a.looks.labels)
	})
}

// has reports whether a counter of a term of pods in the cluster counts for the pod.
func (a *Affinity) has(id int32) bool {
	if a.Others != nil {
		return a.Others.ids.has(id)
	}
	is := func(c Count) bool { return c.id == id }
	return slices.ContainsFunc(a.Barred, is) || slices.ContainsFunc(a.Demand, is) ||
		slices.ContainsFunc(a.Prefer[a.own:], func(w Weighted) bool { return w.id == id })
}

// list adds the counters of few terms of pods in the cluster.
func (a *Affinity) list(ids []int32) {
	for _, id := range ids {
		c, count := a.tables.counters[id], Count{a.tables, id}
		switch c.kind {
		case required:
			a.Demand = append(a.Demand, count)
		case requiredAnti:
			a.Barred = append(a.Barred, count)
		case preferred, preferredAnti:
			a.Prefer = append(a.Prefer, Weighted{count, c.preference()})
		}
	}
}

// AllBarred is Barred with the terms of Others.
func (a *Affinity) AllBarred() []Count {
	if a.Others != nil {
		return a.Others.barred()
	}
	return a.Barred
}

// Repels reports whether the pod's required anti-affinity term of that number matches the
// pod itself.
func (a *Affinity) Repels(term int) bool {
	part := a.tables.partOf(&a.traits.terms.RequiredAnti[term])
	return (&podSet{parts: []podPart{part}}).has(a.looks)
}

// HasDomains reports whether some node has the topology key of the pod's required anti-affinity term of that number.
func (a *Affinity) HasDomains(term int) bool {
	t := a.tables
	return t.keys[t.key(a.traits.terms.RequiredAnti[term].Key)].hasNodes()
}

// Bars reports whether a required anti-affinity term of a pod in the cluster
// keeps this pod off some node.
func (a *Affinity) Bars() bool {
	if x := a.Others; x != nil {
		x.follow()
		return x.bars.total > 0
	}
	return slices.ContainsFunc(a.Barred, func(c Count) bool { return c.Total() > 0 })
}

// Scores reports whether there is anything to score: a pod matched by a preferred
// term of either side or, with demand, this pod matched by a required affinity term
// of a pod in the cluster.
func (a *Affinity) Scores(demand bool) bool {
	if x := a.Others; x != nil {
		if x.follow(); x.prefer.total > 0 || demand && x.demand.total > 0 {
			return true
		}
	}
	return slices.ContainsFunc(a.Prefer, func(w Weighted) bool { return w.Total() > 0 }) ||
		demand && slices.ContainsFunc(a.Demand, func(c Count) bool { return c.Total() > 0 })
}
