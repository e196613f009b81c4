package display

import (
	"errors"
	"strings"
	"testing"
)

// TestFail writes an error whose text would obey a terminal.
func TestFail(t *testing.T) {
	var b strings.Builder
	Fail(&b, "p", errors.New("first\n\x1b[2Jsecond"))
	if want := "p: first\np: \"\\x1b[2Jsecond\"\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
