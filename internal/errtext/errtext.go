// Package errtext helps errors to speak of input: it bounds what they repeat, and finds
// what was meant. Text that others chose may be as long as their input; an error that
// repeats it would be too. It also makes errors safe that others made.
package errtext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns s if it has at most limit bytes. Otherwise it returns the first limit
// bytes, less what is not UTF-8, followed by the length of s.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(s[:limit], ""), len(s))
}

// Safe returns err, unless one of its methods panics, as those of a nil pointer often do.
// Then it returns an error that says so. Give it each error that code outside this module
// returned, before anybody reads the error.
func Safe(err error) (safe error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			safe = fmt.Errorf("an error of type %T panics: %v", err, v)
		}
	}()
	_ = err.Error()
	var probe *probe
	_, _ = errors.Is(err, probe), errors.As(err, &probe) // calls Is, As and Unwrap of the whole chain
	return err
}

// Brief returns an error whose text has about so many bytes at most: err, or one that is cut and wraps it.
func Brief(err error, limit int) error {
	if text := err.Error(); len(text) > limit {
		return &cutError{Cut(text, limit), err}
	}
	return err
}

// A cutError is an error whose text is cut.
type cutError struct {
	text string
	err  error
}

func (e *cutError) Error() string { return e.text }

// Unwrap returns the error.
func (e *cutError) Unwrap() error { return e.err }

// Guard calls code outside this module, and returns its error, or its panic as one that says
// what has panicked.
func Guard(what string, call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s: panic: %v", what, v)
		}
	}()
	return Safe(call())
}

// probe is an error that no other error is.
type probe struct{}

func (*probe) Error() string { return "probe" }

// Visible quotes a text with characters that are not seen: a terminal would obey them, and
// they could imitate other output. They are control characters, marks that turn the direction
// of writing, and bytes that are no text.
func Visible(s string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(s, hidden) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

// Distance returns how many letters have to be inserted, deleted or replaced to turn a into
// b, in any case of letters. It takes len(a) times len(b) steps.
func Distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}
