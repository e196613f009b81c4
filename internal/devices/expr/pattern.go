package expr

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// maxPattern bounds the parts of all patterns of an expression. A compiled pattern takes
// memory, and a match time, for each part.
const maxPattern = 4096

// A pattern is a compiled pattern.
type pattern struct {
	re   *regexp.Regexp
	cost int // of a match, for each byte of text
}

// patternOf returns the compiled pattern of a text: one for all places of the expression
// that have the same. Nothing is compiled beyond the bound.
func (c *compiler) patternOf(text string) (*pattern, error) {
	if p := c.patterns[text]; p != nil {
		return p, nil
	}
	parts := roughParts(text)
	if c.parts+parts > maxPattern {
		return nil, errLargePatterns
	}
	size, err := patternSize(text)
	if err != nil {
		return nil, err
	}
	parts = max(parts, size)
	if c.parts+parts > maxPattern {
		return nil, errLargePatterns
	}
	c.parts += parts
	p := &pattern{cost: max(size, len(text)+1)}
	if p.re, err = regexp.Compile(text); err != nil {
		return nil, err
	}
	if c.patterns == nil {
		c.patterns = map[string]*pattern{}
	}
	c.patterns[text] = p
	return p, nil
}

// roughParts is about how many parts parsing itself makes of a pattern: some few bytes stand
// for a table of Unicode, and a range that ignores the case is folded character by
// character.
func roughParts(text string) int {
	const table, folded = 512, 2048
	n := table * (strings.Count(text, `\p`) + strings.Count(text, `\P`))
	if ignoresCase(text) && (strings.Contains(text, `\x`) || strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })) {
		n += folded * strings.Count(text, "-")
	}
	return n
}

// ignoresCase reports whether some part of a pattern may have the flag i.
func ignoresCase(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "(?")
		if !ok {
			return false
		}
		flags := rest[:len(rest)-len(strings.TrimLeft(rest, "imsU-"))]
		if strings.Contains(flags, "i") {
			return true
		}
		text = rest
	}
}

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
