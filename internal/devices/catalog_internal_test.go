package devices

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// describePools says all that a search sees of a node.
func describePools(p *pools) string {
	text := fmt.Sprintf("node %s invalid %t odd %t err %v\n", p.node, p.invalid, p.odd, p.err)
	for _, x := range p.list {
		text += fmt.Sprintf("pool %v incomplete %t invalid %t counters %d consumers %d:", x.id, x.incomplete, x.invalid, len(x.counters), len(x.consumers))
		for _, s := range x.slices {
			text += fmt.Sprintf(" %s@%p", s.object.Name, s.object)
		}
		text += "\n"
	}
	for _, d := range p.devices {
		text += fmt.Sprintf("%s/%d/%d here %t err %v taints %v\n", d.device.Name, d.pool, d.number, d.here, d.err, slices.Concat(d.device.taints, d.device.slice.taints))
	}
	return text
}

// TestRandomCatalog: a catalog that follows another is like one that is made of the slices.
func TestRandomCatalog(t *testing.T) {
	followed := 0
	for seed := range uint64(effort.Of(4, 12)) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 12 {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Labels("zone", fmt.Sprint(i%3)).Obj()); err != nil {
				t.Fatal(err)
			}
		}
		random := func(name string) *api.ResourceSlice {
			x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
			x.Spec = api.ResourceSliceSpec{Driver: fmt.Sprint("d", r.IntN(2), ".io"), Pool: api.ResourcePool{Name: fmt.Sprint("p", r.IntN(12)), Generation: int64(1 + r.IntN(2)), ResourceSliceCount: int64(1 + r.IntN(3))}}
			switch k := r.IntN(40); {
			case k == 0 && seed%2 == 0:
				x.Spec.AllNodes = new(true)
			case k == 1 && seed%2 == 0:
				x.Spec.NodeSelector = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{{Key: "zone", Operator: api.NodeSelectorOpIn, Values: []string{fmt.Sprint(r.IntN(3))}}}}}}
			case k == 2 && seed%2 == 0:
				x.Spec.PerDeviceNodeSelection = new(true)
			default:
				x.Spec.NodeName = new(fmt.Sprint("n", r.IntN(14))) // two do not exist
			}
			if r.IntN(6) == 0 {
				x.Spec.SharedCounters = []api.CounterSet{{Name: fmt.Sprint("set", r.IntN(2)), Counters: map[string]api.Counter{"c": {}}}}
				return x
			}
			for i := range 1 + r.IntN(3) {
				d := api.Device{Name: fmt.Sprintf("dev-%d-%d", i, r.IntN(20))}
				if isSet(x.Spec.PerDeviceNodeSelection) {
					d.NodeName = new(fmt.Sprint("n", r.IntN(12)))
				}
				if r.IntN(5) == 0 {
					d.ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: fmt.Sprint("set", r.IntN(2)), Counters: map[string]api.Counter{"c": {}}}}
				}
				x.Spec.Devices = append(x.Spec.Devices, d)
			}
			return x
		}
		put := func(s *framework.Snapshot, o *api.ResourceSlice) {
			if err := framework.Put(s, o); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 40 {
			put(s, random(fmt.Sprint("s", i)))
		}
		StateOf(s)
		type side struct {
			s     *framework.Snapshot
			marks []framework.Mark
		}
		sides := []*side{{s: s}}
		for step := range 120 {
			x := sides[r.IntN(len(sides))]
			var before *catalog
			switch r.IntN(12) {
			case 0:
				if len(sides) < 4 {
					sides = append(sides, &side{s: x.s.Fork()})
				}
			case 1:
				if len(x.marks) < 2 {
					x.marks = append(x.marks, x.s.Begin())
				}
			case 2:
				if n := len(x.marks); n > 0 {
					if r.IntN(2) == 0 {
						x.s.Rollback(x.marks[n-1])
					} else {
						x.s.Commit(x.marks[n-1])
					}
					x.marks = x.marks[:n-1]
				}
			case 3:
				if r.IntN(4) == 0 {
					rule := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("r", r.IntN(2))}}
					rule.Spec.DeviceSelector = &api.DeviceTaintSelector{Driver: new(fmt.Sprint("d", r.IntN(2), ".io"))}
					rule.Spec.Taint = api.DeviceTaint{Key: "k", Effect: "NoSchedule", Value: fmt.Sprint(step)}
					if err := framework.Put(x.s, rule); err != nil {
						t.Fatal(err)
					}
				} else {
					framework.Delete[api.DeviceTaintRule](x.s, fmt.Sprint("r", r.IntN(2)))
				}
			case 4:
				framework.Delete[api.ResourceSlice](x.s, fmt.Sprint("s", r.IntN(45)))
			case 5:
				if len(x.marks) == 0 {
					name := fmt.Sprint("n", r.IntN(12))
					if r.IntN(2) == 0 {
						if err := x.s.UpdateNode(api.MakeNode(name, "8", "8Gi").Labels("zone", fmt.Sprint(r.IntN(3))).Obj()); err != nil {
							t.Fatal(err)
						}
					} else {
						if err := x.s.RemoveNode(name); err != nil {
							t.Fatal(err)
						}
						if err := x.s.AddNode(api.MakeNode(name, "8", "8Gi").Labels("zone", fmt.Sprint(r.IntN(3))).Obj()); err != nil {
							t.Fatal(err)
						}
					}
				}
			default:
				before = stateKey.Of(x.s).catalogOf(x.s)
				for range 1 + r.IntN(4) {
					put(x.s, random(fmt.Sprint("s", r.IntN(45))))
				}
			}
			var wg sync.WaitGroup
			for _, x := range sides { // forks are asked by goroutines, and share catalogs
				for range 1 {
					wg.Add(1)
					go func() {
						defer wg.Done()
						state := stateKey.Of(x.s)
						c := state.catalogOf(x.s)
						fresh := newCatalog(nil, framework.List[api.ResourceSlice](x.s), framework.List[api.DeviceTaintRule](x.s), x.s.SlotLimit())
						for _, n := range x.s.All() {
							if got, want := describePools(c.poolsOf(n)), describePools(fresh.poolsOf(n)); got != want {
								t.Errorf("seed %d, step %d, node %s has\n%s\nwant\n%s", seed, step, n.Name(), got, want)
							}
						}
						if c.nodes != fresh.nodes {
							t.Errorf("seed %d, step %d: %d nodes, want %d", seed, step, c.nodes, fresh.nodes)
						}
						if err := state.Check(x.s); err != nil {
							t.Errorf("seed %d, step %d: %v", seed, step, err)
						}
					}()
				}
			}
			wg.Wait()
			if before != nil && len(before.slices) > 0 {
				now := stateKey.Of(x.s).catalogOf(x.s)
				if slices.ContainsFunc(now.slices, func(s *slice) bool { return slices.Contains(before.slices, s) }) {
					followed++
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	if followed == 0 {
		t.Error("no catalog followed another")
	}
	t.Log(followed, "catalogs followed another")
}
