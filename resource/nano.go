package resource

import "math/big"

// nano returns q in nano-units. The caller must not write to the result, because q
// may hold it.
func (q Quantity) nano() *big.Int {
	if q.b != nil {
		return q.b
	}
	b := big.NewInt(q.n)
	return b.Mul(b, big.NewInt(thousand[nanoPower-q.p]))
}

// fromNano returns b nano-units in their only valid representation. It may keep b,
// so the caller must not write to b afterwards.
func fromNano(b *big.Int, f Format) Quantity {
	v, rest := new(big.Int), new(big.Int)
	for p := range uint8(nanoPower + 1) {
		v.QuoRem(b, big.NewInt(thousand[nanoPower-p]), rest)
		if rest.Sign() != 0 {
			continue
		}
		if v.IsInt64() {
			return Quantity{n: v.Int64(), p: p, f: f}
		}
		break
	}
	return Quantity{b: b, f: f}
}

// power returns 10^e.
func power(e int64) *big.Int {
	p, factor := big.NewInt(1), big.NewInt(1e18)
	for ; e >= 18; e -= 18 {
		p.Mul(p, factor)
	}
	for factor.SetInt64(10); e > 0; e-- {
		p.Mul(p, factor)
	}
	return p
}
