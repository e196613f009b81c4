package digest

import (
	"encoding/binary"
	"math/bits"
)

// firstRoots are the first 32 bits of the fractions of the square roots of the first 8 primes,
// cubeRoots those of the cube roots of the first 64.
var (
	firstRoots = [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}
	cubeRoots = [64]uint32{
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
		0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
		0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
		0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
		0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
		0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
		0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
	}
)

// sum256 returns the SHA-256 digest of data, as FIPS 180-4 defines it.
//
// Source: FIPS 180-4, 6.2.
func sum256(data []byte) (sum [32]byte) {
	const block = 64
	state := firstRoots
	whole := len(data) / block * block
	for i := 0; i < whole; i += block {
		compress(&state, data[i:i+block])
	}
	tail := append(make([]byte, 0, 2*block), data[whole:]...)
	tail = append(tail, 0x80)
	for len(tail)%block != block-8 {
		tail = append(tail, 0)
	}
	tail = binary.BigEndian.AppendUint64(tail, 8*uint64(len(data)))
	for i := 0; i < len(tail); i += block {
		compress(&state, tail[i:i+block])
	}
	for i, word := range state {
		binary.BigEndian.PutUint32(sum[4*i:], word)
	}
	return sum
}

// compress takes a block of 64 bytes into the state.
func compress(state *[8]uint32, block []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := 16; i < 64; i++ {
		x, y := w[i-15], w[i-2]
		w[i] = w[i-16] + (turn(x, 7) ^ turn(x, 18) ^ x>>3) + w[i-7] + (turn(y, 17) ^ turn(y, 19) ^ y>>10)
	}
	s := *state
	for i := range w {
		a, e := s[0], s[4]
		up := s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e&s[5] ^ ^e&s[6]) + cubeRoots[i] + w[i]
		down := (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a&s[1] ^ a&s[2] ^ s[1]&s[2])
		copy(s[1:], s[:7])
		s[0], s[4] = up+down, s[4]+up
	}
	for i := range state {
		state[i] += s[i]
	}
}

// turn rotates a word to the right.
func turn(x uint32, by int) uint32 { return bits.RotateLeft32(x, -by) }
