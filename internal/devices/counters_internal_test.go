//go:build full

package devices

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

// TestCounters compares countersAdmit with its plain twin, for random devices, some of them in
// use, while devices are placed and taken back.
func TestCounters(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"admitted": 50, "refused": 50}, func(t *rapid.T) {
		draw := func(least, most int64, label string) api.Counter {
			return api.Counter{Value: resource.MustParse(fmt.Sprint(rapid.Int64Range(least, most).Draw(t, label)))}
		}
		sets, counters := rapid.IntRange(1, 3).Draw(t, "sets"), rapid.IntRange(1, 3).Draw(t, "counters")
		counts := func(least, most int64) map[string]api.Counter {
			m := map[string]api.Counter{}
			for i := range counters {
				m[fmt.Sprint("c", i)] = draw(least, most, "amount")
			}
			return m
		}
		p := &pools{list: []pool{{}}}
		for i := range sets {
			p.list[0].counters = append(p.list[0].counters, &api.CounterSet{Name: fmt.Sprint("set-", i), Counters: counts(-1, 12)})
		}
		x := &slice{devices: make([]Device, rapid.IntRange(1, 8).Draw(t, "devices"))}
		uses := &poolUse{slice: x, dense: make([]*use, len(x.devices))}
		for i := range x.devices {
			d := &x.devices[i]
			d.slice, d.index, d.Device = x, i, &api.Device{Name: fmt.Sprint("d", i)}
			for range rapid.IntRange(1, 3).Draw(t, "consumptions") {
				set := fmt.Sprint("set-", rapid.IntRange(0, sets-1).Draw(t, "set"))
				d.ConsumesCounters = append(d.ConsumesCounters, api.DeviceCounterConsumption{CounterSet: set, Counters: counts(-1, 3)})
			}
			uses.dense[i] = rapid.SampledFrom([]*use{nil, nil, nil, dedicatedOnce, {shares: 1}}).Draw(t, "use")
			p.list[0].consumers = append(p.list[0].consumers, d)
			p.devices = append(p.devices, candidate{device: d, number: int32(i), here: true})
		}
		s := new(search)
		s.begin(p, nil, new(State), 1)
		s.uses[0] = uses
		for range rapid.IntRange(1, 20).Draw(t, "trials") {
			c := &p.devices[rapid.IntRange(0, len(p.devices)-1).Draw(t, "device")]
			want := s.plainlyAdmit(c)
			if got := s.countersAdmit(c); got != want {
				t.Fatalf("countersAdmit(%s) beside %d devices = %t, want %t", c.device.Name, len(s.placed), got, want)
			}
			if want {
				seen["admitted"]++
				s.placed = append(s.placed, placed{device: c.device, charged: true})
			} else {
				seen["refused"]++
			}
			if len(s.placed) > 0 && rapid.IntRange(0, 3).Draw(t, "take back") == 0 {
				s.placed = s.placed[:len(s.placed)-1]
			}
		}
	})
}

// plainlyAdmit is countersAdmit without a meter: all sets, added up anew.
func (s *search) plainlyAdmit(c *candidate) bool {
	pool := &s.pools.list[c.pool]
	for _, set := range pool.counters {
		left := make(map[string]resource.Quantity, len(set.Counters))
		for name, x := range set.Counters {
			left[name] = x.Value
		}
		uses := s.uses[c.pool]
		for _, d := range pool.consumers {
			if u := uses.of(d); u.isDedicated() || u.isShared() {
				charge(left, set.Name, d)
			}
		}
		for i := range s.placed {
			if p := &s.placed[i]; p.pool == c.pool && p.charged {
				charge(left, set.Name, p.device)
			}
		}
		charge(left, set.Name, c.device)
		for _, q := range left {
			if q.Sign() < 0 {
				return false
			}
		}
	}
	return true
}

// TestCountersOfPools: sets of one name in two pools are different counters, and a placed
// device that is not charged takes nothing of them.
func TestCountersOfPools(t *testing.T) {
	one := map[string]api.Counter{"c": {Value: resource.MustParse("1")}}
	p, uses := &pools{list: make([]pool, 2)}, [2]*poolUse{}
	for at := range p.list {
		p.list[at].counters = []*api.CounterSet{{Name: "set", Counters: one}}
		x := &slice{devices: make([]Device, 2)}
		for i := range x.devices {
			d := &x.devices[i]
			d.slice, d.index, d.Device = x, i, &api.Device{Name: fmt.Sprint("d", i)}
			d.ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "set", Counters: one}}
			p.list[at].consumers = append(p.list[at].consumers, d)
			p.devices = append(p.devices, candidate{pool: at, device: d, number: int32(len(p.devices)), here: true})
		}
		uses[at] = &poolUse{slice: x, dense: make([]*use, len(x.devices))}
	}
	for _, tt := range []struct{ charged, same, other bool }{{true, false, true}, {false, true, true}} {
		s := new(search)
		s.begin(p, nil, new(State), 1)
		s.uses[0], s.uses[1] = uses[0], uses[1]
		s.placed = append(s.placed, placed{pool: p.devices[0].pool, device: p.devices[0].device, charged: tt.charged})
		if same, other := s.countersAdmit(&p.devices[1]), s.countersAdmit(&p.devices[2]); same != tt.same || other != tt.other {
			t.Errorf("charged %t: a device of the same pool is admitted: %t, of the other: %t; want %t and %t", tt.charged, same, other, tt.same, tt.other)
		}
	}
}
