package topo

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/berth-sched/berth/internal/match"
)

// A need is a label that a selector requires: with one of the values or, without
// values, with any.
type need struct {
	key    string
	values []string
}

// needsOf returns the labels that a selector requires. Requirements that pods
// without the label may meet are left out.
//
// It reads the key of the selector, in which operators have these numbers.
func needsOf(s *match.LabelSelector) (needs []need) {
	const in, exists = 0, 2
	b := s.AppendKey(nil)
	if b[0] == 0 {
		return nil
	}
	b = b[1:]
	number := func() int {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return int(n)
	}
	text := func() string {
		n := number()
		s := string(b[:n])
		b = b[n:]
		return s
	}
	for range number() {
		op := b[0]
		b = b[1:]
		n := need{key: text()}
		for range number() {
			n.values = append(n.values, text())
		}
		switch {
		case op == exists:
			n.values = nil
		case op != in || len(n.values) == 0:
			continue
		}
		needs = append(needs, n)
	}
	return needs
}

// A target says where to look for the pods that a selector may match.
type target struct {
	never     bool   // matches no pod
	single    bool   // matches pods of one namespace only
	namespace string // if single
	needs     []need
}

// size is how many labels lead to the target's pods. One without any leads to all pods.
func (t *target) size() (n int) {
	for _, need := range t.needs {
		n += len(need.values)
	}
	if n == 0 {
		return math.MaxInt
	}
	return n
}

// maxTargets is how many parts of a set lead to its pods. A pod with n required terms has n
// counters of a set with n parts.
const maxTargets = 8

// targets returns the targets of the parts to which the fewest labels lead: a pod of the set matches all
// of them, and perhaps others do. They are found once, before goroutines share the set.
func (s *podSet) targets() []target {
	if s.leads == nil {
		s.leads = s.findTargets()
	}
	return s.leads
}

func (s *podSet) findTargets() []target {
	list := make([]target, 0, min(len(s.parts), maxTargets)+1)
	for i := range s.parts {
		part := &s.parts[i]
		t := part.target()
		if t.never {
			return []target{t}
		}
		size := t.size()
		at := slices.IndexFunc(list, func(x target) bool { return x.size() > size })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, t)
		list = list[:min(len(list), maxTargets)]
	}
	return list
}

// target returns where to look for pods of the part.
func (p *podPart) target() target {
	if p.selected == nil {
		return targetOf(&p.pods, p.namespaces, p.everywhere)
	}
	if len(p.namespaces) == 0 && p.selected.count == 1 {
		return targetOf(&p.pods, slices.Collect(p.selected.all), false)
	}
	return targetOf(&p.pods, nil, true)
}

// target returns where to look for pods that the term may match.
func (t *Term) target() target {
	return targetOf(&t.pods, t.namespaces, !t.selected.SelectsNothing())
}

// Selected says which pods the term may match: those of the namespace, where "" is any, with one
// of the values of a label, or with any value if there are none. If key is "", they need no label.
// It is not ok if the term matches no pod.
func (t *Term) Selected() (namespace, key string, values []string, ok bool) {
	x := t.target()
	for i, n := range x.needs {
		if i == 0 || len(n.values) > 0 && (len(values) == 0 || len(n.values) < len(values)) {
			key, values = n.key, n.values
		}
	}
	return x.namespace, key, values, !x.never
}

func targetOf(pods *match.LabelSelector, namespaces []string, more bool) target {
	t := target{never: pods.SelectsNothing() || len(namespaces) == 0 && !more}
	if !t.never {
		t.needs = needsOf(pods)
	}
	if len(namespaces) == 1 && !more {
		t.single, t.namespace = true, namespaces[0]
	}
	return t
}

// The index of selectors puts each under one thing that its pods have. These are the
// kinds of things; withNamespace is added for pods of one namespace.
const (
	anyLabels byte = iota
	labelKey
	labelValue
	withNamespace
	anchorKinds = 2 * withNamespace
)

// appendAnchor appends the text of a thing that pods may have.
func appendAnchor(b []byte, kind byte, namespace, key, value string) []byte {
	b = append(b, kind)
	if kind >= withNamespace {
		b = match.AppendString(b, namespace)
	}
	if kind%withNamespace != anyLabels {
		b = match.AppendString(b, key)
	}
	if kind%withNamespace == labelValue {
		b = append(b, value...)
	}
	return b
}

// labelText identifies a label in Tables.labels.
func labelText(b []byte, key, value string) []byte {
	return append(match.AppendString(b, key), value...)
}

// A selectorIndex finds the counters whose selectors may match a pod.
type selectorIndex struct {
	index
	kinds [anchorKinds]int // number of entries of each kind
}

// put puts a counter under the requirement that fewest other counters and pods
// have, and returns its texts.
func (x *selectorIndex) put(t *Tables, id int32, targets []target) []string {
	var texts []string
	best := -1
	for i := range targets {
		g := &targets[i]
		if g.never {
			return nil
		}
		add := byte(0)
		if g.single {
			add = withNamespace
		}
		try := func(kind byte, needs ...need) {
			var list []string
			cost := 0
			for _, n := range needs {
				values := n.values
				if kind != labelValue {
					values = []string{""}
				}
				for _, value := range values {
					b := appendAnchor(t.text[:0], kind+add, g.namespace, n.key, value)
					list = append(list, string(b))
					cost += x.index.count(b)
					if kind == labelValue {
						b = labelText(b[:0], n.key, value)
						cost += t.labels.count(b)
					} else {
						cost += len(t.classes)
					}
					t.text = b
				}
			}
			if best < 0 || cost < best {
				best, texts = cost, list
			}
		}
		for _, n := range g.needs {
			if n.values != nil {
				try(labelValue, n)
			} else {
				try(labelKey, n)
			}
		}
		if len(g.needs) == 0 {
			try(anyLabels, need{})
		}
	}
	for _, text := range texts {
		x.add(t.owner, text, id)
		x.kinds[text[0]]++
	}
	return texts
}

func (x *selectorIndex) drop(o *owner, id int32, texts []string) {
	for _, text := range texts {
		x.remove(o, text, id)
		x.kinds[text[0]]--
	}
}

// find appends the counters whose selectors may match a pod, in ascending order.
func (x *selectorIndex) find(t *Tables, list []int32, p looks) []int32 {
	from := len(list)
	look := func(kind byte, key, value string) {
		for _, namespace := range [...]byte{0, withNamespace} {
			if x.kinds[kind+namespace] > 0 {
				t.text = appendAnchor(t.text[:0], kind+namespace, p.namespace, key, value)
				list = x.appendTo(list, t.text)
			}
		}
	}
	look(anyLabels, "", "")
	for key, value := range p.labels {
		look(labelKey, key, "")
		look(labelValue, key, value)
	}
	slices.Sort(list[from:])
	return list
}

// candidates appends the classes that may be in a set of pods.
func (t *Tables) candidates(list []int32, targets []target) []int32 {
	var best *need
	least := 0
	for i := range targets {
		if targets[i].never {
			return list
		}
		for k := range targets[i].needs {
			n := &targets[i].needs[k]
			if n.values == nil {
				continue
			}
			count := 0
			for _, value := range n.values {
				t.text = labelText(t.text[:0], n.key, value)
				count += t.labels.count(t.text)
			}
			if best == nil || count < least {
				best, least = n, count
			}
		}
	}
	if best == nil {
		for id, c := range t.classes {
			if c != nil {
				list = append(list, int32(id))
			}
		}
		return list
	}
	from := len(list)
	for _, value := range best.values {
		t.text = labelText(t.text[:0], best.key, value)
		list = t.labels.appendTo(list, t.text)
	}
	slices.Sort(list[from:])
	return slices.Compact(list)
}
