package pack

import "encoding/binary"

const (
	minMatch, maxMatch = 3, 258
	window             = 32 << 10
	depth              = 400 // how many earlier places are looked at
	enough             = 258 // a match of so many bytes ends the search
	hashBits           = 16
)

// A finder finds what stands earlier in the data.
type finder struct {
	data  []byte
	head  [1 << hashBits]int32 // the last place of four bytes, and one more
	third [1 << hashBits]int32 // of three bytes
	prev  [window]int32        // the place before, for each place of the window

	from    int
	starts  []int32 // where the matches of a place begin in matches
	matches []step
}

func newFinder(data []byte) *finder { return &finder{data: data} }

// at returns the matches at a place of the part, each longer and further away than the one
// before it.
func (f *finder) at(i int) []step { return f.matches[f.starts[i-f.from]:f.starts[i-f.from+1]] }

// find looks for the matches of a part of the data, which begins where the last one ended.
func (f *finder) find(from, to int) {
	f.from, f.starts, f.matches = from, f.starts[:0], f.matches[:0]
	skip := 0
	for i := from; i < to; i++ {
		f.starts = append(f.starts, int32(len(f.matches)))
		if i+4 > len(f.data) {
			continue
		}
		four := binary.LittleEndian.Uint32(f.data[i:])
		h, h3 := four*0x9E3779B1>>(32-hashBits), four<<8*0x9E3779B1>>(32-hashBits)
		if skip > 0 { // inside of a long match
			skip--
		} else if longest := f.search(i, int(f.head[h])-1, int(f.third[h3])-1); longest >= enough {
			skip = longest - 1
		}
		f.prev[i%window], f.head[h], f.third[h3] = f.head[h], int32(i+1), int32(i+1)
	}
	f.starts = append(f.starts, int32(len(f.matches)))
}

// search notes the matches at a place: one of three bytes at the place near, and those of
// the places that begin with at. It returns the longest length.
func (f *finder) search(i, at, near int) (longest int) {
	longest = minMatch - 1
	rest := f.data[i:min(i+maxMatch, len(f.data))]
	try := func(j int) {
		if len(rest) > longest && f.data[j+longest] == rest[longest] {
			l := common(f.data[j:], rest)
			if l > longest {
				longest = l
				f.matches = append(f.matches, step{uint16(l), uint16(i - j)})
			}
		}
	}
	if near >= 0 && i-near <= window-1 {
		try(near)
	}
	for range depth {
		if at < 0 || i-at > window-1 || longest >= enough {
			break
		}
		try(at)
		at = int(f.prev[at%window]) - 1
	}
	return longest
}

// common returns how many bytes are equal; b is not longer than a.
func common(a, b []byte) int {
	for i := range b {
		if a[i] != b[i] {
			return i
		}
	}
	return len(b)
}
