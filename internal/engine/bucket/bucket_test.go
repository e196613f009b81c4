package bucket

import (
	"testing"

	"github.com/berth-sched/berth/internal/engine/guard"
	"pgregory.net/rapid"
)

// linear maps a range to 0..100.
type linear struct{}

func (linear) NormalizeScore(raw, low, high int64) int64 {
	if low == high {
		return 100
	}
	return 100 * (raw - low) / (high - low)
}

// place puts a node into the bucket of its raw score, or of those left out.
func place(k *Buckets, slot int32, raw int64, out bool) bool {
	if out {
		return k.LeaveOut(slot)
	}
	return k.Place(slot, raw)
}

// check checks the buckets, and their norms if they are settled.
func check(k *Buckets, shut []bool, settled bool) error {
	if err := k.Check(); err != nil || !settled {
		return err
	}
	return k.CheckNorms(linear{}, shut)
}

// TestBucketsAgreeWithList compares buckets with a plain list of raw scores.
func TestBucketsAgreeWithList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const slots = 20
		type node struct {
			in, out bool
			raw     int64
		}
		var (
			k      Buckets
			g      guard.Guard
			nodes  [slots]node
			norms  [slots]int64 // when it was settled last
			placed [slots]bool  // since then
			groups = 1
			of     = make([]uint8, slots)
			shut   = []bool{false}
			all    []int32
		)
		for slot := range slots {
			all = append(all, int32(slot))
		}
		k.Reset(slots, groups, of)
		settled := false
		t.Repeat(map[string]func(*rapid.T){
			"place": func(t *rapid.T) {
				slot := rapid.Int32Range(0, slots-1).Draw(t, "slot")
				now := node{true, rapid.IntRange(0, 4).Draw(t, "out") == 0, rapid.Int64Range(-3, 3).Draw(t, "raw")}
				was := nodes[slot]
				moved := place(&k, slot, now.raw, now.out)
				if same := was.in && was.out == now.out && (now.out || was.raw == now.raw); moved == same {
					t.Fatalf("Place(%d, %+v) after %+v = %v", slot, now, was, moved)
				}
				nodes[slot], settled = now, settled && !moved
				placed[slot] = placed[slot] || moved
			},
			"remove": func(t *rapid.T) {
				slot := rapid.Int32Range(0, slots-1).Draw(t, "slot")
				k.Remove(slot)
				nodes[slot], settled = node{}, false
			},
			"divide": func(t *rapid.T) {
				groups = rapid.IntRange(1, 3).Draw(t, "groups")
				of, shut = make([]uint8, slots), make([]bool, groups)
				for slot := range of {
					of[slot] = uint8(slot % groups)
				}
				k.Divide(all, groups, of)
				settled = false
			},
			"shut": func(t *rapid.T) {
				group := rapid.IntRange(0, groups-1).Draw(t, "group")
				shut[group], settled = !shut[group], false
			},
			"settle": func(t *rapid.T) {
				moved, ok := k.Settle(linear{}, shut, &g)
				if !ok {
					t.Fatal("Settle says that a score is out of bounds")
				}
				named := map[int32]bool{}
				k.EachMoved(func(slot int32) { named[slot] = true })
				if moved != len(named) {
					t.Fatalf("Settle says %d nodes moved, EachMoved names %d", moved, len(named))
				}
				k.Settled()
				for slot, n := range nodes {
					norm := k.Norm(int32(slot))
					if n.in && !n.out && norm != norms[slot] && !placed[slot] && !named[int32(slot)] {
						t.Fatalf("EachMoved lacks slot %d, whose score was %d and is %d", slot, norms[slot], norm)
					}
					norms[slot], placed[slot] = norm, false
				}
				settled = true
			},
			"": func(t *rapid.T) {
				if err := check(&k, shut, settled); err != nil {
					t.Fatal(err)
				}
				low, high, values := int64(99), int64(-99), map[int64]bool{}
				anyOut := false
				for slot, n := range nodes {
					raw, out, in := k.Has(int32(slot))
					if in != n.in || out != n.out || in && !out && raw != n.raw {
						t.Fatalf("Has(%d) = %d, %v, %v, want %+v", slot, raw, out, in, n)
					}
					anyOut = anyOut || n.out
					if !n.in || n.out {
						continue
					}
					values[n.raw] = true
					if !shut[of[slot]] {
						low, high = min(low, n.raw), max(high, n.raw)
					}
				}
				if got, want := k.Uniform(), len(values) <= 1 && !anyOut; got != want {
					t.Fatalf("Uniform() = %v, want %v", got, want)
				}
				if _, ok := k.Constant(); ok != (len(values) == 1 && !anyOut) {
					t.Fatalf("Constant() = %v with %d values, nodes left out: %v", ok, len(values), anyOut)
				}
				for slot, n := range nodes {
					if settled && n.in && !n.out && !shut[of[slot]] {
						if got, want := k.Norm(int32(slot)), (linear{}).NormalizeScore(n.raw, low, high); got != want {
							t.Fatalf("Norm(%d) = %d, want %d of %d to %d", slot, got, want, low, high)
						}
					}
				}
			},
		})
	})
}

// TestCheckFindsFaults plants a fault in each part of the buckets.
func TestCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(*Buckets){
		"order":  func(k *Buckets) { k.sorted[0], k.sorted[1] = k.sorted[1], k.sorted[0] },
		"list":   func(k *Buckets) { k.prev[0] = 7 },
		"bucket": func(k *Buckets) { k.of[1] = k.of[2] },
		"nodes":  func(k *Buckets) { k.all[0].nodes++ },
		"counts": func(k *Buckets) { k.counts[0]++ },
		"free":   func(k *Buckets) { k.free = append(k.free, 0) },
		"lost":   func(k *Buckets) { k.sorted = k.sorted[1:] },
		"norm":   func(k *Buckets) { k.all[1].norm++ },
		"range":  func(k *Buckets) { k.high++ },
		"twice":  func(k *Buckets) { k.all[1].value = k.all[0].value },
	} {
		var k Buckets
		var g guard.Guard
		k.Reset(9, 2, make([]uint8, 9))
		for slot := range int32(9) {
			place(&k, slot, int64(slot%3), slot == 8)
		}
		shut := []bool{false, false}
		k.Settle(linear{}, shut, &g)
		if err := check(&k, shut, true); err != nil {
			t.Fatal(err)
		}
		if plant(&k); check(&k, shut, true) == nil {
			t.Errorf("%s: Check() finds nothing in %s", name, &k)
		}
	}
}
