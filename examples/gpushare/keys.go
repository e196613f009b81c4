package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/gpushare/openb"
)

// missing returns the runs that the tables do not have.
func missing(results []openb.Result, published openb.Tables) (keys []openb.Key) {
	for _, r := range results {
		key := openb.Key{Policy: r.Policy, Seed: r.Seed}
		if published[key] == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// listed names runs, policies with the same seeds together:
// "Random, FGD (seeds 42 to 51); FirstFit (seed 42)".
func listed(keys []openb.Key) string {
	policies := map[string][]string{} // by their seeds
	var order []string
	for _, p := range openb.Policies() {
		var seeds []int64
		for _, key := range keys {
			if key.Policy == p {
				seeds = append(seeds, key.Seed)
			}
		}
		if len(seeds) == 0 {
			continue
		}
		text := ranges(seeds)
		if policies[text] == nil {
			order = append(order, text)
		}
		policies[text] = append(policies[text], string(p))
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("%s (%s)", strings.Join(policies[text], ", "), text)
	}
	return strings.Join(order, "; ")
}

// ranges writes seeds, neighbours together: "seeds 1, 3 to 5".
func ranges(seeds []int64) string {
	slices.Sort(seeds)
	var parts []string
	for from := 0; from < len(seeds); {
		to := from
		for to+1 < len(seeds) && seeds[to+1] == seeds[to]+1 {
			to++
		}
		if to == from {
			parts = append(parts, fmt.Sprint(seeds[from]))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", seeds[from], seeds[to]))
		}
		from = to + 1
	}
	if len(seeds) == 1 {
		return "seed " + parts[0]
	}
	return "seeds " + strings.Join(parts, ", ")
}
