package scheduling

import (
	"encoding/binary"
	"slices"
	"weak"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/digest"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/runner"
)

// A class is all pods that the plugins of a profile read in the same way, if the parts
// that they read are equal. It holds how to ask the engine about them.
type class struct {
	*reading // shared by all classes that are read in the same way

	idleFilters, idleScorers idlers

	key  string // it covers which plugins are live
	text string // the same without, by which it is found
	kept string // the parts of it that plugins append which are not live
	ref  engine.Ref
	note *runner.Entry // this, as it is noted with pods in the epoch at, if counts are the parts
	at   uint64

	counts framework.PodParts
	next   *class // of pods with the same parts that plugins read in another way

	nominated classNominated
	named     bool // a PreFilter named nodes for the last pod
	asUnnamed unnamedClass

	// While kept answers do not pay:
	came    int // how many pods have come
	last    weak.Pointer[runner.Pod]
	repeats int // how often the last one came again
}

// An unnamedClass is how the engine is asked about a class as if PreFilters named no nodes.
type unnamedClass struct {
	key string
	ref engine.Ref
}

// unnamedMark begins what the engine is asked for as if PreFilters named no nodes. Other keys
// begin with whether plugins are live, which is 0 or 1, or with a digest.
const unnamedMark = 2

// unnamed returns the key of the class as if PreFilters named no nodes.
func (k *class) unnamed() (key string, ref *engine.Ref) {
	if k.asUnnamed.key == "" {
		k.asUnnamed.key = string(rune(unnamedMark)) + k.key
	}
	return k.asUnnamed.key, &k.asUnnamed.ref
}

// A noted class was found in an epoch, and is the pod's as long as that lasts and the same
// conditional parts count.
type noted struct {
	class  *class // nil: the pod was only tried on the reference path
	epoch  uint64
	counts framework.PodParts
	tried  int // how often it failed there while others stepped aside, up to triedOften
}

// triedOften is after how many failures a pod is likely to be tried many times more.
const triedOften = 16

// failed notes that a pod was tried on the reference path.
func (f *incrementalPath) failed(pod *framework.PodInfo) {
	if f.stepped == nil {
		return
	}
	f.stepped.unfit = min(f.stepped.unfit+2, 2*unfitMost)
	tried := 0
	if n := f.notes.Load(pod.Runner()); n != nil {
		if n.class != nil || n.tried == triedOften {
			return
		}
		tried = n.tried
	}
	if f.tried[tried] == nil {
		f.tried[tried] = f.notes.Entry(&noted{tried: tried + 1})
	}
	f.notes.Store(pod.Runner(), f.tried[tried])
}

// isNoted reports whether a class is noted with the pod.
func (f *incrementalPath) isNoted(pod *framework.PodInfo) bool {
	n := f.notes.Load(pod.Runner())
	return n != nil && n.class != nil
}

// reading is what the plugins of a profile read when they answer for one pod.
type reading struct {
	filters, scorers side
	pod              framework.PodFields // parts of the pod that make its class
	base             framework.PodFields // the same, without those that only live plugins read
}

// side is what the filters, or the scorers, of a profile read. Live plugins are
// bound in every decision; the answers of the others are kept.
type side struct {
	// reads has an entry for each filter or scorer, and then for each PreFilter or
	// PreScore up to the last that only prepares; 0 for the others.
	reads      []framework.Reads
	keptReads  framework.Reads // of plugins that are not live
	kept, live choice
}

// readsOf is what a PreFilter or PreScore reads, by the place of what it prepares and, if that is negative, its own.
func (s *side) readsOf(prepares, own int) framework.Reads {
	if prepares >= 0 {
		return s.reads[prepares]
	}
	return s.reads[own]
}

// outside is what makes a plugin live: its answers are not kept with a class of pods.
const outside = framework.ReadsCluster | framework.ReadsDomain | framework.ReadsFeasible

// How many classes are remembered, and how long a key may be: a pod with a longer one
// takes the reference path. A key that is not short is kept as its digest.
const (
	classesMost = 4096
	keyMost     = 16 << 10
	keyShort    = 512
)

// shortened replaces a key that is not short, so that what is kept of a class does not grow
// with its pods. Users choose what stands in a key, and two keys must not meet: hence a
// cryptographic hash. A digest is too short to be taken for a key.
func shortened(key []byte) []byte {
	if len(key) <= keyShort {
		return key
	}
	sum := digest.Sum(key)
	return append(append(key[:0], "sha256:"...), sum[:]...)
}

// classOf returns the class of a pod. Plugins are asked once per pod and epoch: the
// answer is noted with the pod. nil means that the key is too long.
func (f *incrementalPath) classOf(c *framework.Cycle) *class {
	pod := c.Pod
	parts := f.s.partsIn(c.Snapshot, pod)
	f.keys.follow(c.Snapshot, &f.s.plugins, parts)
	counts := parts.counts & f.s.plugins.conditional
	f.conditional = counts
	if n := f.notes.Load(pod.Runner()); n != nil && n.epoch == f.keys.epoch && n.counts == counts {
		return n.class
	}
	f.guesses.spelled = nil
	k := f.guessed(c, parts)
	if k == nil {
		if k = f.sought(c, parts); k == nil {
			return nil
		}
		f.learn(pod, parts, k)
	}
	if k.at != f.keys.epoch || k.counts != counts {
		k.at, k.counts = f.keys.epoch, counts
		k.note = f.notes.Entry(&noted{class: k, epoch: k.at, counts: counts})
	}
	f.notes.Store(pod.Runner(), k.note)
	return k
}

// sought returns the class of the cycle's pod. It asks all plugins. nil means that the key is
// too long.
func (f *incrementalPath) sought(c *framework.Cycle, parts podParts) *class {
	f.scratch.read(&f.s.plugins, c.Pod, parts)
	if r := f.guesses.spelled; r == nil || !r.same(&f.scratch) {
		f.findKey(c, parts, &f.scratch)
	}
	if len(f.key) == 0 {
		return nil
	}
	first := f.classes[string(f.key)]
	k := first
	for k != nil && !k.same(&f.scratch) {
		k = k.next
	}
	if k == nil {
		came, ok := f.admits()
		if !ok {
			return nil
		}
		if len(f.classes) >= classesMost {
			f.forgetClasses()
			first = nil
		}
		key := string(f.wholeKey())
		k = &class{reading: f.kept(&f.scratch), key: key, text: key[len(key)-len(f.key):], kept: string(shortened(slices.Clone(f.keys.kept))), next: first, came: came}
		k.idleFilters, k.idleScorers = k.reading.idleFilters(&f.s.plugins), k.reading.idleScorers(&f.s.plugins)
		f.classes[k.text] = k
	}
	return k
}

// findKey finds the key of the cycle's pod, if plugins read it like that. It is empty if it is too
// long, or if it is long and such keys do not pay.
func (f *incrementalPath) findKey(c *framework.Cycle, parts podParts, r *reading) {
	f.keys.find(c, &f.s.plugins, parts, r)
	pays, most := f.longPays(), keyMost
	if !pays {
		most = longBytes
	}
	f.spell(c.Pod, r, most)
	f.long = len(f.key) > longBytes
	if f.long && !pays {
		if f.isLongAside(c) {
			f.key = f.key[:0]
			return
		}
		f.spell(c.Pod, r, keyMost)
	}
	f.spelled += max(0, min(len(f.key), keyMost)-keyBytes) / keyBytesOfUnit
	if len(f.key) > keyMost {
		f.key = f.key[:0]
		return
	}
	f.key = shortened(f.key)
}

// spell writes the key of a pod, or more than most bytes if it is longer than that.
func (f *incrementalPath) spell(pod *framework.PodInfo, r *reading, most int) {
	f.key = pod.AppendClassKeyWithin(f.key[:0], r.pod, most)
	f.key = append(append(f.key, f.keys.live...), f.keys.kept...)
}

// forgetClasses forgets all classes and how they are read.
func (f *incrementalPath) forgetClasses() {
	clear(f.classes)
	clear(f.readings)
	f.guesses.forget()
}

// kept returns a reading equal to r that is kept.
func (f *incrementalPath) kept(r *reading) *reading {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(r.pod)), uint64(r.base))
	for _, s := range [...]*side{&r.filters, &r.scorers} {
		for _, reads := range s.reads {
			b = binary.AppendUvarint(b, uint64(reads))
		}
	}
	k := f.readings[string(b)]
	if k == nil {
		c := r.clone(&f.s.plugins)
		k = &c
		f.readings[string(b)] = k
	}
	return k
}

// read asks every plugin what it reads. A plugin without a scope is asked in every
// decision, so it needs no part in the class.
func (r *reading) read(t *plugins, pod *framework.PodInfo, parts podParts) {
	r.pod, r.base = 0, 0
	r.filters.reads = r.ask(r.filters.reads, t.filterScopes, pod, parts)
	r.scorers.reads = r.ask(r.scorers.reads, t.scorerScopes, pod, parts)
}

// ask returns what the plugins of one side read, in the memory of the list.
func (r *reading) ask(list []framework.Reads, scopes []listedScope, pod *framework.PodInfo, parts podParts) []framework.Reads {
	list = slices.Grow(list[:0], len(scopes))[:len(scopes)]
	clear(list)
	for next := 0; next < len(scopes); { // once, unless a plugin panics
		next = r.askFrom(next, list, scopes, pod, parts)
	}
	return list
}

// askFrom fills in what the plugins read from that place on, up to one that panics: it
// declares nothing. It returns where to go on.
func (r *reading) askFrom(i int, list []framework.Reads, scopes []listedScope, pod *framework.PodInfo, parts podParts) (next int) {
	defer func() {
		if i < len(scopes) && recover() != nil {
			list[i] = r.add(undeclared)
			next = i + 1
		}
	}()
	for ; i < len(scopes); i++ {
		if s := &scopes[i]; s.counts && s.concern.in(parts) {
			list[i] = r.add(s.ask(pod))
		}
	}
	return i
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

// appendLiveKey appends one byte for each plugin, which says whether it is live.
func (r *reading) appendLiveKey(b []byte) []byte {
	for _, s := range [...]*side{&r.filters, &r.scorers} {
		for _, reads := range s.reads {
			if reads&outside != 0 {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return b
}

// clone returns a copy, with the choices that follow from what is read.
func (r *reading) clone(t *plugins) reading {
	c := reading{pod: r.pod, base: r.base}
	c.filters.reads, c.scorers.reads = slices.Clone(r.filters.reads), slices.Clone(r.scorers.reads)
	c.filters.divide(len(t.filters), len(t.preFilters), func(i int) int { return t.preFilters[i].filter })
	c.scorers.divide(len(t.scorers), len(t.preScores), func(i int) int { return t.preScores[i].scorer })
	return c
}

// divide separates live plugins from the others: n filters or scorers, and those that
// prepare. of is the number of what one of these prepares, -1 for nothing.
func (s *side) divide(n, preparing int, of func(i int) int) {
	for i, reads := range s.reads[:n] {
		c := s.belongs(reads)
		c.at = append(c.at, i)
	}
	for i := range preparing {
		at := of(i)
		if at < 0 {
			at = n + i
		}
		c := s.belongs(s.reads[at])
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
