//go:build full

package display

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		due      time.Duration // when the next line is due, from now
		want     string
	}{
		{"quick, to a file", false, time.Hour, ""},
		{"slow, to a file", false, -time.Second, " 50%  5 of 10\n"},
		{"terminal", true, 0, "\r 50%  5 of 10\x1b[K\r\x1b[K"},
		{"terminal, shown just now", true, time.Hour, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no time passes
				var b strings.Builder
				p := NewProgress(&b, 10)
				p.terminal, p.next = test.terminal, time.Now().Add(test.due)
				p.Step(5, "%d of %d", 5, 10)
				p.Step(5, "too early") // the next line is due later
				p.Done()
				if got := b.String(); got != test.want {
					t.Errorf("wrote %q, want %q", got, test.want)
				}
			})
		})
	}
}

// TestProgressOfNothing checks that work without steps shows no percentage.
func TestProgressOfNothing(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, 0)
	p.next = time.Now()
	p.Step(0, "done")
	if got, want := b.String(), "done\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}
