package config

import (
	"bytes"
	"errors"
	"fmt"
)

// A cost bounds the memory, in bytes, that YAML text may take. The YAML library makes
// objects for every value before anything can be counted, so the text itself is judged.
type cost struct {
	entry   int // of an entry of a mapping
	value   int // of any other value
	free    int // any text may cost it, however short it is
	perByte int // a text may cost it for each of its bytes
	again   int // what an alias repeats costs one part in so many
}

// readCost is what the library and [YAMLToJSON] allocate.
var readCost = cost{entry: 400, value: 200, free: 4 << 20, perByte: 80, again: 4}

// loadCost is readCost for [Load]: configurations are short, and most of their values are
// words.
var loadCost = cost{entry: 400, value: 200, free: 1 << 20, perByte: 40, again: 4}

var (
	errUTF16  = errors.New("the text is UTF-16; write it as UTF-8")
	errTag    = errors.New("%TAG directives are not supported; write tags in full")
	errCrowds = errors.New("too many values for the size of the text")
)

// checkYAML rejects text that would take the YAML library far more memory than its
// size: a %TAG directive repeats its prefix for every tag, and a value may be one byte.
func checkYAML(data []byte, c cost) error {
	if bytes.HasPrefix(data, []byte{0xfe, 0xff}) || bytes.HasPrefix(data, []byte{0xff, 0xfe}) {
		return fmt.Errorf("line 1: %w", errUTF16)
	}
	if at := tagDirective(data); at >= 0 {
		return fmt.Errorf("line %d: %w", lineAt(data, at), errTag)
	}
	if at := tooDeep(data); at >= 0 { // such a text may have too many values, too
		return fmt.Errorf("line %d: %w", lineAt(data, at), errNesting)
	}
	if at, err := c.exceeded(data); err != nil {
		return fmt.Errorf("line %d: %w", lineAt(data, at), err)
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

// exceeded returns an error, and its place in the text, if its values cost more than the
// whole text may cost. It counts what may begin or end a value, so it counts at least as
// many values as there are, and then what aliases repeat.
func (c cost) exceeded(data []byte) (int, error) {
	sum, most := 0, c.free+c.perByte*len(data)
	blank := true // the line has no text so far
	for i, b := range data {
		switch b {
		case ':', '?':
			sum += c.entry
		case ',', '[', '{', '*', '&', '!':
			sum += c.value
		case '-':
			if i+1 == len(data) || isSpace(data[i+1]) {
				sum += c.value
			}
		case '\n', '\r':
			if !blank {
				sum += c.value
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
		if sum > most {
			return i, errCrowds
		}
	}
	if at := c.aliases(data, most-sum); at >= 0 {
		return at, ErrTooLarge
	}
	return 0, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
