package oracle

import (
	"math"
	"math/big"
)

func number(x int64) *big.Int { return big.NewInt(x) }

func times(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }

func plus(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }

func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// over divides and truncates toward zero.
func over(a, b *big.Int) *big.Int { return new(big.Int).Quo(a, b) }

// saturated returns x, or the nearer end of int64.
func saturated(x *big.Int) int64 {
	switch {
	case x.IsInt64():
		return x.Int64()
	case x.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// notNegative returns x, or 0 for a negative x.
func notNegative(x int64) int64 { return max(x, 0) }
