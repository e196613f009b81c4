package digest

// Sum returns the SHA-256 digest of data.
func Sum(data []byte) [32]byte { return sum256(data) }
