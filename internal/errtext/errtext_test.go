package errtext_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/berth-sched/berth/internal/errtext"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc... (4 bytes)"},
		{"aböd", 3, "ab... (5 bytes)"}, // not half of a character
		{"ab\xff", 3, "ab\xff"},        // short text stays as it is
	} {
		if got := errtext.Cut(tt.s, tt.limit); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.s, tt.limit, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"nodeName", "nodename", 0}, // letters count in any case
		{"kitten", "sitting", 3},    // k to s, e to i, and g
		{"toleration", "tolerations", 1},
		{"requests", "reqeusts", 2}, // two letters that changed places
		{"abcd", "bcda", 2},
	} {
		if got := errtext.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestVisible quotes what could imitate other output, and nothing else.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a b": "a b", "größe → 3": "größe → 3", `a "b"`: `a "b"`,
		"a\x1b[2J": `"a\x1b[2J"`, "a\nb": `"a\nb"`, "a\u009b2J": `"a\u009b2J"`, "a\x9b2J": `"a\x9b2J"`,
		"a\u202eb": `"a\u202eb"`, "a\u2066b": `"a\u2066b"`, "a\u200bb": `"a\u200bb"`, "a\u2028b": `"a\u2028b"`,
	} {
		if got := errtext.Visible(text); got != want {
			t.Errorf("Visible(%q) = %s, want %s", text, got, want)
		}
	}
}

// hostile is an error that panics in one method, unless it wraps another one.
type hostile struct {
	at    string
	cause error
}

func (h *hostile) hit(at string) {
	if h.at == at {
		panic("oh")
	}
}
func (h *hostile) Error() string { h.hit("Error"); return "hostile" }
func (h *hostile) Unwrap() error { h.hit("Unwrap"); return h.cause }
func (h *hostile) Is(error) bool { h.hit("Is"); return false }
func (h *hostile) As(any) bool   { h.hit("As"); return false }

func TestSafe(t *testing.T) {
	if err := errtext.Safe(nil); err != nil {
		t.Errorf("Safe(nil) = %v, want nil", err)
	}
	if err := errtext.Safe(io.EOF); err != io.EOF {
		t.Errorf("Safe(EOF) = %v, want the same", err)
	}
	harmless := &hostile{}
	if err := errtext.Safe(harmless); err != error(harmless) {
		t.Errorf("Safe(%v) = %v, want the same", harmless, err)
	}
	var none *hostile
	list := []error{none}
	for _, at := range []string{"Error", "Unwrap", "Is", "As"} {
		h := &hostile{at: at}
		list = append(list, h)
		if at != "Error" {
			list = append(list, fmt.Errorf("wrapped: %w", h), errors.Join(io.EOF, h))
		}
	}
	for _, err := range list {
		safe := errtext.Safe(err)
		if text := safe.Error(); !strings.Contains(text, "panic") {
			t.Errorf("the error of type %T became %q", err, text)
		}
		if errors.Is(safe, io.ErrNoProgress) {
			t.Error("Safe returned another error")
		}
	}
}
