//go:build full

package devices_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

const (
	counted   = 40 // of each counter
	bandwidth = 10 // of each device that can be shared
)

// partsOf returns the slices of a node: counters, devices that consume them, one device that can be
// shared, and two that cannot.
func partsOf(node string) []*api.ResourceSlice {
	slice := func(name, pool string, count int64) *api.ResourceSlice {
		s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: node + "-" + name}}
		s.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: &node, Pool: api.ResourcePool{Name: node + "-" + pool, Generation: 1, ResourceSliceCount: count}}
		return s
	}
	kind := func(name string) map[string]api.DeviceAttribute {
		return map[string]api.DeviceAttribute{"kind": {StringValue: new(name)}}
	}
	amount := func(n int64) resource.Quantity { return resource.New(n, resource.DecimalSI) }
	counters, parts, others := slice("counters", "parts", 2), slice("parts", "parts", 2), slice("others", "others", 1)
	counters.Spec.SharedCounters = []api.CounterSet{{Name: "set", Counters: map[string]api.Counter{"memory": {Value: amount(counted)}}}}
	for i := range 5 {
		parts.Spec.Devices = append(parts.Spec.Devices, api.Device{
			Name: fmt.Sprint("part-", i), Attributes: kind("part"),
			ConsumesCounters: []api.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]api.Counter{"memory": {Value: amount(consumed(i))}}}},
		})
	}
	others.Spec.Devices = []api.Device{
		{Name: "net", Attributes: kind("net"), AllowMultipleAllocations: new(true), Capacity: map[string]api.DeviceCapacity{"bandwidth": {Value: amount(bandwidth)}}},
		{Name: "plain-0", Attributes: kind("plain")},
		{Name: "plain-1", Attributes: kind("plain")},
	}
	return []*api.ResourceSlice{counters, parts, others}
}

// consumed is how much of the counter a device consumes.
func consumed(part int) int64 { return int64(10 * (1 + part%3)) }

func partsSnapshot(t *rapid.T) *framework.Snapshot {
	o := &api.Objects{DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}}}
	for _, name := range []string{"n0", "n1"} {
		o.Nodes = append(o.Nodes, api.MakeNode(name, "8", "8Gi").Obj())
		o.ResourceSlices = append(o.ResourceSlices, partsOf(name)...)
	}
	for name, e := range map[string]api.ExactDeviceRequest{
		"part": {Count: 1}, "part-2": {Count: 2}, "plain": {Count: 1},
		"net":        {Count: 1, Capacity: &api.CapacityRequirements{Requests: map[string]resource.Quantity{"bandwidth": resource.MustParse("3")}}},
		"part-admin": {Count: 2, AdminAccess: new(true)}, "plain-admin": {Count: 1, AdminAccess: new(true)},
	} {
		kind := name
		if i := slices.Index([]byte(name), '-'); i >= 0 {
			kind = name[:i]
		}
		e.DeviceClassName, e.AllocationMode = "any", api.DeviceAllocationModeExactCount
		e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d.io"].kind == %q`, kind)}}}
		c := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
		c.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &e}}
		o.ResourceClaimTemplates = append(o.ResourceClaimTemplates, c)
	}
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A holder is a snapshot with the pods that hold devices in flight.
type holder struct {
	snap  *framework.Snapshot
	pods  map[string]*framework.PodInfo
	marks []holderMark
}

type holderMark struct {
	at   framework.Mark
	pods map[string]*framework.PodInfo
	text string
}

func (h *holder) text() string { return devices.Uses(h.snap) + "\n" + devices.Flights(h.snap) }

// results lists what claims have, written or in flight.
func (h *holder) results() (list []api.DeviceRequestAllocationResult) {
	for _, c := range framework.List[api.ResourceClaim](h.snap) {
		list = append(list, c.Status.Allocation.Devices.Results...)
	}
	for _, p := range h.pods {
		for _, c := range devices.InFlight(h.snap, p) {
			list = append(list, c.Claim.Status.Allocation.Devices.Results...)
		}
	}
	return list
}

// check finds devices that are given twice, and counters and capacity that are overdrawn.
func (h *holder) check(t *rapid.T) {
	given, memory, shared := map[string]bool{}, map[string]int64{}, map[string]int64{}
	for _, r := range h.results() {
		id := r.Pool + "/" + r.Device
		switch {
		case r.AdminAccess != nil:
		case r.ShareID != nil:
			q := r.ConsumedCapacity["bandwidth"]
			shared[id] += q.Value()
		case given[id]:
			t.Fatalf("device %s is given twice", id)
		default:
			given[id] = true
			var part int
			if _, err := fmt.Sscanf(r.Device, "part-%d", &part); err == nil {
				memory[r.Pool] += consumed(part)
			}
		}
	}
	for pool, n := range memory {
		if n > counted {
			t.Fatalf("the devices of pool %s consume %d of %d", pool, n, counted)
		}
	}
	for id, n := range shared {
		if n > bandwidth {
			t.Fatalf("the shares of %s consume %d of %d", id, n, bandwidth)
		}
	}
}

// reserve gives a pod devices of a node, and reports whether there were any.
func (h *holder) reserve(t *rapid.T, name, template, node string) (*framework.PodInfo, bool) {
	p, err := h.snap.NewPodInfo(podFor(name, template))
	if err != nil {
		t.Fatal(err)
	}
	f, status := devices.FinderOf(h.snap, p, devices.Options{Choice: rapid.SampledFrom([]devices.Choice{devices.FirstFit, devices.LeastLeftover}).Draw(t, "choice")})
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	_, status = f.Reserve(h.snap.Node(node))
	return p, status.IsSuccess()
}

// TestProperties gives and takes devices in snapshots and their forks. No device is given
// twice, no counter or capacity is overdrawn, what is taken back leaves no trace, admin
// access consumes nothing, and forks are independent.
func TestProperties(t *testing.T) {
	given := map[string]int{} // how often each template was given devices
	templates := map[string]int{"part": 1, "part-2": 1, "net": 1, "plain": 1, "part-admin": 1, "plain-admin": 1}
	enough.Check(t, given, templates, func(t *rapid.T) {
		holders := []*holder{{snap: partsSnapshot(t), pods: map[string]*framework.PodInfo{}}}
		serial := 0
		node := rapid.SampledFrom([]string{"n0", "n1"})
		template := rapid.SampledFrom([]string{"part", "part-2", "net", "plain", "part-admin", "plain-admin"})
		var h *holder
		var others []string
		name := func() string { serial++; return fmt.Sprint("p", serial) }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				for i, x := range holders {
					x.check(t)
					if x != h && i < len(others) && x.text() != others[i] {
						t.Fatalf("a fork has changed from\n%s\nto\n%s", others[i], x.text())
					}
				}
				h = rapid.SampledFrom(holders).Draw(t, "holder")
				others = others[:0]
				for _, x := range holders {
					others = append(others, x.text())
				}
			},
			"reserve": func(t *rapid.T) {
				n, of := name(), template.Draw(t, "template")
				if p, ok := h.reserve(t, n, of, node.Draw(t, "node")); ok {
					h.pods[n] = p
					given[of]++
				}
			},
			"reserve and release": func(t *rapid.T) {
				before := h.text()
				if p, ok := h.reserve(t, name(), template.Draw(t, "template"), node.Draw(t, "node")); ok {
					devices.Release(h.snap, p)
				}
				if after := h.text(); after != before {
					t.Fatalf("before Reserve\n%s\nafter Release\n%s", before, after)
				}
			},
			"admin": func(t *rapid.T) {
				before := devices.Uses(h.snap)
				n := name()
				if p, ok := h.reserve(t, n, rapid.SampledFrom([]string{"part-admin", "plain-admin"}).Draw(t, "template"), node.Draw(t, "node")); ok {
					h.pods[n] = p
				}
				if after := devices.Uses(h.snap); after != before {
					t.Fatalf("admin access uses\n%s\nbefore it was\n%s", after, before)
				}
			},
			"release": func(t *rapid.T) {
				if names := slices.Sorted(maps.Keys(h.pods)); len(names) > 0 {
					n := rapid.SampledFrom(names).Draw(t, "pod")
					devices.Release(h.snap, h.pods[n])
					delete(h.pods, n)
				}
			},
			"write": func(t *rapid.T) {
				names := slices.Sorted(maps.Keys(h.pods))
				if len(names) == 0 {
					return
				}
				n := rapid.SampledFrom(names).Draw(t, "pod")
				before := devices.Uses(h.snap)
				for _, c := range devices.InFlight(h.snap, h.pods[n]) {
					written, err := c.Write(nil, h.pods[n].Pod, time.Unix(1, 0))
					if err != nil {
						t.Fatal(err)
					}
					written.Name += n
					if err := framework.Put(h.snap, written); err != nil {
						t.Fatal(err)
					}
				}
				delete(h.pods, n)
				if after := devices.Uses(h.snap); after != before {
					t.Fatalf("a claim that is written uses\n%s\nin flight it was\n%s", after, before)
				}
			},
			"delete": func(t *rapid.T) {
				if list := framework.List[api.ResourceClaim](h.snap); len(list) > 0 {
					framework.Delete[api.ResourceClaim](h.snap, rapid.SampledFrom(list).Draw(t, "claim").Key())
				}
			},
			"fork": func(*rapid.T) {
				if len(holders) < 3 && len(h.marks) == 0 {
					holders = append(holders, &holder{snap: h.snap.Fork(), pods: maps.Clone(h.pods)})
				}
			},
			"begin": func(*rapid.T) {
				h.marks = append(h.marks, holderMark{h.snap.Begin(), maps.Clone(h.pods), h.text()})
			},
			"rollback": func(t *rapid.T) {
				if n := len(h.marks); n > 0 {
					m := h.marks[n-1]
					h.snap.Rollback(m.at)
					h.pods, h.marks = m.pods, h.marks[:n-1]
					if now := h.text(); now != m.text {
						t.Fatalf("after Rollback\n%s\nbefore\n%s", now, m.text)
					}
				}
			},
		})
	})
}
