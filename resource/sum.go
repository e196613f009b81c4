package resource

import (
	"math/big"
	"math/bits"
)

// A Sum adds up quantities exactly, several times as fast as [Quantity.Add]: it
// adds numbers of one power directly, and combines the powers at the end. The zero
// value is an empty sum, and ready to use. A Sum must not be copied after the first
// Add.
type Sum struct {
	parts [nanoPower + 1]sumPart // by power: sum of Quantity.n
	big   *big.Int               // sum of Quantity.b, in nano-units
}

// A sumPart is a sum of int64s that is exact in 128 bits.
type sumPart struct {
	hi int64
	lo uint64
}

// Add adds q.
func (s *Sum) Add(q Quantity) {
	if q.b != nil {
		if s.big == nil {
			s.big = new(big.Int)
		}
		s.big.Add(s.big, q.b)
		return
	}
	part := &s.parts[q.p]
	lo, carry := bits.Add64(part.lo, uint64(q.n), 0)
	part.lo, part.hi = lo, part.hi+q.n>>63+int64(carry)
}

// Quantity returns the sum, in [DecimalSI].
func (s *Sum) Quantity() Quantity {
	var total Quantity
	for p, part := range s.parts {
		switch {
		case part.hi != int64(part.lo)>>63:
			return s.nano()
		case part.lo != 0:
			total = total.Add(reduced(int64(part.lo), uint8(p), DecimalSI))
		}
	}
	if s.big != nil {
		total = total.Add(fromNano(new(big.Int).Set(s.big), DecimalSI))
	}
	return total
}

// nano adds up the parts if one is too large for an int64.
func (s *Sum) nano() Quantity {
	total := new(big.Int)
	if s.big != nil {
		total.Set(s.big)
	}
	for p, part := range s.parts {
		b := big.NewInt(part.hi)
		b.Lsh(b, 64)
		b.Add(b, new(big.Int).SetUint64(part.lo))
		total.Add(total, b.Mul(b, big.NewInt(thousand[nanoPower-p])))
	}
	return fromNano(total, DecimalSI)
}
