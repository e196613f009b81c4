package pack

import (
	"math/bits"
	"slices"
)

// symbolOf returns the symbol of the length of a match, lengthExtra how many bits follow it,
// and lengthBase the shortest length that it stands for.
func symbolOf(length int) int {
	n := length - minMatch
	switch {
	case length == maxMatch:
		return literals - 1
	case n < 8:
		return firstLen + n
	}
	extra := bits.Len(uint(n)) - 3
	return firstLen + 4*extra + n>>extra
}

func lengthExtra(symbol int) int {
	if n := symbol - firstLen; n >= 8 && symbol < literals-1 {
		return n/4 - 1
	}
	return 0
}

func lengthBase(symbol int) int {
	switch n := symbol - firstLen; {
	case symbol == literals-1:
		return maxMatch
	case n < 8:
		return minMatch + n
	default:
		return minMatch + (4+n%4)<<(n/4-1)
	}
}

// placeOf returns the symbol of a distance, placeExtra how many bits follow it, and
// placeBase the shortest distance that it stands for.
func placeOf(distance int) int {
	n := distance - 1
	if n < 4 {
		return n
	}
	extra := bits.Len(uint(n)) - 2
	return 2*extra + n>>extra
}

func placeExtra(place int) int { return max(place/2-1, 0) }

func placeBase(place int) int {
	if place < 4 {
		return place + 1
	}
	return (2+place%2)<<(place/2-1) + 1
}

// codeLengths gives each symbol that occurs a code of at most so many bits, the frequent
// ones the short ones.
func codeLengths(counts []int, lengths []uint8, most int) {
	counts = slices.Clone(counts)
	for !huffman(counts, lengths, most) {
		for i, n := range counts {
			if n > 0 {
				counts[i] = n/2 + 1 // flatter, until no code is too long
			}
		}
	}
}

// A tree is a leaf, or two trees.
type tree struct{ count, left, right, symbol int }

// huffman gives the codes of the least total length, and reports whether none is too long.
func huffman(counts []int, lengths []uint8, most int) bool {
	var trees []tree
	for symbol, n := range counts {
		lengths[symbol] = 0
		if n > 0 {
			trees = append(trees, tree{n, -1, -1, symbol})
		}
	}
	if len(trees) < 2 { // a code has at least one bit, and a reader may want two codes
		for i := 0; len(trees) < 2; i++ {
			if counts[i] == 0 {
				trees = append(trees, tree{1, -1, -1, i})
			}
		}
	}
	slices.SortStableFunc(trees, func(a, b tree) int { return a.count - b.count })
	leaves := len(trees)
	leaf, inner := 0, leaves
	least := func() int { // the leaves are in order, and so are the others
		if inner == len(trees) || leaf < leaves && trees[leaf].count <= trees[inner].count {
			leaf++
			return leaf - 1
		}
		inner++
		return inner - 1
	}
	for range leaves - 1 {
		a := least()
		b := least()
		trees = append(trees, tree{trees[a].count + trees[b].count, a, b, -1})
	}
	depths := make([]int, len(trees))
	for i := len(trees) - 1; i >= 0; i-- {
		if t := trees[i]; t.symbol < 0 {
			depths[t.left], depths[t.right] = depths[i]+1, depths[i]+1
		} else {
			if depths[i] > most {
				return false
			}
			lengths[t.symbol] = uint8(depths[i])
		}
	}
	return true
}

// codesOf returns the codes of these lengths, with the first bit last.
func codesOf(lengths []uint8) []uint16 {
	codes := make([]uint16, len(lengths))
	next := uint16(0)
	for length := uint8(1); length <= maxBits; length++ {
		for symbol, l := range lengths {
			if l == length {
				codes[symbol] = bits.Reverse16(next) >> (16 - length)
				next++
			}
		}
		next <<= 1
	}
	return codes
}
