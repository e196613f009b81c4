package kube

import (
	"context"
	"errors"
	"testing"
	"time"
)

// What is under way ends when another scheduler leads, and says why.
func TestActing(t *testing.T) {
	leading, lose := context.WithCancelCause(context.Background())
	s := &Scheduler{leading: leading}
	ctx, done := s.acting(context.Background())
	defer done()
	if ctx.Err() != nil {
		t.Fatalf("it has ended: %v", context.Cause(ctx))
	}
	lose(ErrLeadershipLost)
	select {
	case <-ctx.Done():
	case <-time.After(3 * time.Minute):
		t.Fatal("it goes on without the lease")
	}
	if err := context.Cause(ctx); !errors.Is(err, ErrLeadershipLost) {
		t.Errorf("it has ended by %v, want %v", err, ErrLeadershipLost)
	}
}
