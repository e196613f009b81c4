package changelog

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLog compares a log with a list that nothing is dropped from.
func TestLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var zero, small Log[int32]
		small = New[int32](10)
		l := rapid.SampledFrom([]*Log[int32]{&zero, &small}).Draw(t, "log")
		limit := l.Limit()
		var all []int32
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			n := rapid.SampledFrom([]int{0, 1, 3, limit/2 - 1, limit, limit + 5}).Draw(t, "entries")
			slots := make([]int32, n)
			for i := range slots {
				slots[i] = int32(len(all) + i)
			}
			all = append(all, slots...)
			if rapid.Bool().Draw(t, "at once") {
				l.AddAll(slots)
			} else {
				for _, slot := range slots {
					l.Add(slot)
				}
			}
			if err := l.Check(l.End()); err != nil {
				t.Fatal(err)
			}
			if got, want := l.End(), uint64(len(all)); got != want {
				t.Fatalf("End() = %d, want %d", got, want)
			}
			at := rapid.IntRange(0, len(all)).Draw(t, "at")
			got, ok := l.Since(uint64(at))
			if !ok && len(all)-at <= limit/2 {
				t.Fatalf("Since(%d) of %d: the entries are gone", at, len(all))
			}
			if ok && !slices.Equal(got, all[at:]) {
				t.Fatalf("Since(%d) of %d has %d entries from %v, want %d", at, len(all), len(got), got[:1], len(all)-at)
			}
		}
		if l.Check(l.End()+1) == nil {
			t.Fatal("Check() of a reader that is ahead finds nothing")
		}
	})
}

// TestCheckFindsFaults plants a log that grew too long.
func TestCheckFindsFaults(t *testing.T) {
	l := New[int32](4)
	l.entries = make([]int32, 5)
	if l.Check(0) == nil {
		t.Error("Check() of a log beyond its limit finds nothing")
	}
}
