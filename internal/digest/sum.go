//go:build !js

package digest

import "crypto/sha256"

// Sum returns the SHA-256 digest of data.
func Sum(data []byte) [32]byte { return sha256.Sum256(data) }
