package devices

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
)

// TestManySharesOfADevice: what a share costs does not depend on how many there are, neither in
// one allocation, with a name of its own for the capacity of each, nor in one claim each.
func TestManySharesOfADevice(t *testing.T) {
	n := effort.Of(5000, 20_000)
	s := framework.NewSnapshot(framework.Arrival)
	x := stateKey.Of(s)
	share := func(i int, name string) api.DeviceRequestAllocationResult {
		id := api.UID(fmt.Sprint("share-", i))
		return api.DeviceRequestAllocationResult{
			Request: "r", Driver: "d.io", Pool: "p", Device: "shared", ShareID: &id,
			ConsumedCapacity: map[string]resource.Quantity{name: resource.New(1, resource.DecimalSI)},
		}
	}
	claim := func(name string, results ...api.DeviceRequestAllocationResult) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
		c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: results}}
		return c
	}
	var results []api.DeviceRequestAllocationResult
	for i := range n {
		results = append(results, share(i, fmt.Sprint("capacity-", i)))
	}
	used := func() *use {
		p, ok := x.uses.Get(PoolID{"d.io", "p"})
		if !ok {
			return nil
		}
		return p.named("shared")
	}
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	put := func(c *api.ResourceClaim) {
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
	}
	big := claim("big", results...)
	if each := allocated(func() {
		m := s.Begin()
		put(big)
		s.Rollback(m)
		if u := used(); u != nil {
			t.Errorf("after the rollback %+v is left", u)
		}
		put(big)
		if u := used(); u.shares != n || len(u.capacity) != n {
			t.Errorf("%d shares of %d capacities, want %d of each", u.shares, len(u.capacity), n)
		}
		f := s.Fork()
		framework.Delete[api.ResourceClaim](s, "default/big")
		if err := f.Check(); err != nil {
			t.Errorf("the fork: %v", err)
		}
		if u := used(); u != nil {
			t.Errorf("after the deletion %+v is left", u)
		}
	}); each > 10_000 {
		t.Errorf("each share of one claim takes %d bytes of memory", each)
	}
	if each := allocated(func() {
		for i := range n {
			put(claim(fmt.Sprint("c", i), share(i, "memory")))
		}
	}); each > 10_000 {
		t.Errorf("each share of %d claims takes %d bytes of memory", n, each)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
