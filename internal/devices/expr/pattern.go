package expr

import "regexp/syntax"

// maxPattern bounds the parts of a pattern. A compiled pattern takes memory, and a match
// time, for each part.
const maxPattern = 4096

// patternSize returns how many parts a pattern has: characters, ranges of characters, and
// operators. What is repeated counts as often as it may be there, because the compiled
// pattern repeats it: x{1000} has a thousand parts.
func patternSize(text string) (int, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return partsOf(re), nil
}

// partsOf stops to count beyond maxPattern, so that no product overflows.
func partsOf(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpRepeat:
		return partsOf(re.Sub[0]) * max(1, re.Min, re.Max)
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n = 1 + len(re.Rune)/2
	default:
		for _, sub := range re.Sub {
			if n += partsOf(sub); n > maxPattern {
				return n
			}
		}
	}
	return n
}
