//go:build full

package pack

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// unpack is what every reader of gzip does.
func unpack(t interface{ Fatal(...any) }, packed []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGzip unpacks texts with few and many repetitions, near and far.
func TestGzip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 40), 1, 20).Draw(t, "words")
		var data []byte
		for range rapid.IntRange(0, 40).Draw(t, "parts") {
			word := rapid.SampledFrom(words).Draw(t, "word")
			data = append(data, bytes.Repeat(word, rapid.SampledFrom([]int{1, 1, 2, 9, 300, 3000}).Draw(t, "times"))...)
		}
		if got := unpack(t, Gzip(data)); !bytes.Equal(got, data) {
			t.Fatalf("%d bytes come back as %d, or others", len(data), len(got))
		}
	})
}

// TestSmaller packs the source of a package smaller than compress/gzip.
func TestSmaller(t *testing.T) {
	files, err := filepath.Glob("../page/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, text...)
	}
	if len(data) < chunkSize {
		t.Errorf("only %d bytes, not a block of %d", len(data), chunkSize)
	}
	packed := Gzip(data)
	if !bytes.Equal(unpack(t, packed), data) {
		t.Error("the source comes back otherwise")
	}
	var plain bytes.Buffer
	z, err := gzip.NewWriterLevel(&plain, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(packed); n > plain.Len()*97/100 {
		t.Errorf("%d bytes, not 3 %% fewer than the %d of compress/gzip", n, plain.Len())
	}
	if !bytes.Equal(Gzip(data), packed) {
		t.Error("the same bytes give two files")
	}
}

// TestSymbols compares symbols with what they stand for.
func TestSymbols(t *testing.T) {
	for length := minMatch; length <= maxMatch; length++ {
		s := symbolOf(length)
		if over := length - lengthBase(s); s < firstLen || s >= literals || over < 0 || over >= 1<<lengthExtra(s) {
			t.Errorf("length %d has symbol %d, which stands for %d and %d bits", length, s, lengthBase(s), lengthExtra(s))
		}
	}
	for distance := 1; distance <= window; distance++ {
		p := placeOf(distance)
		if over := distance - placeBase(p); p < 0 || p >= distances || over < 0 || over >= 1<<placeExtra(p) {
			t.Errorf("distance %d has symbol %d, which stands for %d and %d bits", distance, p, placeBase(p), placeExtra(p))
		}
	}
}
