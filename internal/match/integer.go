package match

import "math"

// parseInt reads a decimal int64 with an optional sign, like strconv.ParseInt with
// base 10. It allocates no error for other text.
func parseInt(s string) (int64, bool) {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if s == "" {
		return 0, false
	}
	// Accumulate negative numbers, because the smallest int64 has no positive
	// counterpart.
	var n int64
	for i := range len(s) {
		digit := int64(s[i]) - '0'
		if digit < 0 || digit > 9 || n < (math.MinInt64+digit)/10 {
			return 0, false
		}
		n = 10*n - digit
	}
	if negative {
		return n, true
	}
	return -n, n != math.MinInt64
}

// parseCanonicalInt reads an int64 in the form that strconv writes: no plus sign,
// no leading zeros, no "-0".
func parseCanonicalInt(s string) (int64, bool) {
	digits := s
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || digits[0] == '+' || digits[0] == '-' || digits[0] == '0' && s != "0" {
		return 0, false
	}
	return parseInt(s)
}
