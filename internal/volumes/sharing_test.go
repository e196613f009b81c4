package volumes

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSharing compares lists that fork with slices.
func TestSharing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type side struct {
			list sharing
			want map[string][]string // claims by volume, the last one first
		}
		sides := []*side{{want: map[string][]string{}}}
		volumes := []string{"", "v", "w"}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			x := rapid.SampledFrom(sides).Draw(t, "side")
			claim := fmt.Sprint("c", rapid.IntRange(0, 7).Draw(t, "claim"))
			at := slices.IndexFunc(volumes, func(v string) bool { return slices.Contains(x.want[v], claim) })
			switch volume := rapid.SampledFrom(volumes).Draw(t, "volume"); {
			case at >= 0:
				v := volumes[at]
				x.list.remove(claim, v)
				x.want[v] = slices.DeleteFunc(slices.Clone(x.want[v]), func(c string) bool { return c == claim })
			case len(sides) < 4 && rapid.IntRange(0, 9).Draw(t, "fork") == 0:
				y := &side{x.list.fork(), map[string][]string{}}
				for v, list := range x.want {
					y.want[v] = slices.Clone(list)
				}
				sides = append(sides, y)
			default:
				x.list.add(claim, volume)
				x.want[volume] = append([]string{claim}, x.want[volume]...)
			}
			for _, x := range sides {
				for _, v := range volumes[1:] {
					var got []string
					x.list.each(v, func(claim string) { got = append(got, claim) })
					if !slices.Equal(got, x.want[v]) {
						t.Fatalf("claims of %s: %v, want %v", v, got, x.want[v])
					}
				}
			}
		}
	})
}

// BenchmarkSharing has a claim leave a volume of several, and come again.
func BenchmarkSharing(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint("claims=", n), func(b *testing.B) {
			var list sharing
			for i := range n {
				list.add(fmt.Sprint("c", i), "v")
			}
			for b.Loop() {
				list.remove("c0", "v")
				list.add("c0", "v")
			}
		})
	}
}
