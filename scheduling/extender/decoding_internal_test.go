//go:build full

package extender

import (
	"context"
	"errors"
	"strings"
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

// TestDecodedFewAtOnce checks that a request is not decoded while as many others as may be are decoded and
// wait for the lock, and that it waits no longer than its client does. A short one does not wait for long ones.
func TestDecodedFewAtOnce(t *testing.T) {
	h := Handler{Snapshot: func(context.Context) (*framework.Snapshot, error) { return nil, nil }}
	tell := make(chan struct{})
	var all sync.WaitGroup
	pod := `{"Pod":{"metadata":{"name":"p"}}}`
	begin := func(text string, n int) {
		for range n {
			all.Go(func() { _, _ = h.ask(context.Background(), []byte(text), &decoded{tell: tell}, nil) })
		}
		for range n {
			<-tell
		}
	}
	waits := func(what, text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if _, err := h.ask(ctx, []byte(text), new(Args), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s more is decoded: %v", what, err)
		}
		if _, err := h.binding(ctx, []byte(text)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s more binding is decoded: %v", what, err)
		}
	}
	h.mu.Lock()
	spaces := strings.Repeat(" ", short)
	begin(pod+spaces, 2)
	waits("one long", "{}"+spaces)
	begin(pod, 1)
	waits("one", "{}")
	h.mu.Unlock()
	all.Wait()
	for _, end := range []string{"", spaces} {
		if _, err := h.binding(context.Background(), []byte(`{"PodName":"p","Node":"a"}`+end)); err != nil {
			t.Errorf("nothing waits: %v", err)
		}
	}
}
