package lifecycle

import (
	"context"
	"sync"
)

// A message is something to do in the scheduling goroutine.
type message func(ctx context.Context)

// mailbox takes messages from any goroutine; the scheduling goroutine carries
// them out in the order in which they came.
type mailbox struct {
	mu       sync.Mutex
	messages []message
	spare    []message
	ring     chan struct{} // has a value when a message came since the last take
}

func newMailbox() mailbox { return mailbox{ring: make(chan struct{}, 1)} }

func (m *mailbox) post(msg message) {
	m.mu.Lock()
	m.messages = append(m.messages, msg)
	m.mu.Unlock()
	select {
	case m.ring <- struct{}{}:
	default:
	}
}

// take returns what has come; it is valid until the next call.
func (m *mailbox) take() []message {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.messages
	clear(m.spare)
	m.messages, m.spare = m.spare[:0], list
	return list
}
