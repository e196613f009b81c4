package oracle

import "math"

// ImageLocality is the position of the size, in percent, between 23 MiB and 1000 MiB
// times images.
func ImageLocality(size int64, images int) int64 {
	if images <= 0 {
		return 0
	}
	lo := number(23 * 1024 * 1024)
	hi := times(number(1000*1024*1024), number(int64(images)))
	x := number(size)
	if x.Cmp(lo) < 0 {
		x = lo
	}
	if x.Cmp(hi) > 0 {
		x = hi
	}
	return over(times(number(100), minus(x, lo)), minus(hi, lo)).Int64()
}

// ScaledImage is the size times the share of the nodes that have the image.
func ScaledImage(size int64, nodes, all int) int64 {
	scaled := float64(size) * (float64(nodes) / float64(all))
	if scaled >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(scaled)
}
