//go:build full

package devices_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/resource"
)

// A side is a snapshot and what should be in use in it, counted from claims and from what
// pods have in flight.
type side struct {
	snap   *framework.Snapshot
	flying map[string]*framework.PodInfo
	marks  []mark
}

type mark struct {
	at     framework.Mark
	flying map[string]*framework.PodInfo
}

// want lists the devices in use: results of claims and of flights, without admin access.
func (x *side) want() map[string]bool {
	used := map[string]bool{}
	add := func(a *api.AllocationResult) {
		if a == nil {
			return
		}
		for _, r := range a.Devices.Results {
			if r.AdminAccess == nil {
				used[r.Pool+"/"+r.Device] = true
			}
		}
	}
	for _, c := range framework.List[api.ResourceClaim](x.snap) {
		add(c.Status.Allocation)
	}
	for _, p := range x.flying {
		for _, c := range devices.InFlight(x.snap, p) {
			add(c.Claim.Status.Allocation)
		}
	}
	return used
}

// got asks for each device of a node alone, by its index, whether it is free.
func (x *side) got(t *rapid.T, node string, index int) bool {
	p, err := x.snap.NewPodInfo(podFor(fmt.Sprint("probe-", index), fmt.Sprint("one-", index)))
	if err != nil {
		t.Fatal(err)
	}
	var f devices.Finder
	if status := f.Prepare(x.snap, p, devices.Options{}); !status.IsSuccess() {
		t.Fatalf("Prepare = %v", status)
	}
	return f.Find(x.snap.Node(node), nil).IsSuccess()
}

func podFor(name, template string) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Obj()
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "d", ResourceClaimTemplateName: &template}}
	return p
}

const perNode = 4

func newSide(t *rapid.T) *side {
	o := &api.Objects{DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}}}
	template := func(name string, count int64, expression string, admin bool) {
		c := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
		e := &api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: count}
		if admin {
			e.AdminAccess = &admin
		}
		if expression != "" {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: expression}}}
		}
		c.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: e}}
		o.ResourceClaimTemplates = append(o.ResourceClaimTemplates, c)
	}
	for i := range perNode {
		template(fmt.Sprint("one-", i), 1, fmt.Sprintf(`device.attributes["d.io"].index == %d`, i), false)
	}
	template("two", 2, "", false)
	template("admin", 1, "", true)
	for _, name := range []string{"n0", "n1"} {
		o.Nodes = append(o.Nodes, api.MakeNode(name, "8", "8Gi").Obj())
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		x.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
		for i := range perNode {
			x.Spec.Devices = append(x.Spec.Devices, api.Device{
				Name: fmt.Sprint(i), Attributes: map[string]api.DeviceAttribute{"index": {IntValue: new(int64(i))}},
				Capacity: map[string]api.DeviceCapacity{"m": {Value: resource.MustParse("1")}},
			})
		}
		o.ResourceSlices = append(o.ResourceSlices, x)
	}
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	return &side{snap: s, flying: map[string]*framework.PodInfo{}}
}

// TestState makes random changes to a snapshot and its forks, and compares what is in use
// with a count from scratch.
func TestState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sides := []*side{newSide(t)}
		serial := 0
		var x *side
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				for k, x := range sides {
					want := x.want()
					for _, node := range []string{"n0", "n1"} {
						for i := range perNode {
							key := fmt.Sprintf("%s/%d", node, i)
							if free := x.got(t, node, i); free == want[key] {
								t.Fatalf("side %d: device %s free: %v, in use: %v", k, key, free, want[key])
							}
						}
					}
				}
				x = rapid.SampledFrom(sides).Draw(t, "side")
			},
			"reserve": func(t *rapid.T) {
				serial++
				name := fmt.Sprint("p", serial)
				p, err := x.snap.NewPodInfo(podFor(name, rapid.SampledFrom([]string{"one-0", "one-2", "two", "admin"}).Draw(t, "template")))
				if err != nil {
					t.Fatal(err)
				}
				var f devices.Finder
				if status := f.Prepare(x.snap, p, devices.Options{}); !status.IsSuccess() {
					t.Fatal(status)
				}
				node := x.snap.Node(rapid.SampledFrom([]string{"n0", "n1"}).Draw(t, "node"))
				if _, status := f.Reserve(node); status.IsSuccess() {
					x.flying[name] = p
				}
			},
			"release": func(t *rapid.T) {
				if names := slices.Sorted(maps.Keys(x.flying)); len(names) > 0 {
					name := rapid.SampledFrom(names).Draw(t, "pod")
					devices.Release(x.snap, x.flying[name])
					delete(x.flying, name)
				}
			},
			"claim": func(t *rapid.T) {
				c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", rapid.IntRange(0, 2).Draw(t, "claim")), Namespace: "default"}}
				if rapid.Bool().Draw(t, "allocated") {
					r := api.DeviceRequestAllocationResult{Driver: "d.io", Pool: rapid.SampledFrom([]string{"n0", "n1", "gone"}).Draw(t, "pool"), Device: fmt.Sprint(rapid.IntRange(0, perNode).Draw(t, "device"))}
					if rapid.IntRange(0, 4).Draw(t, "admin") == 0 {
						r.AdminAccess = new(true)
					}
					c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{r}}}
				}
				if err := framework.Put(x.snap, c); err != nil {
					t.Fatal(err)
				}
			},
			"delete": func(t *rapid.T) {
				framework.Delete[api.ResourceClaim](x.snap, fmt.Sprint("default/c", rapid.IntRange(0, 2).Draw(t, "claim")))
			},
			"fork": func(t *rapid.T) {
				if len(sides) < 3 && len(x.marks) == 0 {
					sides = append(sides, &side{snap: x.snap.Fork(), flying: maps.Clone(x.flying)})
				}
			},
			"begin": func(*rapid.T) { x.marks = append(x.marks, mark{x.snap.Begin(), maps.Clone(x.flying)}) },
			"rollback": func(*rapid.T) {
				if n := len(x.marks); n > 0 {
					x.snap.Rollback(x.marks[n-1].at)
					x.flying, x.marks = x.marks[n-1].flying, x.marks[:n-1]
				}
			},
			"commit": func(*rapid.T) {
				if n := len(x.marks); n > 0 {
					x.snap.Commit(x.marks[n-1].at)
					x.marks = x.marks[:n-1]
				}
			},
		})
	})
}
