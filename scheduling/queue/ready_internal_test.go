//go:build full

package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"pgregory.net/rapid"
)

// check finds anew what ready keeps, from the items that are in it.
func (r *ready) check(items []*Item) error {
	for i, l := range r.order {
		if i > 0 && r.order[i-1].priority <= l.priority {
			return fmt.Errorf("lane %d of priority %d follows one of %d", i, l.priority, r.order[i-1].priority)
		}
	}
	laned, seen := 0, map[*Item]bool{}
	for place, l := range r.lanes {
		if l.place != place || !slices.Contains(r.order, l) {
			return fmt.Errorf("lane %d says that it is %d, in order: %t", place, l.place, slices.Contains(r.order, l))
		}
		listed := 0
		for it := l.list.first; it != nil; it = it.next {
			switch {
			case seen[it] || it.index != ^place || it.Pod.Priority != l.priority:
				return fmt.Errorf("lane %d of priority %d has item %d of priority %d, index %d, seen before: %t", place, l.priority, it.serial, it.Pod.Priority, it.index, seen[it])
			case it.previous != nil && r.before(it, it.previous):
				return fmt.Errorf("lane %d: item %d sorts before %d in front of it", place, it.serial, it.previous.serial)
			case it.next == nil && l.list.last != it:
				return fmt.Errorf("lane %d ends with item %d, but says another", place, it.serial)
			}
			seen[it] = true
			listed++
		}
		if listed != l.list.len {
			return fmt.Errorf("lane %d lists %d items, want %d", place, listed, l.list.len)
		}
		laned += listed
	}
	if laned != r.laned {
		return fmt.Errorf("%d items are in lanes, but %d are counted", laned, r.laned)
	}
	if i := r.heap.heap.Check(); i >= 0 {
		return fmt.Errorf("element %d of the heap is out of place", i)
	}
	r.heap.all(func(it *Item) { seen[it] = true })
	if len(seen) != len(items) || r.len() != len(items) {
		return fmt.Errorf("%d items, counted %d, want %d", len(seen), r.len(), len(items))
	}
	for _, it := range items {
		if !seen[it] {
			return fmt.Errorf("item %d is missing", it.serial)
		}
	}
	return nil
}

// newReady returns an empty ready as a queue without a QueueSort plugin has it.
func newReady() *ready {
	r := new(ready)
	r.heap = newSorted(func(it *Item) (int64, int64) { return -int64(it.Pod.Priority), it.Timestamp.UnixNano() }, r.before)
	return r
}

func readyItem(serial uint64, priority int32, at int64) *Item {
	it := &Item{serial: serial}
	it.Pod, it.Timestamp = &framework.PodInfo{Priority: priority}, time.Unix(at, 0)
	return it
}

// TestReady compares ready with a list of the items in it, and checks it after each step.
func TestReady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, serial := newReady(), uint64(0)
		var items []*Item
		which := func(t *rapid.T) int {
			if len(items) == 0 {
				t.Skip("no item")
			}
			return rapid.IntRange(0, len(items)-1).Draw(t, "which")
		}
		priority := rapid.Int32Range(-lanesMost, lanesMost)
		if rapid.Bool().Draw(t, "few priorities") {
			priority = rapid.Int32Range(0, 2)
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				serial++
				it := readyItem(serial, priority.Draw(t, "priority"), rapid.Int64Range(0, 9).Draw(t, "time"))
				items = append(items, it)
				r.push(it)
			},
			"remove": func(t *rapid.T) {
				i := which(t)
				r.remove(items[i])
				items = slices.Delete(items, i, i+1)
			},
			"fix": func(t *rapid.T) {
				it := items[which(t)]
				it.Timestamp = time.Unix(rapid.Int64Range(0, 9).Draw(t, "time"), 0)
				r.fix(it)
			},
			"": func(t *rapid.T) {
				if err := r.check(items); err != nil {
					t.Fatal(err)
				}
				var want *Item
				for _, it := range items {
					if want == nil || r.before(it, want) {
						want = it
					}
				}
				if got := r.top(); got != want {
					t.Fatalf("top() = %+v, want %+v", got, want)
				}
			},
		})
	})
}

// TestReadyCheckFindsFaults plants a fault in each part of ready.
func TestReadyCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(r *ready){
		"order of lanes": func(r *ready) { slices.Reverse(r.order) },
		"place":          func(r *ready) { r.lanes[0].place = 1 },
		"index":          func(r *ready) { r.lanes[0].list.first.index = 0 },
		"out of order":   func(r *ready) { r.lanes[0].list.last.Timestamp = time.Unix(-1, 0) },
		"length":         func(r *ready) { r.lanes[0].list.len++ },
		"end":            func(r *ready) { r.lanes[0].list.last = r.lanes[0].list.first },
		"count":          func(r *ready) { r.laned-- },
		"lost":           func(r *ready) { r.lanes[1].list.remove(r.lanes[1].list.first); r.laned-- },
	} {
		r := newReady()
		var items []*Item
		for i, at := range []int64{5, 6, 7, 1, 2} { // the last two of each lane are late, so in the heap
			for priority := range int32(2) {
				it := readyItem(uint64(10*i)+uint64(priority), priority, at)
				items = append(items, it)
				r.push(it)
			}
		}
		if err := r.check(items); err != nil {
			t.Fatal(err)
		}
		if plant(r); r.check(items) == nil {
			t.Errorf("%s: check() finds nothing", name)
		}
	}
}
