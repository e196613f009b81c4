// Package enough runs a property until its random cases have shown what they must show. A
// property that holds of cases without what it is about proves nothing, so such a test
// counts; and a fixed number of random cases has too few of a rare thing now and then.
package enough

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// rounds is how often a property is checked before the cases are said to show too little.
const rounds = 400

// Check checks a property with rapid, and again with new cases until seen has at least the
// counts of want, by name. The property counts in seen. After 400 rounds Check fails and
// says what is missing.
func Check(t testing.TB, seen, want map[string]int, property func(*rapid.T)) {
	t.Helper()
	for range rounds {
		rapid.Check(t, property)
		if t.Failed() || len(missing(seen, want)) == 0 {
			return
		}
	}
	for _, name := range missing(seen, want) {
		t.Errorf("the random cases show too little: %s: %d, want at least %d", name, seen[name], want[name])
	}
}

// missing are the names that are not seen often enough.
func missing(seen, want map[string]int) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(want)), func(name string) bool { return seen[name] >= want[name] })
}
