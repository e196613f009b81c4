package digest

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// TestSum256 compares with the standard library, for all lengths around the ends of blocks.
func TestSum256(t *testing.T) {
	data := bytes.Repeat([]byte("berth, \x00\x80\xff and 13 more"), 40)
	for n := range data {
		want := sha256.Sum256(data[:n])
		if got := sum256(data[:n]); got != want {
			t.Fatalf("the digest of %d bytes is %x, want %x", n, got, want)
		}
		if got := Sum(data[:n]); got != want {
			t.Fatalf("Sum of %d bytes is %x, want %x", n, got, want)
		}
	}
}
