//go:build full

package pack

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/rand/v2"
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

// plainGzip is what compress/gzip packs at its best.
func plainGzip(t *testing.T, data []byte) []byte {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
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
	if n, plain := len(packed), len(plainGzip(t, data)); n > plain*97/100 {
		t.Errorf("%d bytes, not 3 %% fewer than the %d of compress/gzip", n, plain)
	}
	if !bytes.Equal(Gzip(data), packed) {
		t.Error("the same bytes give two files")
	}
}

// TestTable packs the segments of a table, such as compiled programs have, no larger than
// compress/gzip does, whatever comes before them: costs that begin with those of other data
// have led to codes a third longer.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	var table []byte
	for i := range 60_000 {
		table = append(table, 0, 0x41)
		table = binary.AppendUvarint(table, uint64(0x4000000+20*i))
		table = append(table, 0x0b, 2, byte(i/32), byte(i/8192))
	}
	for _, before := range []int{0, 10_000, 100_000, 300_000} {
		r := rand.New(rand.NewPCG(1, uint64(before)))
		data := make([]byte, before, before+len(table))
		for i := range data {
			data[i] = byte(r.ExpFloat64() * 20)
		}
		data = append(data, table...)
		packed := Gzip(data)
		if !bytes.Equal(unpack(t, packed), data) {
			t.Errorf("%d bytes before the table: it comes back otherwise", before)
		}
		if n, plain := len(packed), len(plainGzip(t, data)); n > plain {
			t.Errorf("%d bytes before the table: %d bytes, more than the %d of compress/gzip", before, n, plain)
		}
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
