package resource

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

const (
	// maxText is the maximum length, in bytes, of a text for Parse.
	maxText = 1024
	// maxDigits bounds the values that Parse returns: they are below 10^maxDigits.
	maxDigits = 1000
	tooGreat  = "is 10^1000 or more"
)

// Parse reads a quantity: an optional sign, decimal digits with an optional decimal
// point, and an optional suffix.
//
//	n u m k M G T P E    powers of 1000, from 10^-9 to 10^18 (DecimalSI, as without a suffix)
//	Ki Mi Gi Ti Pi Ei    powers of 1024, from 2^10 to 2^60   (BinarySI)
//	e or E, then an integer    powers of ten                 (DecimalExponent)
//
// Parse rounds a part of the value below 10^-9 away from zero to a nano-unit, so a
// small amount never becomes nothing. With a binary suffix, values beyond 2^63-1 in
// magnitude become 2^63-1 or its negative, and values between -1 and 1 become
// DecimalSI. As in Kubernetes, digits may be missing ("+", ".", "Ki" are 0), but
// not before Pi, Ei or an exponent below -9.
//
// The error is a [*SyntaxError]. Parse allocates nothing if the value fits an int64
// in its unit. That unit is the coarsest of ones, thousandths, millionths and
// nano-units in which the value is whole.
//
// Differs: texts longer than 1,024 bytes, and values of 10^1000 or more.
// Original: Kubernetes reads them at any cost.
// Here: they are errors.
// Why: a text from anywhere must not cost more than microseconds.
//
// Differs: exponents that do not fit an int32.
// Original: Kubernetes takes them modulo 2^32.
// Here: they are errors.
// Why: another value than the written one helps nobody.
func Parse(text string) (Quantity, error) {
	if text == "" {
		return Quantity{}, syntaxError(text, "is empty")
	}
	if len(text) > maxText {
		return Quantity{}, syntaxError(text, "is longer than "+strconv.Itoa(maxText)+" bytes")
	}
	sign, rest := int64(1), text
	switch rest[0] {
	case '-':
		sign, rest = -1, rest[1:]
	case '+':
		rest = rest[1:]
	}
	var d decimal
	d.whole, rest = digits(rest)
	if rest != "" && rest[0] == '.' {
		d.fraction, rest = digits(rest[1:])
	}
	u, reason := suffix(rest)
	if reason != "" {
		return Quantity{}, syntaxError(text, reason)
	}
	if d == (decimal{}) && (u.exponent < -9 || u.shift > 40) {
		return Quantity{}, syntaxError(text, "has no digits")
	}
	if q, ok := d.small(u); ok {
		q.n *= sign
		return q, nil
	}
	nano, reason := d.nano(u)
	if reason != "" {
		return Quantity{}, syntaxError(text, reason)
	}
	if sign < 0 {
		nano.Neg(nano)
	}
	return written(fromNano(nano, u.format)), nil
}

// MustParse is [Parse] for constants in programs and tests: it panics if Parse
// returns an error.
func MustParse(text string) Quantity {
	q, err := Parse(text)
	if err != nil {
		panic("resource.MustParse: " + err.Error())
	}
	return q
}

// digits splits s after its leading decimal digits.
func digits(s string) (head, tail string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// unit is the meaning of a suffix: a factor of 10^exponent * 2^shift.
type unit struct {
	format   Format
	exponent int64
	shift    uint8
}

// suffix returns the meaning of s, or the reason why it has none.
func suffix(s string) (u unit, reason string) {
	if s == "" {
		return unit{}, ""
	}
	if len(s) > 1 && (s[0] == 'e' || s[0] == 'E') && s[1] != 'i' {
		e, err := strconv.ParseInt(s[1:], 10, 32)
		if err != nil {
			return unit{}, "has an exponent that is no 32-bit integer"
		}
		return unit{format: DecimalExponent, exponent: e}, ""
	}
	for i, known := range decimalSuffix {
		if s == known {
			return unit{format: DecimalSI, exponent: 3 * int64(i-nanoPower)}, ""
		}
	}
	for i, known := range binarySuffix {
		if s == known {
			return unit{format: BinarySI, shift: uint8(10 * i)}, ""
		}
	}
	return unit{}, "does not consist of a number and a suffix of Kubernetes"
}

// decimal is an unsigned number as written: the digits before the point and the
// digits after it.
type decimal struct {
	whole, fraction string
}

// small returns d in units of u if the result needs no big.Int.
func (d decimal) small(u unit) (q Quantity, ok bool) {
	var m int64
	for _, part := range [...]string{d.whole, d.fraction} {
		for i := range len(part) {
			if m > (math.MaxInt64-9)/10 {
				return Quantity{}, false
			}
			m = 10*m + int64(part[i]-'0')
		}
	}
	if m == 0 {
		return Quantity{f: u.format}, true
	}
	if m > math.MaxInt64>>u.shift {
		return Quantity{}, false
	}
	m <<= u.shift

	// The value is m * 10^e. Make m or e so that e is 0, -3, -6 or -9.
	e := u.exponent - int64(len(d.fraction))
	for e < 0 && m%10 == 0 {
		m /= 10
		e++
	}
	var p uint8
	if e < 0 {
		if e < -9 {
			return Quantity{}, false
		}
		p = uint8((2 - e) / 3)
		e += 3 * int64(p)
	}
	for ; e > 0; e-- {
		if m > math.MaxInt64/10 {
			return Quantity{}, false
		}
		m *= 10
	}
	return written(Quantity{n: m, p: p, f: u.format}), true
}

// nano returns d, which must not be 0, in units of u, as nano-units rounded up. If
// the value is out of range, it returns the reason.
func (d decimal) nano(u unit) (v *big.Int, reason string) {
	text := strings.TrimLeft(d.whole+d.fraction, "0")
	e := u.exponent - int64(len(d.fraction))
	magnitude := int64(len(text)) + e // number of digits before the point
	if magnitude > maxDigits {
		return nil, tooGreat
	}
	v, _ = new(big.Int).SetString(text, 10) // digits, and at least one of them
	v.Lsh(v, uint(u.shift))

	e += 9
	switch {
	case e >= 0:
		v.Mul(v, power(e))
	case -e >= int64(len(text))+19: // v is below 10^len(text) * 2^60, so below 10^-e
		v.SetInt64(1)
	default:
		rest := new(big.Int)
		v.QuoRem(v, power(-e), rest)
		v.Add(v, big.NewInt(int64(rest.Sign())))
	}
	if u.format == BinarySI {
		if limit := New(math.MaxInt64, BinarySI).nano(); v.Cmp(limit) > 0 {
			v = limit
		}
	}
	if magnitude == maxDigits && v.Cmp(power(maxDigits+9)) >= 0 { // rounded up to the bound
		return nil, tooGreat
	}
	return v, ""
}

// written returns q, read from a text, in the notation to keep: a value between -1
// and 1 with a fraction is not binary.
func written(q Quantity) Quantity {
	if q.f == BinarySI && q.p > 0 && -thousand[q.p] < q.n && q.n < thousand[q.p] {
		q.f = DecimalSI
	}
	return q
}
