package config

import (
	"bytes"
	"errors"
	"fmt"
)

// The bounds of YAML text. The YAML library makes objects for every value before
// anything can be counted, so the text itself is judged.
const (
	// entryCost and valueCost are what the library and [YAMLToJSON] allocate for an
	// entry of a mapping and for any other value, in bytes.
	entryCost, valueCost = 400, 200
	// freeCost is what any text may cost, however short it is.
	freeCost = 4 << 20
	// mostCost is what a text may cost for each of its bytes.
	mostCost = 80
)

var (
	errUTF16  = errors.New("the text is UTF-16; write it as UTF-8")
	errTag    = errors.New("%TAG directives are not supported; write tags in full")
	errCrowds = errors.New("too many values for the size of the text")
)

// checkYAML rejects text that would take the YAML library far more memory than its
// size: a %TAG directive repeats its prefix for every tag, and a value may be one byte.
func checkYAML(data []byte) error {
	if bytes.HasPrefix(data, []byte{0xfe, 0xff}) || bytes.HasPrefix(data, []byte{0xff, 0xfe}) {
		return fmt.Errorf("line 1: %w", errUTF16)
	}
	if at := tagDirective(data); at >= 0 {
		return fmt.Errorf("line %d: %w", lineAt(data, at), errTag)
	}
	if at := crowd(data); at >= 0 {
		return fmt.Errorf("line %d: %w", lineAt(data, at), errCrowds)
	}
	if at := tooDeep(data); at >= 0 {
		return fmt.Errorf("line %d: %w", lineAt(data, at), errNesting)
	}
	return nil
}

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte{'\n'}) }

// tagDirective returns the place of the first line that begins with %TAG, or -1. YAML
// ends lines also with a carriage return and with three characters beyond ASCII.
func tagDirective(data []byte) int {
	name := []byte("%TAG")
	for from := 0; ; {
		i := bytes.Index(data[from:], name)
		if i < 0 {
			return -1
		}
		at := from + i
		if at == 0 {
			return at
		}
		switch data[at-1] {
		case '\n', '\r', 0x85, 0xa8, 0xa9, 0xbf: // the last byte of a line end, or of the byte order mark
			return at
		}
		from = at + len(name)
	}
}

// crowd returns the place in the text where its values cost more than the whole text
// may cost, or -1. It counts what may begin or end a value, so it counts at least as
// many values as there are.
func crowd(data []byte) int {
	cost, most := 0, freeCost+mostCost*len(data)
	blank := true // the line has no text so far
	for i, c := range data {
		switch c {
		case ':', '?':
			cost += entryCost
		case ',', '[', '{', '*', '&', '!':
			cost += valueCost
		case '-':
			if i+1 == len(data) || isSpace(data[i+1]) {
				cost += valueCost
			}
		case '\n', '\r':
			if !blank {
				cost += valueCost
			}
			blank = true
			continue
		case '#':
			if blank {
				continue // a comment; what it holds is counted
			}
		case ' ', '\t':
			continue
		}
		blank = false
		if cost > most {
			return i
		}
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
