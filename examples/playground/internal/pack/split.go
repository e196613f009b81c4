package pack

import "math"

// counts are how often symbols occur; places are the symbols of distances.
type counts struct {
	symbols [literals]int
	places  [distances]int
}

// add counts a step, which begins with the byte first.
func (c *counts) add(s step, first byte) {
	if s.length == 1 {
		c.symbols[first]++
		return
	}
	c.symbols[symbolOf(int(s.length))]++
	c.places[placeOf(int(s.distance))]++
}

// addAll adds the counts of another.
func (c *counts) addAll(d *counts) {
	for i, n := range d.symbols {
		c.symbols[i] += n
	}
	for i, n := range d.places {
		c.places[i] += n
	}
}

// bits estimates what a block with these symbols takes, with its codes. The extra bits are
// not counted: they are the same in any block.
func (c *counts) bits() float64 {
	const perCode = 3.5 // bits for the length of a code
	all := 60.0
	for _, list := range [][]int{c.symbols[:], c.places[:]} {
		sum := 0
		for _, n := range list {
			if n > 0 {
				sum += n
				all += perCode - float64(n)*math.Log2(float64(n))
			}
		}
		if sum > 0 {
			all += float64(sum) * math.Log2(float64(sum))
		}
	}
	return all
}

// A chunk is a part of a block to be.
type chunk struct {
	counts
	size int
	bits float64
	gain float64 // of joining it with the next one
}

// split returns the sizes of the blocks that the steps are best written in: chunks, joined
// as long as they are shorter together than apart.
func (b *block) split() (sizes []int) {
	list := b.chunks()
	join := func(i int) {
		if i < 0 || i+1 >= len(list) {
			return
		}
		both := list[i].counts
		both.addAll(&list[i+1].counts)
		list[i].gain = list[i].bits + list[i+1].bits - both.bits()
	}
	for i := range list {
		list[i].bits = list[i].counts.bits()
	}
	for i := range list {
		join(i)
	}
	for {
		best := -1
		for i := range list[:max(len(list)-1, 0)] {
			if list[i].gain > 0 && (best < 0 || list[i].gain > list[best].gain) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		x := list[best]
		x.addAll(&list[best+1].counts)
		x.size += list[best+1].size
		x.bits = x.counts.bits()
		list[best] = x
		list = append(list[:best+1], list[best+2:]...)
		join(best - 1)
		join(best)
	}
	for _, x := range list {
		sizes = append(sizes, x.size)
	}
	if len(sizes) == 0 {
		sizes = []int{0}
	}
	return sizes
}

// chunks counts the symbols of every few steps.
func (b *block) chunks() (list []chunk) {
	var x chunk
	at := 0
	for _, s := range b.steps {
		x.add(s, b.data[at])
		x.size += int(s.length)
		at += int(s.length)
		if x.size >= chunkSize {
			list = append(list, x)
			x = chunk{}
		}
	}
	if x.size > 0 {
		list = append(list, x)
	}
	return list
}
