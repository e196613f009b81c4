//go:build full

package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"pgregory.net/rapid"
)

// TestDeadlinesAgreeWithMap compares the heap with a map from slots to deadlines.
func TestDeadlinesAgreeWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d deadlines
		d.reset()
		want := map[int32]time.Time{}
		at := func(k int) time.Time { return time.Unix(int64(k), 0) }
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				slot, when := rapid.Int32Range(0, 60).Draw(t, "slot"), at(rapid.IntRange(1, 20).Draw(t, "deadline"))
				d.set(slot, when)
				want[slot] = when
			},
			"remove": func(t *rapid.T) {
				slot := rapid.Int32Range(0, 70).Draw(t, "slot")
				d.remove(slot)
				delete(want, slot)
			},
			"take": func(t *rapid.T) {
				now := at(rapid.IntRange(0, 21).Draw(t, "now"))
				taken := []int32{-1}
				for _, slot := range d.take(now, taken)[1:] {
					if when, ok := want[slot]; !ok || when.After(now) {
						t.Fatalf("take(%v) has slot %d, whose deadline is %v", now, slot, when)
					}
					delete(want, slot)
				}
				for slot, when := range want {
					if !when.After(now) {
						t.Fatalf("take(%v) leaves slot %d, whose deadline is %v", now, slot, when)
					}
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					d.reset()
					clear(want)
				}
			},
			"": func(t *rapid.T) {
				if err := d.check(); err != nil {
					t.Fatal(err)
				}
				for slot := range int32(71) {
					if got := d.of(slot); !got.Equal(want[slot]) {
						t.Fatalf("of(%d) = %v, want %v", slot, got, want[slot])
					}
				}
				now, come := at(rapid.IntRange(0, 21).Draw(t, "now")), 0
				for _, when := range want {
					if !when.After(now) {
						come++
					}
				}
				if got := d.about(now); got > 0 != (come > 0) || len(want) <= sampled && got != come {
					t.Fatalf("about(%v) = %d of %d deadlines, want about %d", now, got, len(want), come)
				}
			},
		})
	})
}

// TestDivisionAgreesWithPairs: two nodes have one group exactly if all sources have them
// in one group.
func TestDivisionAgreesWithPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "nodes")
		slots := rapid.Permutation(slices.Collect(func(yield func(int32) bool) {
			for i := range int32(n) {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "slots")
		o := &nodelog.Order{Slots: slots, Place: make([]int32, n)}
		for place, slot := range slots {
			o.Place[slot] = int32(place)
		}
		var sources []incremental.Groups
		for range rapid.IntRange(0, 3).Draw(t, "sources") {
			count := rapid.SampledFrom([]int{1, 2, 5, groupsMost, groupsMost + 1}).Draw(t, "groups")
			of := rapid.SliceOfN(rapid.Int32Range(0, int32(count-1)), n, n).Draw(t, "of")
			sources = append(sources, incremental.Groups{Of: of, Count: count})
		}
		key := func(slot int32) string {
			text := ""
			for _, s := range sources {
				text += fmt.Sprint(s.Of[slot], " ")
			}
			return text
		}
		keys, tooMany := map[string]uint8{}, false
		for _, s := range sources {
			tooMany = tooMany || s.Count > groupsMost
		}
		for slot := range int32(n) {
			keys[key(slot)] = 0
		}
		tooMany = tooMany || len(keys) > groupsMost
		var l divisions
		d := l.find(o, sources)
		if d == nil != tooMany {
			t.Fatalf("find() = %v with %d groups", d, len(keys))
		}
		if d == nil {
			return
		}
		if l.find(o, sources) != d {
			t.Fatal("find() makes the same division again")
		}
		if err := d.check(); err != nil {
			t.Fatal(err)
		}
		if d.count != len(keys) {
			t.Fatalf("%d groups, want %d", d.count, len(keys))
		}
		clear(keys)
		for slot := range int32(n) {
			if g, ok := keys[key(slot)]; ok && g != d.of[slot] {
				t.Fatalf("slot %d is of group %d, others like it are of %d", slot, d.of[slot], g)
			}
			keys[key(slot)] = d.of[slot]
		}
		for _, s := range sources {
			if !d.knows(s) {
				t.Fatal("knows() denies a source")
			}
		}
	})
}

// uncomparable is a reasoner that cannot be the key of a map.
type uncomparable []string

func (u uncomparable) Reasons(uint64) []string { return u }

// TestReasonsAgreeWithList: a reason keeps its number, and no two have the same.
func TestReasonsAgreeWithList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r reasons
		r.reset()
		numbers := map[string]int32{}
		for range rapid.IntRange(1, 120).Draw(t, "rejections") {
			at, text := rapid.IntRange(0, 2).Draw(t, "filter"), fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "text"))
			overrides := rapid.Bool().Draw(t, "overrides")
			got := r.number(reason{at: at, status: framework.UnschedulableStatus(framework.Text(text)), overrides: overrides})
			key := fmt.Sprint(at, text, overrides)
			if want, ok := numbers[key]; ok && got != want {
				t.Fatalf("number(%s) = %d, and %d before", key, got, want)
			}
			numbers[key] = got
			if rapid.IntRange(0, 9).Draw(t, "uncomparable") == 0 {
				r.number(reason{at: at, status: framework.NewStatus(framework.Unschedulable, uncomparable{text})})
			}
			if err := r.check(); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[int32]string{}
		for key, n := range numbers {
			if other, ok := seen[n]; ok {
				t.Fatalf("%s and %s have the number %d", key, other, n)
			}
			seen[n] = key
		}
	})
}

// TestChecksFindFaults plants a fault in each part of what an engine keeps. A fault
// is named after the mistake that would lead to it.
func TestChecksFindFaults(t *testing.T) {
	for name, plant := range map[string]func(e *Engine, c *class){
		"a class lost its number":     func(e *Engine, c *class) { e.numbered[c.number-1] = nil },
		"a class lost its base":       func(e *Engine, c *class) { delete(e.bases, c.base.key) },
		"bytes forgotten":             func(e *Engine, c *class) { e.stats.Bytes++ },
		"users forgotten":             func(e *Engine, c *class) { c.base.users++ },
		"a class ahead of the log":    func(e *Engine, c *class) { c.at.rows = c.base.log.End() + 1 },
		"a class ahead of its base":   func(e *Engine, c *class) { c.at.epoch++ },
		"a dirty row dropped":         func(e *Engine, c *class) { c.base.rows.tree.Leaves[2]++ },
		"a row of another reason":     func(e *Engine, c *class) { c.base.rows.tree.Leaves[2] = ^1 },
		"a base that is not followed": func(e *Engine, c *class) { c.base.at.entry-- },
		"a node's score forgotten":    func(e *Engine, c *class) { c.base.rows.nodes[2].score++ },
		"a node's verdict forgotten":  func(e *Engine, c *class) { c.base.rows.nodes[2].bits = 1<<1 | 1 },
		"a raw score forgotten":       func(e *Engine, c *class) { c.base.plugins.normalized[0].raw[2]++ },
		"a deadline forgotten":        func(e *Engine, c *class) { c.base.due.remove(c.base.due.heap.Top().slot) },
		"a deadline of another row": func(e *Engine, c *class) {
			c.base.due.place[2], c.base.due.place[3] = c.base.due.place[3], c.base.due.place[2]
		},
		"a total forgotten":             func(e *Engine, c *class) { c.totals.tree.Set(2, c.totals.tree.Leaves[2]+1) },
		"a summary forgotten":           func(e *Engine, c *class) { c.totals.tree.Leaves[2]++ },
		"a reason not counted":          func(e *Engine, c *class) { c.count(2, 1, 1) },
		"a group's offset wrong":        func(e *Engine, c *class) { c.totals.tree.Offset[0]++ },
		"a group shut in the tree only": func(e *Engine, c *class) { c.totals.tree.Shut[0] = !c.totals.tree.Shut[0] },
		"a group shut without a gate":   func(e *Engine, c *class) { c.groups.shut[0], c.totals.tree.Shut[0] = 1, true },
		"totals pending":                func(e *Engine, c *class) { c.totals.postpone(2) },
		"a column stale":                func(e *Engine, c *class) { c.columns.list[0].scores.(*valueScores).buckets.Place(2, 77) },
		"a column's node forgotten":     func(e *Engine, c *class) { c.columns.list[0].scores.remove(2) },
		"a list not normalized":         func(e *Engine, c *class) { c.columns.list[1].scores.(*nodeScores).normalized[2]++ },
		"a group's score wrong":         func(e *Engine, c *class) { c.columns.list[3].scores.(*groupScores).values[1]++ },
		"the best total wrong":          func(e *Engine, c *class) { e.view.best.count++ },
		"a division out of order":       func(e *Engine, c *class) { slices.Reverse(c.groups.division.slots[1]) },
		"two reasons with one meaning": func(e *Engine, c *class) {
			why := reason{at: 9, status: framework.UnschedulableStatus(framework.Text("why"))}
			c.base.reasons.list = append(c.base.reasons.list, why, why)
		},
		"a class idle with live plugins": func(e *Engine, c *class) { c.state = idle },
		"a class of an earlier fork":     func(e *Engine, c *class) { c.at.bound-- },
		"a class ahead of its fork":      func(e *Engine, c *class) { c.at.bound++ },
		"a base of another engine":       func(e *Engine, c *class) { c.base.tracker = c.base.tracker.Clone() },
		"a node not tracked":             func(e *Engine, c *class) { c.base.tracker.Nodes()[2] = nil },
	} {
		m := newMachine(20)
		m.live = zoneGate | zoneScorer
		m.snap.SetNow(m.snap.Now().Add(125 * time.Second)) // one node in seven is never tired
		m.check(m.snap.UpdateNode(m.node("n3", 2)))
		for i := range 12 {
			m.ask(t, 0, i, 1000)
		}
		m.snap.SetNow(m.snap.Now().Add(-60 * time.Second))
		m.ask(t, 0, 0, 1000)
		e := m.engine
		if plant(e, e.classes["0"]); checkEngine(e) == nil {
			t.Errorf("%s: the checks find nothing", name)
		}
	}
}

// TestDivisionsBelongToAnOrder: after a node has gone, whose slot stays free, no division of
// the order before is found, not even the one that every order has.
func TestDivisionsBelongToAnOrder(t *testing.T) {
	before := &nodelog.Order{Slots: []int32{0, 1, 2}, Place: []int32{0, 1, 2}}
	after := &nodelog.Order{Slots: []int32{1, 2}, Place: []int32{-1, 0, 1}}
	sources := []incremental.Groups{{Of: []int32{0, 1, 1}, Count: 2}}
	var l divisions
	for _, sources := range [][]incremental.Groups{nil, sources} {
		for _, o := range []*nodelog.Order{before, after, before} {
			d := l.find(o, sources)
			listed := 0
			for _, slots := range d.slots {
				listed += len(slots)
			}
			if d.order != o || listed != len(o.Slots) || d.first[0] != o.Slots[0] {
				t.Errorf("%d sources, %d nodes: the division lists %d nodes, the first of slot %d", len(sources), len(o.Slots), listed, d.first[0])
			}
		}
	}
}
