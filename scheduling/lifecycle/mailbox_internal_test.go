//go:build full

package lifecycle

import (
	"context"
	"testing"
)

// TestMailboxGivesBackMemory posts a flood of messages, and then a few.
func TestMailboxGivesBackMemory(t *testing.T) {
	m, done := newMailbox(), 0
	for _, n := range []int{100_000, 3, 3} {
		for range n {
			m.post(func(context.Context) { done++ })
		}
		for msg := m.next(); msg != nil; msg = m.next() {
			msg(context.Background())
		}
	}
	if done != 100_006 {
		t.Errorf("%d messages were carried out, want 100,006", done)
	}
	if room := cap(m.messages) + cap(m.opened); room > 2*roomKept {
		t.Errorf("there is room for %d messages, want for at most %d", room, 2*roomKept)
	}
}
