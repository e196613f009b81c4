package amplify

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/berth-sched/berth/internal/proof/effort"
)

// Most is the number of bytes of memory that any decoder may take for a byte of text.
const Most = 100

// base is the memory in bytes that a decoder may take for the shortest of texts, if it
// states nothing else.
const base = 256 << 10

// size is the size in bytes of the smaller text of each shape; the larger one has
// times the size. With BERTH_LONG set, texts are as large as a ConfigMap can be.
const (
	size  = 8 << 10
	times = 8
	long  = 16
)

// slow is far longer than a text of any shape takes: a decoder whose time grows with the
// square of the text exceeds it.
const slow = 20 * time.Second

// A Decoder reads text that others send.
type Decoder struct {
	// Name names it in failures.
	Name string
	// Decode reads a text. The decoder may refuse it.
	Decode func(text []byte)
	// Base is the memory in bytes that the shortest of texts may take; 0 is 256 KiB.
	Base uint64
	// Most is the number of bytes of memory for a byte of text, all allocations together;
	// 0 is the constant Most.
	Most uint64
	// Held is the number of bytes that it may have at once for a byte of text; 0 is the
	// constant Most. It is measured where all allocations together are more.
	Held uint64
	// Texts are the hostile shapes.
	Texts []Shape
}

// A Shape makes hostile texts.
type Shape struct {
	// Name names it in failures.
	Name string
	// Text returns a text of about n bytes.
	Text func(n int) []byte
}

// Run fails t unless the decoder takes at most [Most] bytes of memory for a byte of
// each text, and memory grows no faster than the text. It logs the worst shape. Without
// the tag full it tries one text of four; with -short, as under the race detector, whose
// own memory would count, it skips the test.
func Run(t *testing.T, d Decoder) {
	t.Helper()
	if testing.Short() {
		t.Skip("memory is not measured with -short")
	}
	worst, of := 0.0, ""
	base, most, atOnce := cmp.Or(d.Base, base), cmp.Or(d.Most, Most), cmp.Or(d.Held, Most)
	size := size
	if os.Getenv("BERTH_LONG") != "" {
		size *= long
	}
	for i := 0; i < len(d.Texts); i += effort.Of(4, 1) {
		s := d.Texts[i]
		small, large := s.Text(size), s.Text(times*size)
		d.Decode(small) // what is made once does not count
		began := time.Now()
		a, b := memory(d, small), memory(d, large)
		if took := time.Since(began); took > slow {
			t.Errorf("%s takes %v for %d bytes of %s", d.Name, took, len(large), s.Name)
		}
		factor := float64(b) / float64(len(large))
		if factor > worst {
			worst, of = factor, s.Name
		}
		if b > most*uint64(len(large))+base {
			t.Errorf("%s takes %d bytes for %d bytes of %s: %.0f times as many, want at most %d",
				d.Name, b, len(large), s.Name, factor, most)
		}
		if b > atOnce*uint64(len(large))+base {
			text, h := largestRead(d, s)
			if h > atOnce*uint64(len(text))+base {
				t.Errorf("%s has %d bytes at once for %d bytes of %s: %.0f times as many, want at most %d",
					d.Name, h, len(text), s.Name, float64(h)/float64(len(text)), atOnce)
			}
			t.Logf("%s: %.1f bytes at once per byte, for %d bytes of %s", d.Name, float64(h)/float64(len(text)), len(text), s.Name)
		}
		if b > 3*times*max(a, base) {
			t.Errorf("%s takes %d bytes for %d bytes of %s, but %d for %d: that is not linear",
				d.Name, b, len(large), s.Name, a, len(small))
		}
	}
	t.Logf("%s: at most %.1f bytes of memory per byte, for %s", d.Name, worst, of)
}

// Check fails t if the decoder takes too much memory for one text. Fuzz targets call it
// with what they are given.
func Check(t *testing.T, d Decoder, text []byte) {
	t.Helper()
	base, most := cmp.Or(d.Base, base), cmp.Or(d.Most, Most)
	if b := memory(d, text); b > most*uint64(len(text))+2*base {
		if b = memory(d, text); b > most*uint64(len(text))+2*base { // not what is made once
			t.Errorf("%s takes %d bytes for %d bytes", d.Name, b, len(text))
		}
	}
}

// largestRead returns the largest text of a shape, up to the size of a ConfigMap, that the
// decoder does not refuse at once as too large, and what it holds while it reads it.
func largestRead(d Decoder, s Shape) (text []byte, most uint64) {
	for n := long * times * size; ; n /= 2 {
		text = s.Text(n)
		if most = held(d, text); most > uint64(len(text)) || n <= times*size {
			return text, most
		}
	}
}

// held returns about how many bytes a call has at once: the most that is seen in use, with
// garbage collected early.
func held(d Decoder, text []byte) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, uint64(0)
	over, seen := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	d.Decode(text)
	close(over)
	<-seen
	return most - min(most, before)
}

// memory returns how many bytes a call allocates in all.
func memory(d Decoder, text []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d.Decode(text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
