package devices

import (
	"cmp"
	"maps"
	"slices"
)

// An expense is memory that is kept for somebody.
type expense struct {
	owner string
	born  uint64 // when it began; later ones are larger
	bytes int
}

// overspent returns which expenses to end so that at most so many bytes are kept. Every
// owner may keep an equal share, and those who need less leave the rest to others. Who has
// more than that loses what is oldest.
func overspent(list []expense, most int) (ended []int) {
	owned, spent := map[string][]int{}, map[string]int{}
	for i := range list {
		owner := list[i].owner
		owned[owner] = append(owned[owner], i)
		spent[owner] += list[i].bytes
	}
	share := shareOf(slices.Sorted(maps.Values(spent)), most)
	for owner, indexes := range owned {
		slices.SortFunc(indexes, func(a, b int) int { return cmp.Compare(list[a].born, list[b].born) })
		for _, i := range indexes {
			if spent[owner] <= share {
				break
			}
			spent[owner] -= list[i].bytes
			ended = append(ended, i)
		}
	}
	return ended
}

// shareOf returns what each may have of a sum, given what they want in rising order.
func shareOf(wanted []int, sum int) int {
	share := sum
	for i, n := range wanted {
		if share = max(0, sum/(len(wanted)-i)); n > share {
			return share
		}
		sum -= n
	}
	return max(share, sum+share)
}
