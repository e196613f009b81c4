package pack

// A bitWriter writes bits, the lowest ones first.
type bitWriter struct {
	out  []byte
	bits uint64
	n    int
}

func (w *bitWriter) write(bits, n int) {
	w.bits |= uint64(bits) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
}

// flush fills the last byte.
func (w *bitWriter) flush() {
	if w.n > 0 {
		w.out = append(w.out, byte(w.bits))
		w.bits, w.n = 0, 0
	}
}

// The symbols for runs of lengths: the last length again, and zeros.
const (
	repeatLast, fewZeros, manyZeros = 16, 17, 18
	runSymbols                      = 19
)

// runOrder is the order in which the lengths of the codes for runs are written.
var runOrder = [runSymbols]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// A run is a symbol for lengths, with extra bits.
type run struct{ symbol, extra, bits int }

// runsOf shortens a list of lengths.
func runsOf(lengths []uint8) (list []run) {
	for i := 0; i < len(lengths); {
		n := 1
		for i+n < len(lengths) && lengths[i+n] == lengths[i] {
			n++
		}
		i += n
		value := int(lengths[i-1])
		if value > 0 {
			list = append(list, run{symbol: value})
			n--
		}
		for n > 0 {
			switch {
			case n < 3:
				list = append(list, run{symbol: value})
				n--
			case value > 0:
				k := min(n, 6)
				list = append(list, run{repeatLast, k - 3, 2})
				n -= k
			case n <= 10:
				list = append(list, run{fewZeros, n - 3, 3})
				n = 0
			default:
				k := min(n, 138)
				list = append(list, run{manyZeros, k - 11, 7})
				n -= k
			}
		}
	}
	return list
}

// write writes the codes of the block and its steps.
func (b *block) write(w *bitWriter, last bool) {
	final := 0
	if last {
		final = 1
	}
	w.write(final, 1)
	w.write(2, 2) // with codes of its own
	symbols, places := used(b.symbolLen[:], firstLen), used(b.placeLen[:], 1)
	runs := runsOf(append(append([]uint8{}, b.symbolLen[:symbols]...), b.placeLen[:places]...))
	var counts [runSymbols]int
	for _, r := range runs {
		counts[r.symbol]++
	}
	var lengths [runSymbols]uint8
	codeLengths(counts[:], lengths[:], 7)
	n := runSymbols
	for n > 4 && lengths[runOrder[n-1]] == 0 {
		n--
	}
	w.write(symbols-firstLen, 5)
	w.write(places-1, 5)
	w.write(n-4, 4)
	for _, i := range runOrder[:n] {
		w.write(int(lengths[i]), 3)
	}
	codes := codesOf(lengths[:])
	for _, r := range runs {
		w.write(int(codes[r.symbol]), int(lengths[r.symbol]))
		w.write(r.extra, r.bits)
	}
	b.writeSteps(w)
}

// used returns how many of the lengths have to be written, at least so many.
func used(lengths []uint8, least int) int {
	n := len(lengths)
	for n > least && lengths[n-1] == 0 {
		n--
	}
	return n
}

func (b *block) writeSteps(w *bitWriter) {
	symbols, places := codesOf(b.symbolLen[:]), codesOf(b.placeLen[:])
	at := 0
	for _, s := range b.steps {
		length := int(s.length)
		if length == 1 {
			c := b.data[at]
			w.write(int(symbols[c]), int(b.symbolLen[c]))
			at++
			continue
		}
		at += length
		symbol := symbolOf(length)
		w.write(int(symbols[symbol]), int(b.symbolLen[symbol]))
		w.write(length-lengthBase(symbol), lengthExtra(symbol))
		place := placeOf(int(s.distance))
		w.write(int(places[place]), int(b.placeLen[place]))
		w.write(int(s.distance)-placeBase(place), placeExtra(place))
	}
	w.write(int(symbols[endOfBlock]), int(b.symbolLen[endOfBlock]))
}
