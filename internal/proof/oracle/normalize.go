package oracle

// Normalize is DefaultNormalizeScore over a whole list, for scores that are not
// negative.
func Normalize(scores []int64, reverse bool) []int64 {
	largest := int64(0)
	for _, s := range scores {
		largest = max(largest, s)
	}
	normalized := make([]int64, len(scores))
	for i, s := range scores {
		normalized[i] = s
		if largest > 0 {
			normalized[i] = over(times(number(100), number(s)), number(largest)).Int64()
		}
		if reverse {
			normalized[i] = 100 - normalized[i]
		}
	}
	return normalized
}
