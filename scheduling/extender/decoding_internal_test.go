//go:build full

package extender

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestDecodingFewAtOnce checks that a request waits while as many others as allowed
// are being decoded, and no longer than its client does.
func TestDecodingFewAtOnce(t *testing.T) {
	var h Handler
	if err := h.read(context.Background(), []byte("{}"), new(Args)); err != nil {
		t.Fatal(err)
	}
	for range maxDecoding {
		h.decoding <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := h.read(ctx, []byte("{}"), new(Args)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more is decoded: %v", err)
	}
	<-h.decoding
	if err := h.read(context.Background(), []byte("{}"), new(Args)); err != nil {
		t.Error(err)
	}
}
