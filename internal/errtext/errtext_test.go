package errtext_test

import (
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
