package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/runner"
)

// A kind is all pods that the plugins of a profile read in the same way and of
// which the parts that they read are equal: a class, and how to ask about it.
type kind struct {
	reading
	idling idling
	key    string // of the class: it covers which plugins are live
	ref    engine.Ref
	page   *runner.Entry // this, as it is noted with pods
	next   *kind         // of pods with the same parts that plugins read in another way
}

// reading is what the plugins of a profile read when they answer for one pod.
type reading struct {
	filters, scorers side
	pod              framework.PodFields // parts of the pod that make its class
	base             framework.PodFields // those that plugins read that are not live
}

// side is what the filters, or the scorers, of a profile read. Live plugins are
// bound in every decision; the answers of the others are kept.
type side struct {
	// reads has an entry for each filter or scorer, and then for each PreFilter or
	// PreScore, 0 unless it only prepares.
	reads      []framework.Reads
	keptReads  framework.Reads // those of plugins that are not live
	kept, live choice
}

// outside marks answers that are not kept with a class of pods: their plugins
// are live.
const outside = framework.ReadsCluster | framework.ReadsDomain | framework.ReadsFeasible

// kindsMost bounds how many kinds are remembered.
const kindsMost = 4096

// kindOf returns the kind of a pod. Plugins are asked once per pod: the answer
// is noted with it.
func (f *fastRoad) kindOf(pod *framework.PodInfo) *kind {
	if k := f.notes.Load(pod.Runner()); k != nil {
		return k
	}
	f.scratch.read(&f.s.plugins, pod)
	f.key = pod.AppendClassKey(f.key[:0], f.scratch.pod)
	first := f.kinds[string(f.key)]
	k := first
	for k != nil && !k.same(&f.scratch) {
		k = k.next
	}
	if k == nil {
		if len(f.kinds) >= kindsMost {
			clear(f.kinds)
			first = nil
		}
		key := string(f.key)
		k = &kind{reading: f.scratch.clone(&f.s.plugins), key: f.scratch.liveKey() + key, next: first}
		k.idling = k.reading.idling(&f.s.plugins)
		k.page = f.notes.Entry(k)
		f.kinds[key] = k
	}
	f.notes.Store(pod.Runner(), k.page)
	return k
}

// read asks every plugin what it reads. A plugin without a scope is asked anew
// in every decision and needs no part in the class.
func (r *reading) read(t *plugins, pod *framework.PodInfo) {
	r.pod, r.base = 0, 0
	r.filters.reads, r.scorers.reads = r.filters.reads[:0], r.scorers.reads[:0]
	for i := range t.filters {
		r.filters.reads = append(r.filters.reads, r.add(t.filters[i].scope(pod)))
	}
	for i := range t.preFilters {
		var reads framework.Reads
		if p := &t.preFilters[i]; p.filter < 0 {
			reads = r.add(p.scope(pod))
		}
		r.filters.reads = append(r.filters.reads, reads)
	}
	for i := range t.scorers {
		r.scorers.reads = append(r.scorers.reads, r.add(t.scorers[i].scope(pod)))
	}
	for i := range t.preScores {
		var reads framework.Reads
		if p := &t.preScores[i]; p.scorer < 0 {
			reads = r.add(p.scope(pod))
		}
		r.scorers.reads = append(r.scorers.reads, reads)
	}
}

// add takes one plugin's scope into account.
func (r *reading) add(s framework.Scope) framework.Reads {
	if s.Reads&framework.ReadsCluster == 0 {
		r.pod |= s.Pod
	}
	if s.Reads&outside == 0 {
		r.base |= s.Pod
	}
	return s.Reads
}

func (r *reading) same(o *reading) bool {
	return r.pod == o.pod && r.base == o.base &&
		slices.Equal(r.filters.reads, o.filters.reads) && slices.Equal(r.scorers.reads, o.scorers.reads)
}

// liveKey tells which plugins are live.
func (r *reading) liveKey() string {
	var b []byte
	for _, s := range [...]*side{&r.filters, &r.scorers} {
		for _, reads := range s.reads {
			if reads&outside != 0 {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return string(b)
}

// clone returns a copy with the choices that follow from what is read.
func (r *reading) clone(t *plugins) reading {
	c := reading{pod: r.pod, base: r.base}
	c.filters.reads, c.scorers.reads = slices.Clone(r.filters.reads), slices.Clone(r.scorers.reads)
	c.filters.divide(len(t.filters), len(t.preFilters), func(i int) int { return t.preFilters[i].filter })
	c.scorers.divide(len(t.scorers), len(t.preScores), func(i int) int { return t.preScores[i].scorer })
	return c
}

// divide tells live plugins from the others: n filters or scorers, and those
// that prepare, with the number of what they prepare.
func (s *side) divide(n, preparing int, of func(i int) int) {
	for i, reads := range s.reads[:n] {
		c := s.belongs(reads)
		c.at = append(c.at, i)
	}
	for i := range preparing {
		reads := s.reads[n+i]
		if k := of(i); k >= 0 {
			reads = s.reads[k]
		}
		c := s.belongs(reads)
		c.pre = append(c.pre, i)
	}
}

func (s *side) belongs(reads framework.Reads) *choice {
	if reads&outside != 0 {
		return &s.live
	}
	s.keptReads |= reads
	return &s.kept
}

func (s *side) choice(live bool) *choice {
	if live {
		return &s.live
	}
	return &s.kept
}
