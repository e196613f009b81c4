// Package pack writes gzip files for what is packed once and loaded often. They are a
// twentieth smaller than those of compress/gzip at its best, and take longer to write:
// each block is written in the cheapest way that its own codes allow.
//
//	small := pack.Gzip(wasm)
//
// Any reader of gzip unpacks them. The same bytes give the same file everywhere.
package pack

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

const (
	partSize   = 512 << 10 // bytes that are looked at together
	chunkSize  = 4 << 10   // blocks consist of these
	rounds     = 3         // how often a block is parsed from each start, with codes that are mostly better
	endOfBlock = 256
	firstLen   = 257 // the symbol of the shortest match
	literals   = 286
	distances  = 30
	maxBits    = 15 // of a code
)

// Gzip returns data as a gzip file.
func Gzip(data []byte) []byte {
	w := bitWriter{out: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}} // deflate, no name, no time
	f := newFinder(data)
	var b, best block
	last := guess()
	for from := 0; ; {
		to := min(from+partSize, len(data))
		f.find(from, to)
		b.parse(f, from, to, &last)
		for _, size := range b.split() {
			cheapest := math.MaxInt
			for _, c := range []costs{guess(), last} {
				for range rounds {
					b.parse(f, from, from+size, &c)
					b.code()
					c.of(&b)
					if bits := b.codedBits(); bits < cheapest {
						cheapest, last = bits, c
						b, best = best, b
					}
				}
			}
			from += size
			best.write(&w, from == len(data))
		}
		if from == len(data) {
			break
		}
	}
	w.flush()
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(w.out, uint32(len(data)))
}

// A step is a literal if its length is 1, otherwise a copy of what stands before.
type step struct{ length, distance uint16 } // a distance of 1<<15 fits

// A block is a part of the data, as steps and their codes.
type block struct {
	steps []step
	data  []byte

	counts
	symbolLen [literals]uint8
	placeLen  [distances]uint8

	best  []step
	total []float32
}

// parse finds the cheapest steps for a part of the data.
func (b *block) parse(f *finder, from, to int, c *costs) {
	data := f.data[from:to]
	b.data = data
	n := len(data)
	if cap(b.total) < n+1 {
		b.total, b.best = make([]float32, n+1), make([]step, n)
	}
	b.total = b.total[:n+1]
	b.total[n] = 0
	for i := n - 1; i >= 0; i-- {
		cheapest, best := c.literal[data[i]]+b.total[i+1], step{length: 1}
		length := minMatch
		for _, m := range f.at(from + i) {
			place := c.place[placeOf(int(m.distance))]
			for last := min(int(m.length), n-i); length <= last; length++ {
				if cost := place + c.length[length] + b.total[i+length]; cost < cheapest {
					cheapest, best = cost, step{uint16(length), m.distance}
				}
			}
		}
		b.total[i], b.best[i] = cheapest, best
	}
	b.steps = b.steps[:0]
	for i := 0; i < n; i += int(b.best[i].length) {
		b.steps = append(b.steps, b.best[i])
	}
}

// code gives each symbol of the steps a length.
func (b *block) code() {
	b.counts = counts{}
	b.symbols[endOfBlock] = 1
	at := 0
	for _, s := range b.steps {
		b.add(s, b.data[at])
		at += int(s.length)
	}
	codeLengths(b.symbols[:], b.symbolLen[:], maxBits)
	codeLengths(b.places[:], b.placeLen[:], maxBits)
}

// codedBits returns what the steps take in the codes of the block.
func (b *block) codedBits() (sum int) {
	for i, n := range b.symbols {
		sum += n * (int(b.symbolLen[i]) + lengthExtra(i))
	}
	for i, n := range b.places {
		sum += n * (int(b.placeLen[i]) + placeExtra(i))
	}
	return sum
}

// costs are the bits that things take, with their extra bits.
type costs struct {
	literal [256]float32
	length  [maxMatch + 1]float32
	place   [distances]float32
}

// guess returns costs that suit most data. Costs that begin with those of the last block
// can lead to codes a third longer, and so can these: both are tried.
func guess() (c costs) {
	for i := range c.literal {
		c.literal[i] = 8
	}
	for l := minMatch; l <= maxMatch; l++ {
		c.length[l] = 6 + float32(lengthExtra(symbolOf(l)))
	}
	for p := range c.place {
		c.place[p] = 5 + float32(placeExtra(p))
	}
	return c
}

// of takes the costs from the symbols of a block.
func (c *costs) of(b *block) {
	bits := func(counts []int) func(int) float32 {
		sum := 0
		for _, n := range counts {
			sum += n
		}
		all := math.Log2(float64(sum + 1))
		return func(i int) float32 { // what did not occur is dear, and possible
			return float32(all - math.Log2(max(float64(counts[i]), 0.4)))
		}
	}
	symbol, place := bits(b.symbols[:]), bits(b.places[:])
	for i := range c.literal {
		c.literal[i] = symbol(i)
	}
	for l := minMatch; l <= maxMatch; l++ {
		c.length[l] = symbol(symbolOf(l)) + float32(lengthExtra(symbolOf(l)))
	}
	for p := range c.place {
		c.place[p] = place(p) + float32(placeExtra(p))
	}
}
