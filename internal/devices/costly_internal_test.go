//go:build full

package devices

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// costlyCluster is a snapshot with a node of 24 devices and one of none, and a claim with
// some requests; no device meets the last one. Each request has alternatives, so
// every choice of devices for the others is tried.
func costlyCluster(t *testing.T, requests int) (*framework.Snapshot, *framework.PodInfo) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "hard", Namespace: "default"}}
	for r := range requests {
		alternative := api.DeviceSubRequest{Name: "any", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}
		if r == requests-1 {
			alternative.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "false"}}}
		}
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, api.DeviceRequest{
			Name: fmt.Sprint("r", r), FirstAvailable: []api.DeviceSubRequest{alternative},
		})
	}
	pod := api.MakePod("p").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "x", ResourceClaimName: new("hard")}}
	info, err := s.NewPodInfo(pod)
	if err := errors.Join(err,
		s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()), framework.Put(s, class), framework.Put(s, claim), framework.Put(s, slice24("a")),
	); err != nil {
		t.Fatal(err)
	}
	return s, info
}

func slice24(node string) *api.ResourceSlice {
	x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: node}}
	x.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: &node, Pool: api.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}
	for i := range 24 {
		x.Spec.Devices = append(x.Spec.Devices, api.Device{Name: fmt.Sprint("gpu-", i)})
	}
	return x
}

// searchOnA searches on node a as Find does.
func searchOnA(t *testing.T, s *framework.Snapshot, pod *framework.PodInfo, o Options) (outcome, *search) {
	t.Helper()
	var f Finder
	if status := f.Prepare(s, pod, o); !status.IsSuccess() {
		t.Fatal(status)
	}
	x := new(search)
	x.begin(f.catalog.poolsOf(s.Node("a")), f.plans, f.state, f.steps)
	return f.runOn(s.Node("a"), x), x
}

// Every device that is looked at is a step.
func TestSteps(t *testing.T) {
	s, pod := costlyCluster(t, 2)
	o, x := searchOnA(t, s, pod, Options{})
	// The 24 devices of the first request, and for each of them 24 for the second one, whose
	// selector is asked once about each.
	if o != failed || x.steps != 24+24*24+24 {
		t.Errorf("outcome %d after %d steps, want %d after %d", o, x.steps, failed, 24+24*24+24)
	}
	// Beside eight devices that are placed, each one counts twice. What 12 requests know of 24
	// devices takes 288 bytes: 4 steps.
	s, pod = costlyCluster(t, 12)
	claim := *framework.Lookup[api.ResourceClaim](s, "default/hard")
	claim.Spec.Devices.Requests[11].FirstAvailable[0].Selectors = nil
	if err := framework.Put(s, &claim); err != nil {
		t.Fatal(err)
	}
	want := 12 * 24 / bytesOfStep
	for r := range 12 { // request r finds r devices in use
		want += (r + 1) * (1 + r/8)
	}
	if o, x = searchOnA(t, s, pod, Options{}); o != solved || x.steps != want {
		t.Errorf("outcome %d after %d steps, want %d after %d", o, x.steps, solved, want)
	}
	// Constraints are an eighth of a step, with the devices that they compare, and so is each
	// device whose attribute one reads; no device has it, so no second request is looked at.
	claim.Spec.Devices.Constraints = []api.DeviceConstraint{{DistinctAttribute: new("d/none")}}
	if err := framework.Put(s, &claim); err != nil {
		t.Fatal(err)
	}
	if o, x = searchOnA(t, s, pod, Options{}); o != failed || x.steps != 12*24/bytesOfStep+24+(24+24)/8 {
		t.Errorf("with a constraint: outcome %d after %d steps, want %d after %d", o, x.steps, failed, 12*24/bytesOfStep+24+(24+24)/8)
	}
	unbound := claim
	unbound.Spec.Devices.Constraints = nil
	if err := framework.Put(s, &unbound); err != nil {
		t.Fatal(err)
	}
	// Counters are added up once over all devices that consume some, and then over those that
	// are placed.
	counted, counters := slice24("a"), slice24("a")
	counted.Spec.Pool.ResourceSliceCount, counters.Spec.Pool.ResourceSliceCount = 2, 2
	counters.Name, counters.Spec.Devices = "counters", nil
	counters.Spec.SharedCounters = []api.CounterSet{{Name: "c", Counters: map[string]api.Counter{"m": {Value: resource.MustParse("100")}}}}
	for i := range counted.Spec.Devices {
		counted.Spec.Devices[i].ConsumesCounters = []api.DeviceCounterConsumption{{CounterSet: "c", Counters: map[string]api.Counter{"m": {Value: resource.MustParse("1")}}}}
	}
	if err := errors.Join(framework.Put(s, counted), framework.Put(s, counters)); err != nil {
		t.Fatal(err)
	}
	want += (1+24)/8 + 12*13/2/2 // the meter, and half a step for each device beside those that are placed
	if o, x = searchOnA(t, s, pod, Options{}); o != solved || x.steps != want {
		t.Errorf("with counters: outcome %d after %d steps, want %d after %d", o, x.steps, solved, want)
	}
}

// A search that takes long is made once, until something changes that it reads.
func TestCostlySearches(t *testing.T) {
	for name, tt := range map[string]struct {
		requests, limit int
		want            outcome
	}{
		"in vain":  {4, 0, failed},
		"given up": {9, 50_000, fatal},
	} {
		t.Run(name, func(t *testing.T) {
			s, pod := costlyCluster(t, tt.requests)
			o := Options{Steps: tt.limit}
			expect := func(when string, s *framework.Snapshot, o Options, searched bool) {
				t.Helper()
				got, x := searchOnA(t, s, pod, o)
				if got != tt.want || x.steps > 0 != searched {
					t.Errorf("%s: outcome %d after %d steps, want %d, and steps: %t", when, got, x.steps, tt.want, searched)
				}
				if got == fatal && !strings.Contains(x.err.Error(), "50000 steps") && o.Steps == 50_000 {
					t.Errorf("%s: %v", when, x.err)
				}
			}
			expect("at first", s, o, true)
			expect("again", s, o, false)
			twin, err := s.NewPodInfo(api.MakePod("twin").Obj())
			if err != nil {
				t.Fatal(err)
			}
			twin.Pod.Spec.ResourceClaims = pod.Pod.Spec.ResourceClaims
			if got, x := searchOnA(t, s, twin, o); got != tt.want || x.steps > 0 {
				t.Errorf("for a twin: outcome %d after %d steps, want %d after none", got, x.steps, tt.want)
			}
			fork := s.Fork()
			expect("in a fork", fork, o, true)
			expect("in a fork, again", fork, o, false)
			if tt.limit > 0 {
				expect("with another bound", s, Options{Steps: 60_000}, true)
				expect("with the first bound", s, o, true)
			}
			for _, x := range []struct {
				what   string
				change func(s *framework.Snapshot) error
			}{
				{"a device is used", func(s *framework.Snapshot) error { return framework.Put(s, usedClaim("used", "a", "gpu-3")) }},
				{"a device is free again", func(s *framework.Snapshot) error { framework.Delete[api.ResourceClaim](s, "default/used"); return nil }},
				{"a class changes", func(s *framework.Snapshot) error {
					return framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu", ResourceVersion: "2"}})
				}},
				{"a slice changes", func(s *framework.Snapshot) error { return framework.Put(s, slice24("a")) }},
				{"the node changes", func(s *framework.Snapshot) error { return s.UpdateNode(api.MakeNode("a", "8", "16Gi").Obj()) }},
			} {
				for when, s := range map[string]*framework.Snapshot{"": s, " in a fork": fork} {
					if err := x.change(s); err != nil {
						t.Fatal(err)
					}
					expect("after "+x.what+when, s, o, true)
					expect("after "+x.what+when+", again", s, o, false)
				}
			}
			if err := framework.Put(s, usedClaim("before", "a", "gpu-1")); err != nil {
				t.Fatal(err)
			}
			later := s.Fork()
			expect("in a later fork", later, o, true)
			framework.Delete[api.ResourceClaim](later, "default/before")
			expect("after a device is free in a later fork", later, o, true)
			m := s.Begin()
			if err := framework.Put(s, usedClaim("more", "a", "gpu-5")); err != nil {
				t.Fatal(err)
			}
			expect("in a transaction", s, o, true)
			s.Rollback(m)
			expect("after the rollback", s, o, true)
		})
	}
}

// The steps of all nodes together have a bound, however many there are: a claim that is hard
// everywhere would else cost its first attempt the bound of one node on each.
func TestStepsOfAllNodes(t *testing.T) {
	const limit = 20_000
	for nodes, most := range map[int]int{1: limit, 4: 4 * limit, 32: fullNodes * limit, 128: fullNodes * limit, 2048: 2048 * limit / leastShare} {
		s, pod := costlyCluster(t, 9)
		for i := range nodes - 1 {
			name := fmt.Sprint("n", i)
			if err := errors.Join(s.AddNode(api.MakeNode(name, "4", "16Gi").Obj()), framework.Put(s, slice24(name))); err != nil {
				t.Fatal(err)
			}
		}
		var f Finder
		if status := f.Prepare(s, pod, Options{Steps: limit}); !status.IsSuccess() {
			t.Fatal(status)
		}
		sum, x := 0, new(search)
		for _, n := range s.All() {
			x.begin(f.catalog.poolsOf(n), f.plans, f.state, f.steps)
			x.run()
			sum += x.steps
		}
		// The step beyond the bound ends a search.
		if sum > most+2*nodes || sum < most/2 {
			t.Errorf("%d nodes: %d steps, want about %d", nodes, sum, most)
		}
	}
}

// Verdicts of a bound are kept as long as it stands. It changes with the number of slices and
// with the number of nodes that a slice for all may serve, also in forks.
func TestStepsFollowNodes(t *testing.T) {
	s, pod := costlyCluster(t, 2)
	prepared := func(s *framework.Snapshot) *Finder {
		t.Helper()
		f, status := FinderOf(s, pod, Options{})
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		return f
	}
	before := prepared(s)
	version, fork := before.version, s.Fork()
	put := func(s *framework.Snapshot, from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(s, 0, 40) // they have no devices
	if f := prepared(s); f.steps != DefaultSteps || f.version != version {
		t.Errorf("with nodes without devices: %d steps in version %d, want %d in %d", f.steps, f.version, DefaultSteps, version)
	}
	wide := slice24("wide")
	wide.Spec.NodeName, wide.Spec.AllNodes = nil, new(true)
	if err := framework.Put(s, wide); err != nil {
		t.Fatal(err)
	}
	f := prepared(s)
	if f.steps != DefaultSteps*fullNodes/64 || f.version == version {
		t.Errorf("with a slice for 41 nodes: %d steps in version %d, want %d in another than before", f.steps, f.version, DefaultSteps*fullNodes/64)
	}
	version = f.version
	put(s, 40, 63)
	if f = prepared(s); f.version != version {
		t.Errorf("with 64 nodes: version %d, want %d", f.version, version)
	}
	put(s, 63, 64)
	if f = prepared(s); f.steps != DefaultSteps*fullNodes/128 || f.version == version {
		t.Errorf("with 65 nodes: %d steps in version %d, want %d in another than before", f.steps, f.version, DefaultSteps*fullNodes/128)
	}
	if f := prepared(fork); f.steps != DefaultSteps {
		t.Errorf("in a fork from before: %d steps, want %d", f.steps, DefaultSteps)
	}
}

// usedClaim is a claim that has a device.
func usedClaim(name, pool, device string) *api.ResourceClaim {
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
	c.Status.Allocation = &api.AllocationResult{}
	c.Status.Allocation.Devices.Results = []api.DeviceRequestAllocationResult{{Driver: "d", Pool: pool, Device: device}}
	return c
}

// stubCompiler is a compiler of a user whose programs cost nothing to make.
type stubCompiler struct{}

func (stubCompiler) CompileDeviceSelector(string) (api.CompiledDeviceSelector, error) {
	return nil, nil
}

// Programs are kept up to a number of bytes, so that ever new texts do not fill memory.
func TestProgramsAreBounded(t *testing.T) {
	var p programs
	kept := 0
	for i := range 300 {
		p.get(programKey{stubCompiler{}, fmt.Sprint(strings.Repeat("x", 9000), i)}, "a")
		sum := 0
		for key, x := range p.compiled {
			sum += x.bytesOf(key.text)
		}
		if sum != p.bytes || sum > maxProgramBytes {
			t.Fatalf("programs of %d bytes are kept and counted as %d, want at most %d", sum, p.bytes, maxProgramBytes)
		}
		kept = max(kept, len(p.compiled))
	}
	if kept < 50 || kept > 200 {
		t.Errorf("at most %d programs of 9,000 bytes of text are kept at a time", kept)
	}
}

// TestCostlyIsBounded keeps the outcomes of ever new searches.
func TestCostlyIsBounded(t *testing.T) {
	var c costly
	for i := range 3 * maxCostly {
		key := costlyKey{node: fmt.Sprint(i)}
		c.keep(key, costlyEntry{steps: i})
		if e, ok := c.find(key, costlyMoment{}); !ok || e.steps != i {
			t.Fatalf("the outcome of search %d is %v, %t", i, e, ok)
		}
		if len(c.kept) > maxCostly {
			t.Fatalf("%d outcomes are kept, want at most %d", len(c.kept), maxCostly)
		}
	}
}
