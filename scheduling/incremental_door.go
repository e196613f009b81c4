package scheduling

import "hash/crc32"

// A door keeps classes out that have come once, while kept answers do not pay: most pods are like
// none before them then, and to note a class costs more than to look for it.
type door struct {
	closed bool // while a class is looked for
	seen   *[doorMost]uint32
}

// doorMost is how many keys are remembered. If two share a place, one is seen for the first time
// again, and so is a key that has the sum of another: neither changes an answer.
const doorMost = 4096

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// admits reports whether a class that is new may be noted, and how often it has come.
func (d *door) admits(key []byte) (came int, ok bool) {
	if !d.closed {
		return 0, true
	}
	if d.seen == nil {
		d.seen = new([doorMost]uint32)
	}
	sum := crc32.Checksum(key, castagnoli)
	at := &d.seen[sum%doorMost]
	if *at == sum|1 { // no sum is 0
		return 1, true
	}
	*at = sum | 1
	return 0, false
}
