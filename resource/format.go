package resource

import (
	"math/big"
	"strconv"
)

// Format is the notation of a [Quantity].
type Format uint8

// The notations of Kubernetes.
const (
	// DecimalSI counts in powers of 1000: 100m, 2, 5k, 10G.
	DecimalSI Format = iota
	// BinarySI counts in powers of 1024: 500Mi, 2Gi.
	BinarySI
	// DecimalExponent counts in powers of ten: 5e3, 1e-6.
	DecimalExponent
)

// String returns Kubernetes' name of f.
func (f Format) String() string {
	switch f {
	case DecimalSI:
		return "DecimalSI"
	case BinarySI:
		return "BinarySI"
	case DecimalExponent:
		return "DecimalExponent"
	}
	return "Format(" + strconv.Itoa(int(f)) + ")"
}

// The suffixes of the two SI notations, from the smallest on. decimalSuffix[3]
// and binarySuffix[0] stand for single units.
var (
	decimalSuffix = [...]string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	binarySuffix  = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

// String returns the canonical text of q: a whole number, in digits without
// leading zeros, and the greatest suffix of the notation that keeps it whole.
// 0 is "0". In [BinarySI], values with a fraction and values between -1024 and 1024
// print in DecimalSI, which shows them exactly.
//
// Parse reads the text back as the same value, unless the value is a sum in
// BinarySI beyond Parse's limit for such texts.
//
// Differs: values of 1000E and 1024Ei and above (sums reach both, and 1000E is also a
// valid text).
// Original: Kubernetes has no suffix above E and Ei, and prints "1".
// Here: the number grows.
// Why: the text must read back as the value.
//
// Differs: texts that are not canonical (+1Ki, 0100m, 1.500, 1E3).
// Original: Kubernetes prints them as written until the first arithmetic.
// Here: they are canonical at once.
// Why: equal values must print alike.
//
// Differs: the smallest int64 in BinarySI.
// Original: Kubernetes prints it in digits or as -8Ei, depending on its origin.
// Here: it is always -8Ei.
// Why: equal values must print alike.
func (q Quantity) String() string {
	var buf [32]byte
	return string(q.appendTo(buf[:0]))
}

// appendTo appends the canonical text of q to dst.
func (q Quantity) appendTo(dst []byte) []byte {
	if q.b != nil {
		return q.appendBig(dst)
	}
	n := q.n
	if q.f == BinarySI && q.p == 0 && (n <= -1024 || n >= 1024) {
		i := 0
		for ; n%1024 == 0; i++ { // at most 6 times: n is below 1024^7
			n /= 1024
		}
		dst = strconv.AppendInt(dst, n, 10)
		return append(dst, binarySuffix[i]...)
	}
	step := -int(q.p) // n counts units of 1000^step
	for n != 0 && n%1000 == 0 {
		n /= 1000
		step++
	}
	dst = strconv.AppendInt(dst, n, 10)
	return q.appendStep(dst, step)
}

// appendBig appends the canonical text of q, whose value is in b.
func (q Quantity) appendBig(dst []byte) []byte {
	if q.f == BinarySI {
		if v, rest := new(big.Int).QuoRem(q.b, big.NewInt(thousand[nanoPower]), new(big.Int)); rest.Sign() == 0 {
			v, i := divideOut(v, 1024, len(binarySuffix)-1)
			dst = v.Append(dst, 10)
			return append(dst, binarySuffix[i]...)
		}
	}
	limit := len(decimalSuffix) - 1
	if q.f == DecimalExponent {
		limit = q.b.BitLen() // no limit: each step takes off more than a bit
	}
	v, i := divideOut(q.b, 1000, limit)
	return q.appendStep(v.Append(dst, 10), i-nanoPower)
}

// appendStep appends the suffix that multiplies by 1000^step.
func (q Quantity) appendStep(dst []byte, step int) []byte {
	switch {
	case q.f != DecimalExponent:
		return append(dst, decimalSuffix[step+nanoPower]...)
	case step != 0:
		dst = append(dst, 'e')
		return strconv.AppendInt(dst, 3*int64(step), 10)
	}
	return dst
}

// divideOut divides v by d as long as no rest remains, at most limit times. It
// returns the quotient and the number of divisions, and leaves v unchanged. v must
// not be 0, and d must not be 1.
func divideOut(v *big.Int, d int64, limit int) (*big.Int, int) {
	by, i := big.NewInt(d), 0
	for ; i < limit; i++ {
		q, rest := new(big.Int).QuoRem(v, by, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		v = q
	}
	return v, i
}
