//go:build full

package devices

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// hardOn returns a search for a pod with claims of some requests, on a node with some devices.
func hardOn(t *testing.T, limit int, devices []api.Device, claims ...[]api.DeviceRequest) (*Finder, *framework.NodeInfo) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	slice := slice24("a")
	slice.Spec.Devices = devices
	pod := api.MakePod("p").Obj()
	err := errors.Join(s.AddNode(api.MakeNode("a", "4", "16Gi").Obj()), framework.Put(s, slice),
		framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
	for i, requests := range claims {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", i), Namespace: "default"}}
		c.Spec.Devices.Requests = requests
		err = errors.Join(err, framework.Put(s, c))
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, api.PodResourceClaim{Name: c.Name, ResourceClaimName: &c.Name})
	}
	info, problem := s.NewPodInfo(pod)
	if err := errors.Join(err, problem); err != nil {
		t.Fatal(err)
	}
	f := new(Finder)
	if status := f.Prepare(s, info, Options{Steps: limit}); !status.IsSuccess() {
		t.Fatal(status)
	}
	return f, s.Node("a")
}

// alternatives is a request with 8 equal ones.
func alternatives(name, mode string, count int64, selector string) api.DeviceRequest {
	r := api.DeviceRequest{Name: name}
	for k := range 8 {
		r.FirstAvailable = append(r.FirstAvailable, api.DeviceSubRequest{
			Name: fmt.Sprint("s", k), DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationMode(mode), Count: count,
			Selectors: []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: selector}}},
		})
	}
	return r
}

// All that a search does counts, so that its bound bounds it: alternatives that ask for all
// devices, or for none, have as many choices as others.
func TestEveryChoiceIsAStep(t *testing.T) {
	var devices []api.Device
	for i := range 16 {
		devices = append(devices, api.Device{Name: fmt.Sprint(i), Attributes: map[string]api.DeviceAttribute{"i": {IntValue: new(int64(i))}}})
	}
	var all, none []api.DeviceRequest
	for i := range 17 {
		all = append(all, alternatives(fmt.Sprint("r", i), "All", 0, fmt.Sprintf(`device.attributes["d"].i == %d`, i%16)))
		none = append(none, alternatives(fmt.Sprint("r", i), "ExactCount", 0, "true"))
	}
	none[16] = alternatives("r16", "ExactCount", 1, "false")
	for name, requests := range map[string][]api.DeviceRequest{"all": all, "none": none} {
		f, node := hardOn(t, 100_000, devices, requests)
		var steps *StepsError
		if status := f.Find(node, nil); !errors.As(status.Err(), &steps) {
			t.Errorf("alternatives that ask for %s: %v, want a StepsError", name, status)
		}
	}
}

// What the amounts of others cost that share a device counts.
func TestSharesCount(t *testing.T) {
	shared := api.Device{Name: "d", AllowMultipleAllocations: new(true), Capacity: map[string]api.DeviceCapacity{}}
	one := &api.CapacityRequirements{Requests: map[string]resource.Quantity{}}
	for i := range 8 {
		name := fmt.Sprint("c", i)
		shared.Capacity[name], one.Requests[name] = api.DeviceCapacity{Value: resource.MustParse("1000")}, resource.MustParse("1")
	}
	var requests []api.DeviceRequest
	for i := range 32 {
		requests = append(requests, api.DeviceRequest{Name: fmt.Sprint("r", i), Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, Capacity: one,
		}})
	}
	f, node := hardOn(t, 0, []api.Device{shared}, requests)
	s := f.searchOn(node, nil)
	// For each pair of shares 8 amounts are added, twice. Each request asks for 8.
	if o, least := s.run(), 2*8*(32*31/2)/4; o != solved || s.steps < least || s.steps > least+32*8+32*4 {
		t.Errorf("outcome %d after %d steps, want %d after little more than %d", o, s.steps, solved, least)
	}
}

// The memory of a search has a bound as its time has.
func TestMemoryOfSearch(t *testing.T) {
	var claims [][]api.DeviceRequest
	for range 100 {
		var requests []api.DeviceRequest
		for i := range 32 {
			requests = append(requests, alternatives(fmt.Sprint("r", i), "All", 0, "false"))
		}
		claims = append(claims, requests)
	}
	for limit, some := range map[int]bool{9_599: false, 9_600: true} { // 25,600 alternatives and 24 devices
		f, node := hardOn(t, limit, slice24("a").Spec.Devices, claims...)
		s := f.searchOn(node, nil)
		if len(s.suits) > 0 != some {
			t.Errorf("%d bytes with a bound of %d steps, want some: %t", len(s.suits), limit, some)
		}
		var steps *StepsError
		if status := f.Find(node, nil); !errors.As(status.Err(), &steps) {
			t.Errorf("bound of %d steps: %v, want a StepsError", limit, status)
		}
		f.steps-- // as where more nodes share the bound
		if details := f.Details(node); len(details) != 1 {
			t.Errorf("bound of %d steps: details are %v", limit, details)
		}
	}
}

// Constraints that apply to requests are a product, which is bounded, and names of requests are
// looked up.
func TestConstraintsOfManyRequests(t *testing.T) {
	c := &api.ResourceClaim{}
	spec := &c.Spec.Devices
	for i := range 2000 {
		spec.Requests = append(spec.Requests, api.DeviceRequest{Name: fmt.Sprint("r", i), Exactly: &api.ExactDeviceRequest{}})
		spec.Constraints = append(spec.Constraints, api.DeviceConstraint{MatchAttribute: new("d/x"), Requests: []string{fmt.Sprint("r", i)}})
	}
	for i := range 2 * fewNames { // the even ones
		spec.Constraints[0].Requests = append(spec.Constraints[0].Requests, fmt.Sprint("r", 2*i))
	}
	s := framework.NewSnapshot(framework.Arrival)
	d := StateOf(s).demand(s, nil, c)
	for i, applies := range d.constraints[0].applies {
		if want := i%2 == 0 && i < 4*fewNames; applies != want {
			t.Errorf("constraint 0 applies to request %d: %t, want %t", i, applies, want)
		}
	}
	for i, x := range d.constraints {
		if last := i == maxApplied/2000; x.fault != "" != last || len(x.applies) != 2000 {
			t.Errorf("constraint %d has the fault %q, and %d requests", i, x.fault, len(x.applies))
		}
	}
	if n := len(d.constraints); n != maxApplied/2000+1 {
		t.Errorf("%d constraints, want %d", n, maxApplied/2000+1)
	}
}

// Details take as many steps as the search may: each constraint of each claim asks about each
// device again.
func TestStepsOfDetails(t *testing.T) {
	var claims [][]api.DeviceRequest
	for range 20 {
		var requests []api.DeviceRequest
		for i := range 32 {
			requests = append(requests, api.DeviceRequest{Name: fmt.Sprint("r", i), Exactly: &api.ExactDeviceRequest{
				DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
			}})
		}
		claims = append(claims, requests)
	}
	for limit, want := range map[int]int{20_000: 1, 40_000: 20} { // one detail for each claim's constraint
		f, node := hardOn(t, limit, slice24("a").Spec.Devices, claims...)
		for i := range f.plans {
			f.plans[i].constraints = []constraint{{attribute: "d/none", applies: slices.Repeat([]bool{true}, 32)}}
		}
		f.plans = f.plans[:20]
		details := f.Details(node)
		told := len(details) == 1 && details[0].Asked == 0
		if len(details) != want || told != (want == 1) {
			t.Errorf("with %d steps: %d details, want %d: %v", limit, len(details), want, details[0])
		}
	}
}

// What an ask takes of the capacities of a device is found once for each of both. Amounts are
// kept of devices only that can be shared.
func TestCapacitiesCount(t *testing.T) {
	for _, shared := range []bool{false, true} {
		d := api.Device{Name: "d", AllowMultipleAllocations: &shared, Capacity: map[string]api.DeviceCapacity{}}
		for i := range 32 {
			d.Capacity[fmt.Sprint("c", i)] = api.DeviceCapacity{Value: resource.MustParse("10")}
		}
		large := &api.CapacityRequirements{Requests: map[string]resource.Quantity{"c0": resource.MustParse("11")}}
		r := api.DeviceRequest{Name: "r", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, Capacity: large,
		}}
		f, node := hardOn(t, 0, []api.Device{d}, []api.DeviceRequest{r})
		s := f.searchOn(node, nil)
		want, kept := 1+32/2, 0
		if shared {
			want, kept = 1+32, 32
		}
		if o := s.run(); o != failed || s.steps != want {
			t.Errorf("shared %t: outcome %d after %d steps, want %d after %d", shared, o, s.steps, failed, want)
		}
		if x := s.consumption(0, &f.plans[0].requests[0].asks[0], &s.devices[0]); len(x.amounts) != kept {
			t.Errorf("shared %t: %d amounts are kept, want %d", shared, len(x.amounts), kept)
		}
	}
}

// Whether an ask tolerates the taints of a device is found once, and counts.
func TestTaintsCount(t *testing.T) {
	steps := func(taints, tolerations int) (outcome, int) {
		var devices []api.Device
		for i := range 16 {
			d := api.Device{Name: fmt.Sprint(i)}
			for k := range taints {
				d.Taints = append(d.Taints, api.DeviceTaint{Key: fmt.Sprint("k", k), Effect: api.DeviceTaintEffectNoSchedule})
			}
			devices = append(devices, d)
		}
		var requests []api.DeviceRequest
		for i := range 3 {
			r := alternatives(fmt.Sprint("r", i), "ExactCount", 1, "true")
			r.FirstAvailable = r.FirstAvailable[:1]
			for k := range tolerations {
				r.FirstAvailable[0].Tolerations = append(r.FirstAvailable[0].Tolerations, api.DeviceToleration{Key: fmt.Sprint("k", k), Operator: api.DeviceTolerationOpExists})
			}
			requests = append(requests, r)
		}
		requests[2].FirstAvailable[0].Selectors[0].CEL.Expression = "false"
		f, node := hardOn(t, 0, devices, requests)
		s := f.searchOn(node, nil)
		return s.run(), s.steps
	}
	_, without := steps(0, 16)
	// The last request asks for no device, so its taints are not looked at.
	if o, with := steps(8, 16); o != failed || with != without+2*16*8*16/8 {
		t.Errorf("tolerated: outcome %d after %d steps, want %d after %d", o, with, failed, without+2*16*8*16/8)
	}
	// Each of the three selectors is asked about each device; the first request finds none.
	if o, with := steps(8, 4); o != failed || with != 3*16+16+16*8*4/8 {
		t.Errorf("not tolerated: outcome %d after %d steps, want %d after %d", o, with, failed, 3*16+16+16*8*4/8)
	}
}

// A depthCompiler compiles selectors that hold for no device, and notes how deep in calls they are asked.
type depthCompiler struct{ most *int }

func (c depthCompiler) CompileDeviceSelector(string) (api.CompiledDeviceSelector, error) {
	return c, nil
}

func (c depthCompiler) MatchesDevice(string, *api.Device) (bool, error) {
	var callers [10_000]uintptr
	*c.most = max(*c.most, runtime.Callers(0, callers[:]))
	return false, nil
}

// Claims that ask for nothing count no step, so no branch of the search goes through them: with a
// thousand of them a search within its bound would take minutes.
func TestClaimsWithoutRequestsCostNothing(t *testing.T) {
	depth := func(empty int) (most int) {
		w := newSelectorWorld(t, Options{Compiler: depthCompiler{&most}}, 0)
		memory := resource.MustParse("1Gi")
		slice := slice24("a")
		slice.Spec.Devices = slice.Spec.Devices[:8]
		for i := range slice.Spec.Devices {
			slice.Spec.Devices[i].Capacity = map[string]api.DeviceCapacity{"memory": {Value: memory}}
		}
		w.put(framework.Put(w.s, slice))
		pod := w.pod("default", "first", api.DeviceRequest{Name: "r", FirstAvailable: []api.DeviceSubRequest{{
			Name: "any", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
			Capacity: &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": memory}}, // so selectors are asked late
		}}})
		for i := range empty {
			pod.Pod.Spec.ResourceClaims = append(pod.Pod.Spec.ResourceClaims, w.pod("default", fmt.Sprint("empty", i)).Pod.Spec.ResourceClaims...)
		}
		pod.Pod.Spec.ResourceClaims = append(pod.Pod.Spec.ResourceClaims, w.pod("default", "last", requestFor("none")).Pod.Spec.ResourceClaims...)
		info, err := w.s.NewPodInfo(pod.Pod)
		if err != nil {
			t.Fatal(err)
		}
		if w.find(info).IsSuccess() || most == 0 {
			t.Fatalf("with %d such claims the last one was asked about %d calls deep", empty, most)
		}
		return most
	}
	if without, with := depth(0), depth(1000); with > without+2 {
		t.Errorf("the search is %d calls deep with 1,000 claims that ask for nothing, %d without", with, without)
	}
}

// Claims that ask for nothing change no answer, wherever they stand among the others.
func TestClaimsWithoutRequestsChangeNothing(t *testing.T) {
	var many []api.Device
	for i := range 40 {
		many = append(many, api.Device{Name: fmt.Sprint(i)})
	}
	// The second request wants more than its claim may have beside what the first one takes.
	limited := func(name string) []api.DeviceRequest {
		first := alternatives(name, "ExactCount", 1, "false")
		first.FirstAvailable[1].Count, first.FirstAvailable[1].Selectors = 20, nil
		return []api.DeviceRequest{first, alternatives(name+"2", "ExactCount", 13, "true")}
	}
	one := func(name string) []api.DeviceRequest {
		return []api.DeviceRequest{alternatives(name, "ExactCount", 1, "true")}
	}
	for name, claims := range map[string][][]api.DeviceRequest{
		"fits": {one("a"), one("b"), one("c")}, "one too many": {one("a"), one("b"), one("c"), one("d")},
		"limited": {limited("a")}, "limited at last": {one("a"), limited("b")}, "limited at first": {limited("a"), one("b")},
	} {
		devices := many
		if !strings.HasPrefix(name, "limited") {
			devices = many[:3]
		}
		want, node := hardOn(t, 0, devices, claims...)
		for at := range len(claims) + 1 {
			for n := 1; n <= 2; n++ {
				f, with := hardOn(t, 0, devices, slices.Insert(slices.Clone(claims), at, make([][]api.DeviceRequest, n)...)...)
				a, b := want.Find(node, nil), f.Find(with, nil)
				if a.Code() != b.Code() || a.IsSuccess() != (name == "fits") {
					t.Errorf("%s: with %d claims without requests at %d: %v, want %v", name, n, at, b, a)
				}
				x, y := want.searchOn(node, nil), f.searchOn(with, nil)
				if x.run() != y.run() || x.steps != y.steps || len(x.placed) != len(y.placed) {
					t.Errorf("%s: with %d claims without requests at %d: %d steps and %d devices, want %d and %d", name, n, at, y.steps, len(y.placed), x.steps, len(x.placed))
				}
			}
		}
	}
}
