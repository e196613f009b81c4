package topo

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/runner"
)

// mentions are the label keys and values that terms of pods in the cluster compare with. A pod
// is seen by its labels of these keys, and values that no term names are seen as one. So pods
// with a label of their own each, such as those of a StatefulSet, are found the same terms, once
// for all of them.
type mentions struct {
	keys    cow.Map[string, mentioned]
	values  cow.Map[label, int32] // how often each is named
	version uint64                // of the snapshot; it changes when a key or value is named first or last
}

// mentioned is how often terms name a key, and values of it.
type mentioned struct{ itself, values int32 }

// add notes a term that has come (by is 1) or is gone (-1).
func (m *mentions) add(s *framework.Snapshot, term *Term, by int32) {
	term.pods.Reads(func(key string, values []string) {
		k, known := m.keys.Get(key)
		k.itself += by
		k.values += by * int32(len(values))
		if k.itself == 0 {
			m.keys.Remove(key)
		} else {
			m.keys.Set(key, k)
		}
		news := !known || k.itself == 0
		for _, value := range values {
			x := label{key, value}
			n, _ := m.values.Get(x)
			if n += by; n == 0 {
				m.values.Remove(x)
			} else {
				m.values.Set(x, n)
			}
			news = news || n == 0 || n == by
		}
		if news {
			m.version = s.NewVersion()
		}
	})
}

// appendSeen appends what terms see of labels: those of the own keys, which are sorted, as they
// are, and the others as far as they are mentioned.
func (m *mentions) appendSeen(b []byte, labels map[string]string, own []string) []byte {
	var room [16]label
	seen := room[:0]
	for key, value := range labels {
		if x, known := m.keys.Get(key); isAmong(own, key) || known && x.values > 0 && m.names(key, value) {
			seen = append(seen, label{key, value})
		} else if known {
			seen = append(seen, label{key: key})
		}
	}
	if len(seen) > 1 {
		slices.SortFunc(seen, func(x, y label) int { return cmp.Compare(x.key, y.key) })
	}
	for _, x := range seen {
		b = match.AppendString(b, x.key)
		b = match.AppendString(appendBool(b, x.value == labels[x.key]), x.value)
	}
	return b
}

func isAmong(sorted []string, key string) bool {
	_, found := slices.BinarySearch(sorted, key)
	return found
}

func (m *mentions) names(key, value string) bool {
	_, ok := m.values.Get(label{key, value})
	return ok
}

// seenAs returns the text of what terms see of a pod: pods with one text have the same own terms, and
// the same terms of pods in the cluster match them.
func (t *Tables) seenAs(p *framework.PodInfo) string {
	if hasTerms(p) {
		traits := traitsOf.Of(p)
		return t.seenOnce(&traits.seen, looksOf(p.Pod), traits)
	}
	if counted := t.countedAs(p); counted != nil {
		return t.seenOnce(&counted.Seen, looksOf(p.Pod), &noTraits)
	}
	t.text = t.appendSeen(t.text[:0], looksOf(p.Pod), &noTraits)
	if a := t.asked; a != nil && a.text == string(t.text) { // often
		return a.text
	}
	if a := t.affinities[string(t.text)]; a != nil {
		return a.text
	}
	return string(t.text)
}

// seenOnce is seenAs with the text of before, if the same things are mentioned.
func (t *Tables) seenOnce(known *runner.Seen, p looks, traits *traits) string {
	if x := known.Load(); x != nil && x.Version == t.mentions.version {
		return x.Text
	}
	t.text = t.appendSeen(t.text[:0], p, traits)
	x := &runner.SeenText{Version: t.mentions.version}
	if last := known.Load(); last != nil && last.Text == string(t.text) {
		x.Text = last.Text
	} else {
		x.Text = string(t.text)
	}
	known.Store(x)
	return x.Text
}

func (t *Tables) appendSeen(b []byte, p looks, traits *traits) []byte {
	b = appendBool(match.AppendString(append(b, 0), p.namespace), p.terminating) // see apart for the 0
	return t.mentions.appendSeen(append(b, traits.own...), p.labels, traits.keys)
}

// represents reports whether the pod that was asked about first is still seen as the others.
func (a *Affinity) represents() bool {
	t := a.tables
	t.text = t.appendSeen(t.text[:0], a.looks, a.traits)
	return string(t.text) == a.seen
}
