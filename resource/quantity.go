package resource

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Format is the notation in which a Quantity is printed.
type Format uint8

// The notations of Kubernetes.
const (
	DecimalSI Format = iota
	BinarySI
	DecimalExponent
)

// Quantity is an exact number with a notation. The zero value is 0.
type Quantity struct {
	nano   *big.Int
	format Format
}

// SyntaxError tells why a text is no quantity.
type SyntaxError struct{ Text, Reason string }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("resource: quantity %q: %s", e.Text, e.Reason)
}

var suffixes = map[string]struct {
	e      int64
	binary bool
}{"n": {-9, false}, "u": {-6, false}, "m": {-3, false}, "": {0, false}, "k": {3, false}, "M": {6, false}, "G": {9, false},
	"T": {12, false}, "P": {15, false}, "E": {18, false}, "Ki": {10, true}, "Mi": {20, true}, "Gi": {30, true}, "Ti": {40, true},
	"Pi": {50, true}, "Ei": {60, true}}

// Parse reads a quantity.
func Parse(s string) (Quantity, error) {
	num := strings.TrimRight(s, "numkMGTPEKi")
	if len(s) > 300 {
		return Quantity{}, &SyntaxError{s[:40], "too long"}
	}
	suf, ok := suffixes[s[len(num):]]
	r, ok2 := new(big.Rat).SetString(num)
	if !ok || !ok2 || num == "" || strings.ContainsAny(num, "_/xXpPbo") {
		return Quantity{}, &SyntaxError{s, "malformed"}
	}
	f := DecimalSI
	switch {
	case suf.binary:
		r.Mul(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(suf.e))))
		f = BinarySI
	case suf.e < 0:
		r.Quo(r, new(big.Rat).SetInt(pow10(-suf.e)))
	default:
		r.Mul(r, new(big.Rat).SetInt(pow10(suf.e)))
	}
	r.Mul(r, new(big.Rat).SetInt(pow10(9)))
	return Quantity{up(r.Num(), r.Denom()), f}, nil
}

func pow10(e int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(e), nil) }

func up(n, d *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(n, d, new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// MustParse is Parse for constants; it panics where Parse returns an error.
func MustParse(s string) Quantity {
	q, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return q
}

// New returns v in notation f.
func New(v int64, f Format) Quantity {
	return Quantity{new(big.Int).Mul(big.NewInt(v), pow10(9)), f}
}

// Milli returns v thousandths.
func Milli(v int64) Quantity { return Quantity{new(big.Int).Mul(big.NewInt(v), pow10(6)), DecimalSI} }

func (q Quantity) n() *big.Int {
	if q.nano == nil {
		return new(big.Int)
	}
	return q.nano
}

func (q Quantity) scaled(e int64) int64 {
	v := up(q.n(), pow10(e))
	if v.IsInt64() {
		return v.Int64()
	}
	if v.Sign() > 0 {
		return math.MaxInt64
	}
	return math.MinInt64
}

// Value returns q rounded up.
func (q Quantity) Value() int64 { return q.scaled(9) }

// MilliValue returns thousandths rounded up.
func (q Quantity) MilliValue() int64 { return q.scaled(6) }

// Sign returns -1, 0 or 1.
func (q Quantity) Sign() int { return q.n().Sign() }

// Cmp compares q and o.
func (q Quantity) Cmp(o Quantity) int { return q.n().Cmp(o.n()) }

// Equal reports whether q and o are the same number.
func (q Quantity) Equal(o Quantity) bool { return q.Cmp(o) == 0 }

// IsZero reports whether q is 0.
func (q Quantity) IsZero() bool { return q.Sign() == 0 }

// Format returns the notation.
func (q Quantity) Format() Format { return q.format }

// Add returns q + o.
func (q Quantity) Add(o Quantity) Quantity {
	return Quantity{new(big.Int).Add(q.n(), o.n()), q.format}
}

// Sub returns q - o.
func (q Quantity) Sub(o Quantity) Quantity {
	return Quantity{new(big.Int).Sub(q.n(), o.n()), q.format}
}

// Neg returns -q.
func (q Quantity) Neg() Quantity { return Quantity{new(big.Int).Neg(q.n()), q.format} }

// String returns the canonical text.
func (q Quantity) String() string {
	v := new(big.Int).Set(q.n())
	if v.Sign() == 0 {
		return "0"
	}
	if q.format == BinarySI {
		names := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
		w, m := new(big.Int).QuoRem(v, pow10(9), new(big.Int))
		if m.Sign() == 0 && w.CmpAbs(big.NewInt(1024)) >= 0 {
			i := 0
			for ; i < 6; i++ {
				d, m := new(big.Int).QuoRem(w, big.NewInt(1024), new(big.Int))
				if m.Sign() != 0 {
					break
				}
				w = d
			}
			return w.String() + names[i]
		}
	}
	names := []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	i := 0
	for ; i < 9; i++ {
		d, m := new(big.Int).QuoRem(v, big.NewInt(1000), new(big.Int))
		if m.Sign() != 0 {
			break
		}
		v = d
	}
	return v.String() + names[i]
}

// MarshalJSON returns the canonical text as a JSON string.
func (q Quantity) MarshalJSON() ([]byte, error) { return json.Marshal(q.String()) }

// UnmarshalJSON reads a string, a number or null.
func (q *Quantity) UnmarshalJSON(b []byte) error {
	s := string(b)
	if s == "null" {
		*q = Quantity{}
		return nil
	}
	p, err := Parse(strings.Trim(s, `"`))
	*q = p
	return err
}
