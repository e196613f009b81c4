package topo

import (
	"maps"
	"slices"
)

// none is the domain of a node without a domain.
const none int32 = -1

// A key is a topology key: it assigns nodes to domains. The numbers of domains
// without nodes are reused.
type key struct {
	owner  *owner
	label  string
	single bool             // no label: every node is a domain of its own
	empty  int32            // domain of the empty value, kept without nodes; none if not needed
	domain []int32          // by slot
	values map[string]int32 // by label value
	free   []int32          // domains without nodes

	// The nodes of a domain, as linked lists.
	first []int32 // by domain: a slot, or none if the domain has no node
	next  []int32 // by slot: the next slot of the same domain
}

func newKey(o *owner, label string, single bool) *key {
	return &key{owner: o, label: label, single: single, empty: none, values: map[string]int32{}}
}

func (k *key) clone(o *owner) *key {
	c := *k
	c.owner = o
	c.domain, c.first, c.next, c.free = slices.Clone(k.domain), slices.Clone(k.first), slices.Clone(k.next), slices.Clone(k.free)
	c.values = maps.Clone(k.values)
	return &c
}

// name is the key's name in Tables.keyIndex: the prefix "=" marks label keys.
func (k *key) name() string {
	if k.single {
		return ""
	}
	return "=" + k.label
}

// of returns the domain of the slot's node.
func (k *key) of(slot int) int32 {
	if slot >= len(k.domain) {
		return none
	}
	return k.domain[slot]
}

// add puts a node into its domain; a node without the label has none. A key that no node
// has takes no memory for each node: anybody can name such keys.
func (k *key) add(slot int, labels map[string]string) {
	d := int32(slot)
	if k.single {
		for len(k.first) <= slot {
			k.first = append(k.first, none)
		}
	} else {
		value, ok := labels[k.label]
		if !ok {
			return
		}
		if d, ok = k.values[value]; !ok {
			d = k.take()
			k.values[value] = d
		}
	}
	for len(k.domain) <= slot {
		k.domain, k.next = append(k.domain, none), append(k.next, none)
	}
	k.domain[slot], k.next[slot], k.first[d] = d, k.first[d], int32(slot)
}

func (k *key) take() int32 {
	if last := len(k.free) - 1; last >= 0 {
		d := k.free[last]
		k.free = k.free[:last]
		return d
	}
	k.first = append(k.first, none)
	return int32(len(k.first) - 1)
}

// keepEmpty makes sure that the empty value has a domain, with or without nodes.
func (k *key) keepEmpty() {
	if k.empty != none {
		return
	}
	d, ok := k.values[""]
	if !ok {
		d = k.take()
		k.values[""] = d
	}
	k.empty = d
}

// remove removes a node from its domain.
func (k *key) remove(slot int, labels map[string]string) {
	d := k.of(slot)
	if d == none {
		return
	}
	at := &k.first[d]
	for *at != int32(slot) {
		at = &k.next[*at]
	}
	*at = k.next[slot]
	k.domain[slot], k.next[slot] = none, none
	if k.first[d] == none && !k.single && d != k.empty {
		delete(k.values, labels[k.label])
		k.free = append(k.free, d)
	}
}

// hasNodes reports whether a node has the key.
func (k *key) hasNodes() bool {
	alone := len(k.values) == 1 && k.empty != none // the domain of the empty value
	return k.single || len(k.values) > 0 && !(alone && k.first[k.empty] == none)
}

// each calls f for the slot of every node in the domain.
func (k *key) each(d int32, f func(slot int)) {
	for slot := k.first[d]; slot != none; slot = k.next[slot] {
		f(int(slot))
	}
}
