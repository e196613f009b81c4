//go:build full

package extender

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// decoded is a message that tells when it has been decoded.
type decoded struct {
	Pod  *api.Pod
	tell chan<- struct{}
}

func (m *decoded) about() *api.Pod { return m.Pod }

func (m *decoded) check() error {
	m.tell <- struct{}{}
	return nil
}

// TestDecodedFewAtOnce checks that a request is not decoded while two others are decoded and
// wait for the lock, and that it waits no longer than its client does.
func TestDecodedFewAtOnce(t *testing.T) {
	h := Handler{Snapshot: func(context.Context) (*framework.Snapshot, error) { return nil, nil }}
	tell := make(chan struct{})
	var all sync.WaitGroup
	h.mu.Lock()
	for range 2 {
		all.Go(func() {
			_, _ = h.ask(context.Background(), []byte(`{"Pod":{"metadata":{"name":"p"}}}`), &decoded{tell: tell}, nil)
		})
	}
	for range 2 {
		<-tell
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := h.ask(ctx, []byte("{}"), new(Args), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more is decoded: %v", err)
	}
	if _, err := h.binding(ctx, []byte("{}")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more binding is decoded: %v", err)
	}
	h.mu.Unlock()
	all.Wait()
	if _, err := h.binding(context.Background(), []byte(`{"PodName":"p","Node":"a"}`)); err != nil {
		t.Errorf("nothing waits: %v", err)
	}
}
