package scheduling

import "hash/crc32"

// newcomers are classes that have come once. While kept answers do not pay, they are not noted:
// most pods are like none before them then, and to note a class costs more than to look for it.
type newcomers struct {
	wait  bool // they do not pay: a class must come twice
	early bool // they have not begun: no class is noted
	seen  *[newcomersMost]uint32
}

// newcomersMost is how many keys are remembered. Of two that share a place, one is forgotten; of two
// with one sum, the other seems to have come before. Neither changes an answer.
const newcomersMost = 4096

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// admits reports whether the class of the pod at hand may be noted, and how often it has come.
func (f *incrementalPath) admits() (came int, ok bool) {
	if f.newcomers.wait && f.engine.HasInherited(f.wholeKey()) {
		return 0, true
	}
	return f.newcomers.admits(f.key)
}

// wholeKey is the key of the class of the pod at hand, as the engine has it: with what is live.
func (f *incrementalPath) wholeKey() []byte {
	f.whole = append(f.scratch.appendLiveKey(f.whole[:0]), f.key...)
	return f.whole
}

// admits reports whether a class that is new may be noted, and how often it has come.
func (n *newcomers) admits(key []byte) (came int, ok bool) {
	if !n.wait {
		return 0, true
	}
	if n.early {
		return 0, false
	}
	if n.seen == nil {
		n.seen = new([newcomersMost]uint32)
	}
	sum := crc32.Checksum(key, castagnoli)
	at := &n.seen[sum%newcomersMost]
	if *at == sum|1 { // no sum is 0
		return 1, true
	}
	*at = sum | 1
	return 0, false
}
