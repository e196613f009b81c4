package topo

import (
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// A nodeSet is the set of nodes whose pods count: nodes that have some labels and,
// optionally, that a pod could use.
type nodeSet struct {
	owner *owner
	text  string // its key in Tables.setIndex
	rule  nodeRule
	bits  []uint64 // by slot
}

// A nodeRule is the condition of a nodeSet.
type nodeRule struct {
	labels      []string                    // keys of labels; the node must have all of them
	required    *match.RequiredNodeAffinity // the node must meet it; nil requires nothing
	taints      bool                        // the node must have no untolerated hard taint
	tolerations []api.Toleration
}

// trivial reports whether the rule requires at most one label.
func (r *nodeRule) trivial() bool { return len(r.labels) <= 1 && r.required == nil && !r.taints }

func (r *nodeRule) allows(n *api.Node) bool {
	for _, label := range r.labels {
		if _, ok := n.Labels[label]; !ok {
			return false
		}
	}
	if r.required != nil && !r.required.Match(n) {
		return false
	}
	return !r.taints || match.UntoleratedTaint(n.Spec.Taints, r.tolerations, false) == nil
}

func newNodeSet(o *owner, text string, rule nodeRule, s *framework.Snapshot) *nodeSet {
	set := &nodeSet{owner: o, text: text, rule: rule}
	if rule.required != nil {
		if names, limited := rule.required.Nodes(); limited {
			for _, name := range names {
				if n := s.Node(name); n != nil {
					set.put(n.Slot(), rule.allows(n.Node))
				}
			}
			return set
		}
	}
	for _, n := range s.All() {
		set.put(n.Slot(), rule.allows(n.Node))
	}
	return set
}

func (s *nodeSet) clone(o *owner) *nodeSet {
	return &nodeSet{owner: o, text: s.text, rule: s.rule, bits: slices.Clone(s.bits)}
}

func (s *nodeSet) has(slot int) bool {
	w := slot / 64
	return w < len(s.bits) && s.bits[w]>>(slot%64)&1 != 0
}

func (s *nodeSet) put(slot int, in bool) {
	for len(s.bits) <= slot/64 {
		s.bits = append(s.bits, 0)
	}
	if in {
		s.bits[slot/64] |= 1 << (slot % 64)
	} else {
		s.bits[slot/64] &^= 1 << (slot % 64)
	}
}

// appendStrings appends a list to a key with its length.
func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = match.AppendString(b, s)
	}
	return b
}
