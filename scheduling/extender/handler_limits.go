package extender

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// limits are the bounds of a handler, in bytes: of one request, and of all bodies.
type limits struct{ request, waiting int64 }

// limits returns the bounds with their defaults.
func (h *Handler) limits() (l limits, err error) {
	l.request = cmp.Or(h.MaxBytes, DefaultMaxRequest)
	if l.request < 0 {
		return l, fmt.Errorf("MaxBytes of the handler is %d: must not be negative", l.request)
	}
	l.waiting = cmp.Or(h.MaxWaiting, max(DefaultMaxWaiting, l.request))
	if l.waiting < l.request {
		return l, fmt.Errorf("MaxWaiting of the handler is %d: must not be less than MaxBytes, %d", l.waiting, l.request)
	}
	return l, nil
}

// errFull says that the bodies of all requests hold as much as they may.
var errFull = errors.New("too many bytes wait")

// A countedBody is the body of a request. What has been read of it counts in total until
// it is released, or becomes an answer.
type countedBody struct {
	from  io.Reader
	total *atomic.Int64
	most  int64
	read  int64
}

// Read reads, or fails with errFull if all bodies together are too large.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.read += int64(n)
	if b.total.Add(int64(n)) > b.most {
		return n, errFull
	}
	return n, err
}

// become counts an answer of n bytes in place of the body; false if all together are too
// large.
func (b *countedBody) become(n int) bool {
	more := int64(n) - b.read
	b.read = int64(n)
	return b.total.Add(more) <= b.most || more <= 0
}

func (b *countedBody) release() { b.total.Add(-b.read) }
