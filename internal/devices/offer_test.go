//go:build full

package devices_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// A seller is a snapshot in which nodes offer devices for an extended resource.
type seller struct {
	snap  *framework.Snapshot
	marks []framework.Mark
}

// change changes a slice or the class, or begins or ends a transaction.
func (x *seller) change(t *testing.T, r *rand.Rand) {
	name := fmt.Sprint("s", r.IntN(2))
	switch r.IntN(8) {
	case 0:
		framework.Delete[api.ResourceSlice](x.snap, name)
	case 1:
		framework.Delete[api.DeviceClass](x.snap, "c")
	case 2:
		put(t, x.snap, randomClass(r))
	case 3:
		x.marks = append(x.marks, x.snap.Begin())
	case 4:
		x.end(x.snap.Rollback)
	case 5:
		x.end(x.snap.Commit)
	default:
		put(t, x.snap, randomSlice(r, name))
	}
}

func (x *seller) end(by func(framework.Mark)) {
	if n := len(x.marks); n > 0 {
		by(x.marks[n-1])
		x.marks = x.marks[:n-1]
	}
}

func put[T api.Object](t *testing.T, s *framework.Snapshot, o *T) {
	if err := framework.Put(s, o); err != nil {
		t.Fatal(err)
	}
}

func randomClass(r *rand.Rand) *api.DeviceClass {
	c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "c"}}
	c.Spec.ExtendedResourceName = new("example.com/gpu")
	if r.IntN(2) == 0 {
		c.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "a.io"`}}}
	}
	return c
}

func randomSlice(r *rand.Rand, name string) *api.ResourceSlice {
	x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
	x.Spec = api.ResourceSliceSpec{
		Driver:  []string{"a.io", "b.io"}[r.IntN(2)],
		Pool:    api.ResourcePool{Name: []string{"p", "q"}[r.IntN(2)], Generation: 1, ResourceSliceCount: 1},
		Devices: make([]api.Device, r.IntN(3)),
	}
	for i := range x.Spec.Devices {
		x.Spec.Devices[i].Name = fmt.Sprint(name, "-", i)
	}
	if at := r.IntN(4); at < 3 {
		x.Spec.NodeName = new(fmt.Sprint("n", at))
	} else {
		x.Spec.AllNodes = new(true)
	}
	return x
}

// TestGenerationTellsOffer: as long as the generation of a node is the same, in a snapshot, its
// forks and after rollbacks, it offers the same devices. Answers that are kept by generations
// rely on it.
func TestGenerationTellsOffer(t *testing.T) {
	kept := 0
	for seed := range uint64(effort.Of(500, 5000)) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 3 {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		put(t, s, randomSlice(r, "s0"))
		put(t, s, randomClass(r))
		sides := []*seller{{snap: s}, {snap: s.Fork()}, {snap: s.Fork()}} // none has been asked
		known := map[uint64]int64{}                                       // devices by generation
		for step := range 40 {
			x := sides[r.IntN(len(sides))]
			switch k := r.IntN(20); {
			case k == 0:
				sides = append(sides, &seller{snap: x.snap.Fork()})
			case k < 13:
				x.change(t, r)
			default:
				offer := devices.OfferOf(x.snap, "example.com/gpu", nil)
				for _, n := range x.snap.All() {
					got, _ := offer.On(n)
					before, ok := known[n.Generation()]
					switch {
					case !ok:
						known[n.Generation()] = got
					case got != before:
						t.Fatalf("seed %d, step %d: %s offers %d devices, and %d in the same generation before", seed, step, n.Name(), got, before)
					case got > 0:
						kept++
					}
				}
			}
		}
	}
	if kept == 0 {
		t.Error("no node offered devices in a generation that was seen twice")
	}
}
