package heap_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/internal/heap"
	"pgregory.net/rapid"
)

type element struct{ key, id int }

// TestHeap compares random histories with a sorted list, and looks at the invariant
// after each step.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := map[int]int{} // by id
		h := heap.New(
			func(a, b *element) bool { return a.key < b.key || a.key == b.key && a.id < b.id },
			func(x *element, place int) {
				if place < 0 {
					delete(places, x.id)
				} else {
					places[x.id] = place
				}
			})
		var model []element
		next := 0
		key := func(t *rapid.T) int { return rapid.IntRange(0, 20).Draw(t, "key") }
		some := func(t *rapid.T) int {
			if len(model) == 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, len(model)-1).Draw(t, "element")
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				next++
				x := element{key(t), next}
				model = append(model, x)
				h.Push(x)
			},
			"remove": func(t *rapid.T) {
				i := some(t)
				if got := h.Remove(places[model[i].id]); got != model[i] {
					t.Fatalf("Remove = %v, want %v", got, model[i])
				}
				model = slices.Delete(model, i, i+1)
			},
			"set": func(t *rapid.T) {
				i := some(t)
				model[i].key = key(t)
				h.Set(places[model[i].id], model[i])
			},
			"delete many": func(t *rapid.T) {
				from := key(t)
				drop := func(x *element) bool { return x.key >= from && x.id%3 != 0 }
				h.DeleteFunc(drop)
				model = slices.DeleteFunc(model, func(x element) bool { return drop(&x) })
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "often") == 0 {
					h.Clear()
					model = nil
				}
			},
			"": func(t *rapid.T) {
				if h.Len() != len(model) || len(places) != len(model) {
					t.Fatalf("Len = %d with %d places, want %d", h.Len(), len(places), len(model))
				}
				if at := h.Check(); at >= 0 {
					t.Fatalf("the element at %d is before its parent", at)
				}
				for _, x := range model {
					if got := h.At(places[x.id]); got == nil || *got != x {
						t.Fatalf("At(%d) = %v, want %v", places[x.id], got, x)
					}
				}
				if len(model) == 0 {
					if h.Top() != nil {
						t.Fatalf("Top of an empty heap = %v", h.Top())
					}
					return
				}
				least := slices.MinFunc(model, func(a, b element) int {
					if a.key != b.key {
						return a.key - b.key
					}
					return a.id - b.id
				})
				if *h.Top() != least {
					t.Fatalf("Top = %v, want %v", *h.Top(), least)
				}
			},
		})
	})
}

// TestHeapAllocates nothing once it has grown.
func TestHeapAllocates(t *testing.T) {
	places := make([]int, 100)
	h := heap.New(
		func(a, b *element) bool { return a.key < b.key },
		func(x *element, place int) { places[x.id] = place })
	for id := range places {
		h.Push(element{id * 7 % 100, id})
	}
	if n := testing.AllocsPerRun(100, func() {
		x := h.Remove(places[50])
		h.Push(x)
		h.Set(places[3], element{99, 3})
		h.Set(places[3], element{21, 3})
	}); n != 0 {
		t.Errorf("changing the heap allocates %v times, want 0", n)
	}
}
