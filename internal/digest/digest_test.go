package digest

import (
	"crypto/sha256"
	"testing"

	"pgregory.net/rapid"
)

// TestPlain compares with crypto/sha256, at every length around the ends of blocks.
func TestPlain(t *testing.T) {
	data := make([]byte, 5*blockSize)
	for i := range data {
		data[i] = byte(i * i)
	}
	for n := range data {
		if got, want := plain(data[:n]), sha256.Sum256(data[:n]); got != want {
			t.Errorf("plain(%d bytes) = %x, want %x", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(t, "data")
		if got, want := plain(data), sha256.Sum256(data); got != want {
			t.Fatalf("plain(%x) = %x, want %x", data, got, want)
		}
	})
}

// TestSum compares the function of this system with crypto/sha256.
func TestSum(t *testing.T) {
	data := []byte("the same everywhere")
	if got, want := Sum(data), sha256.Sum256(data); got != want {
		t.Errorf("Sum(%q) = %x, want %x", data, got, want)
	}
}
