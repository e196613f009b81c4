//go:build full

package volumes

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestIndex compares with a visit to every item.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.SampledFrom([]string{"", "host", "zone"}), rapid.SampledFrom([]string{"a", "b"})
		var x index
		must := make([]label, rapid.IntRange(0, 8).Draw(t, "items"))
		for rank := range must {
			if k := key.Draw(t, "key"); k != "" {
				must[rank] = label{k, value.Draw(t, "value")}
			}
			x.add(rank, must[rank])
		}
		labels := map[string]string{}
		for _, k := range []string{"host", "zone"} {
			if rapid.Bool().Draw(t, "has "+k) {
				labels[k] = value.Draw(t, k)
			}
		}
		refused := rapid.SliceOfN(rapid.Bool(), len(must), len(must)).Draw(t, "refused")
		want := -1
		for rank := len(must) - 1; rank >= 0; rank-- {
			have, ok := labels[must[rank].key]
			if !refused[rank] && (must[rank].key == "" || ok && have == must[rank].value) {
				want = rank
			}
		}
		if got := x.first(labels, func(rank int) bool { return !refused[rank] }); got != want {
			t.Fatalf("first(%v) = %d, want %d (%s)", labels, got, want, fmt.Sprint(must))
		}
	})
}
