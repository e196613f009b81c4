package match

import (
	"encoding/binary"

	"github.com/berth-sched/berth/framework/api"
)

// AppendKey appends a key of the selector. Two keys are equal only if the selectors
// have the same requirements in the same order. More key parts may follow it.
func (s *LabelSelector) AppendKey(b []byte) []byte {
	if s.nothing {
		return append(b, 0)
	}
	b = binary.AppendUvarint(append(b, 1), uint64(len(s.requirements)))
	for i := range s.requirements {
		r := &s.requirements[i]
		b = AppendString(append(b, byte(r.op)), r.key)
		b = binary.AppendUvarint(b, uint64(len(r.values)))
		for _, value := range r.values {
			b = AppendString(b, value)
		}
	}
	return b
}

// AppendNodeSelectorKey appends a key of a node selector. Two keys are equal only if the selectors have
// the same terms in the same order. More key parts may follow it.
func AppendNodeSelectorKey(b []byte, s *api.NodeSelector) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.NodeSelectorTerms)))
	for i := range s.NodeSelectorTerms {
		for _, list := range [2][]api.NodeSelectorRequirement{s.NodeSelectorTerms[i].MatchExpressions, s.NodeSelectorTerms[i].MatchFields} {
			b = binary.AppendUvarint(b, uint64(len(list)))
			for k := range list {
				r := &list[k]
				b = AppendString(AppendString(b, r.Key), string(r.Operator))
				b = binary.AppendUvarint(b, uint64(len(r.Values)))
				for _, value := range r.Values {
					b = AppendString(b, value)
				}
			}
		}
	}
	return b
}

// AppendString appends s to a key with its length, so that it cannot blend with the
// next part.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
