package lifecycle

import (
	"context"
	"sync"
)

// A message is work for the scheduling goroutine.
type message func(ctx context.Context)

// mailbox takes messages from any goroutine; the scheduling goroutine carries them
// out in the order of their arrival.
type mailbox struct {
	mu       sync.Mutex
	messages []message
	ring     chan struct{} // holds a value if a message came since the last receive

	// Only the scheduling goroutine uses the fields below.
	opened []message // taken out of messages
	done   int       // how many of opened are done
}

// roomKept is for how many messages there is room after a flood of them.
const roomKept = 1 << 12

func newMailbox() mailbox { return mailbox{ring: make(chan struct{}, 1)} }

func (m *mailbox) post(msg message) {
	m.mu.Lock()
	m.messages = append(m.messages, msg)
	m.mu.Unlock()
	m.rouse()
}

func (m *mailbox) rouse() {
	select {
	case m.ring <- struct{}{}:
	default:
	}
}

// len counts the waiting messages.
func (m *mailbox) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.opened) - m.done + len(m.messages)
}

// next takes out the first message, nil if there is none.
func (m *mailbox) next() message {
	if m.done == len(m.opened) {
		if clear(m.opened); cap(m.opened) > roomKept {
			m.opened = nil // there was a flood
		}
		m.mu.Lock()
		m.messages, m.opened, m.done = m.opened[:0], m.messages, 0
		m.mu.Unlock()
		if len(m.opened) == 0 {
			return nil
		}
	}
	msg := m.opened[m.done]
	m.done++
	return msg
}

// remind rings for messages that are left.
func (m *mailbox) remind() {
	if m.len() > 0 {
		m.rouse()
	}
}
