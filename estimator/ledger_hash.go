package estimator

import (
	"math/bits"

	"github.com/berth-sched/berth/framework/api"
)

// podID returns a hash of the pod's identity.
func podID(p *api.Pod) uint64 {
	if p.UID != "" {
		return hash(firstFactor, string(p.UID))
	}
	return nameOf(p).hash()
}

func (n podName) hash() uint64 { return hash(hash(firstFactor, n.namespace), n.name) }

// Two random-looking factors with equal numbers of one and zero bits.
const (
	firstFactor  uint64 = 0x9e3779b97f4a7c15
	secondFactor uint64 = 0xd6e8feb86659fd93
)

// hash mixes s into h, eight bytes at a time, because every report at a new place
// needs the hash of its pod's name. Only the speed depends on the hash, never a
// result.
func hash(h uint64, s string) uint64 {
	h ^= uint64(len(s))
	switch n := len(s); {
	case n >= 8:
		for i := 0; i+8 < n; i += 8 {
			h = mix(h ^ eightBytes(s[i:]))
		}
		return mix(h ^ eightBytes(s[n-8:])) // may overlap bytes hashed before
	case n > 0:
		var last uint64
		for i := range n {
			last = last<<8 | uint64(s[i])
		}
		return mix(h ^ last)
	}
	return mix(h)
}

func mix(h uint64) uint64 {
	hi, lo := bits.Mul64(h^firstFactor, secondFactor)
	return hi ^ lo
}

// eightBytes returns the first eight bytes of s; the compiler turns it into one
// load.
func eightBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
