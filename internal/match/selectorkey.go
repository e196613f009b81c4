package match

import "encoding/binary"

// AppendKey appends bytes that are equal for two selectors that ask for the
// same requirements in the same order, and for no others; a part of a longer
// key may follow.
func (s *LabelSelector) AppendKey(b []byte) []byte {
	if s.nothing {
		return append(b, 0)
	}
	b = binary.AppendUvarint(append(b, 1), uint64(len(s.requirements)))
	for i := range s.requirements {
		r := &s.requirements[i]
		b = appendString(append(b, byte(r.op)), r.key)
		b = binary.AppendUvarint(b, uint64(len(r.values)))
		for _, value := range r.values {
			b = appendString(b, value)
		}
	}
	return b
}

// appendString appends s to a key with its length, so that what follows cannot
// run into it.
func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
