package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"

	"github.com/berth-sched/berth/internal/errtext"
)

// yamlFault returns the error of the YAML library about a document of a stream, counted from
// 0, with its line: "line 7: ...". The library tells the lines of some errors only.
func yamlFault(data []byte, number int, err error) error {
	if err == errNotFinite {
		return notFinite(documentOf(data, number))
	}
	line, text := cutLine(err.Error())
	if line == 0 {
		line = faultLine(data, number, text)
	}
	if errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return fmt.Errorf("line %d: %s", line, errtext.Cut(strings.TrimPrefix(text, "yaml: "), maxFaultText))
}

// maxFaultText bounds the text of the YAML library, which repeats keys and values however long they are.
const maxFaultText = 1 << 10

// faultLine finds the line of an error without one.
func faultLine(data []byte, number int, text string) int {
	start := documentOf(data, number).line
	switch {
	case strings.Contains(text, "control characters"), strings.Contains(text, "UTF-8"), strings.Contains(text, "Unicode"):
		return lineAt(data, max(unreadable(data), 0))
	case strings.Contains(text, "excessive aliasing"), strings.Contains(text, ErrTooLarge.Error()):
		return tokenLine(data, start, func(token string) bool { return token[0] == '*' })
	}
	line := max(traced(data, number), start)
	switch _, anchor, about := strings.Cut(text, "anchor '"); {
	case about:
		anchor, _, _ = strings.Cut(anchor, "'")
		return tokenLine(data, line, func(token string) bool { return token == "*"+anchor })
	case strings.Contains(text, "map merge requires"):
		return tokenLine(data, line, func(token string) bool { return token == "<<" })
	case strings.Contains(text, "!!"): // a tag that does not suit its value
		_, tag, _ := strings.Cut(text[strings.LastIndex(text, "!!"):], "!!")
		tag, _, _ = strings.Cut(tag, " ")
		return tokenLine(data, line, func(token string) bool { return token[0] == '!' && strings.Contains(token, tag) })
	}
	return line
}

// unreadable returns the place of the first byte that YAML does not allow in a text, or -1.
func unreadable(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		switch {
		case r == utf8.RuneError && size < 2,
			r < ' ' && r != '\t' && r != '\n' && r != '\r',
			0x7f <= r && r < 0xa0 && r != 0x85,
			r == 0xfffe, r == 0xffff:
			return at
		}
		at += size
	}
	return -1
}

// tokenLine returns the line of the first token from a line on that is one of the wanted, or
// the line if there is none.
func tokenLine(data []byte, line int, wanted func(token string) bool) int {
	from := 0
	for range line - 1 {
		from += bytes.IndexByte(data[from:], '\n') + 1
	}
	for n := tokensOf(data); n.next(); {
		if n.begin >= from && wanted(n.token()) {
			return lineAt(data, n.begin)
		}
	}
	return line
}

// traced decodes a document once more, value by value, and returns the line of the innermost
// collection with a fault, or of the key at fault. It is 0 if there is none, or if the text is
// too large or has too many values for its size.
func traced(data []byte, number int) int {
	if len(data) > maxPlaced {
		return 0
	}
	if _, err := placeCost.exceeded(data); err != nil {
		return 0
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for range number {
		var skipped any
		if err := guarded(func() error { return dec.Decode(&skipped) }); err != nil {
			return 0
		}
	}
	var y yamlPlace
	err := guarded(func() error { return dec.Decode(&y) })
	if err == nil || err == io.EOF {
		return 0
	}
	line, _ := cutLine(err.Error())
	return line
}

// within returns an error with the line of what it is in, unless it has one.
func within(line int, err error) error {
	if known, _ := cutLine(err.Error()); known > 0 || line == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", line, err)
}
