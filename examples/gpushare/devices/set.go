package devices

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A Set is a set of GPUs of one node, by number from 0 on.
type Set uint16

// Has reports whether GPU i is in the set.
func (s Set) Has(i int) bool { return s>>i&1 != 0 }

// Len is the number of GPUs.
func (s Set) Len() int { return bits.OnesCount16(uint16(s)) }

// String writes the set as the annotation gpu-index has it, such as "0-2".
func (s Set) String() string {
	var b []byte
	for i := range MaxGPUs {
		if s.Has(i) {
			if len(b) > 0 {
				b = append(b, '-')
			}
			b = strconv.AppendInt(b, int64(i), 10)
		}
	}
	return string(b)
}

// words says which GPUs a set names, such as "gpu 3" and "gpus 0-2".
func (s Set) words() string {
	switch s.Len() {
	case 0:
		return ""
	case 1:
		return single[bits.TrailingZeros16(uint16(s))]
	}
	return "gpus " + s.String()
}

// single holds the words for one GPU, so that most decisions need no memory for them.
var single = func() (words [MaxGPUs]string) {
	for i := range words {
		words[i] = "gpu " + strconv.Itoa(i)
	}
	return words
}()

// parseSet reads what String writes.
func parseSet(text string) (s Set, err error) {
	for part := range strings.SplitSeq(text, "-") {
		i, err := strconv.ParseUint(part, 10, 8)
		if err != nil || i >= MaxGPUs {
			return 0, fmt.Errorf("want numbers from 0 to %d, separated by -", MaxGPUs-1)
		}
		if s.Has(int(i)) {
			return 0, errors.New("a GPU is named twice")
		}
		s |= 1 << i
	}
	return s, nil
}
