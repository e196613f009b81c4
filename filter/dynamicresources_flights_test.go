package filter_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

func networkDevice(t *testing.T) *framework.Snapshot {
	slice := gpuSlice("x", 1)
	slice.Name, slice.Spec.NodeName, slice.Spec.AllNodes = "net", nil, new(true)
	s := framework.NewSnapshot(framework.Arrival)
	if err := errors.Join(
		s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()), s.AddNode(api.MakeNode("n2", "8", "32Gi").Obj()),
		framework.Put(s, gpuClass()), framework.Put(s, slice), framework.Put(s, gpuTemplate(1)),
	); err != nil {
		t.Fatal(err)
	}
	return s
}

func placeOnNetwork(t *testing.T, s *framework.Snapshot, name string) (*framework.PodInfo, string, error) {
	t.Helper()
	return placeVerified(t, s, gpuPod(name, 1))
}

func placeVerified(t *testing.T, s *framework.Snapshot, object *api.Pod) (*framework.PodInfo, string, error) {
	t.Helper()
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched, err := scheduling.New(p)
	if err != nil {
		t.Fatal(err)
	}
	pod, err := s.NewPodInfo(object)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		return pod, "", err
	}
	return pod, d.Node, nil
}

// TestFlightsOfForkInTransaction: "If s has open transactions, the fork keeps their changes for good."
// So the pod has left the fork for good, and its device is free there.
func TestFlightsOfForkInTransaction(t *testing.T) {
	s := networkDevice(t)
	pod, node, err := placeOnNetwork(t, s, "p")
	if err != nil {
		t.Fatal(err)
	}
	m := s.Begin()
	if err := s.RemovePod(pod, node); err != nil {
		t.Fatal(err)
	}
	f := s.Fork()
	s.Rollback(m)
	if held := len(filter.DeviceClaimsOf(f, pod)); held > 0 {
		t.Errorf("the pod has left the fork for good and holds %d claims there", held)
	}
	if _, _, err := placeOnNetwork(t, f, "next"); err != nil {
		t.Errorf("in the fork: %v", err)
	}
}

// TestFlightsOfOtherClaims: a claim that says it was made for a pod ends the pod's flight only if it
// is in the pod's namespace and has the devices that were chosen. Anybody can write the rest.
func TestFlightsOfOtherClaims(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *api.ResourceClaim)
		held   int
	}{
		{"as written", func(*api.ResourceClaim) {}, 0},
		{"another namespace", func(c *api.ResourceClaim) { c.Namespace = "other" }, 1},
		{"another driver", func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Driver = "other.example.com" }, 1},
		{"another pool", func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Pool = "other" }, 1},
		{"another device", func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Device = "other" }, 1},
		{"a look at the device", func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].AdminAccess = new(true) }, 1},
		{"a share of the device", func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].ShareID = new(api.UID("1")) }, 1},
		{"no device", func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results = nil }, 1},
		{"two devices", func(c *api.ResourceClaim) {
			d := &c.Status.Allocation.Devices
			d.Results = append(d.Results, d.Results[0])
		}, 1},
		{"no allocation", func(c *api.ResourceClaim) { c.Status.Allocation = nil }, 1},
	} {
		s, object := networkDevice(t), gpuPod("p", 1)
		object.UID = "p"
		pod, _, err := placeVerified(t, s, object)
		if err != nil {
			t.Fatal(err)
		}
		list := filter.DeviceClaimsOf(s, pod)
		if len(list) != 1 {
			t.Fatalf("%d claims in flight, want 1", len(list))
		}
		c := api.Clone(list[0].Claim)
		c.Name, c.UID = "made", "made"
		tt.change(c)
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
		if held := len(filter.DeviceClaimsOf(s, pod)); held != tt.held {
			t.Errorf("%s: the pod holds %d claims, want %d", tt.name, held, tt.held)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestFlightsOfClaimsAllocatedElsewhere: the devices chosen for a claim stay in flight while the
// claim has others, and after it has lost these: PreBind may yet write the chosen ones.
func TestFlightsOfClaimsAllocatedElsewhere(t *testing.T) {
	s := networkDevice(t)
	claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c", Namespace: "default", UID: "c"}}
	claim.Spec = gpuTemplate(1).Spec.Spec
	putObject(t, s, claim)
	object := api.MakePod("p").Requests("1", "1Gi").Obj()
	object.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("c")}}
	pod, _, err := placeVerified(t, s, object)
	if err != nil {
		t.Fatal(err)
	}
	chosen := filter.DeviceClaimsOf(s, pod)
	elsewhere := *claim
	elsewhere.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
		{Request: "gpu", Driver: "other.example.com", Pool: "p", Device: "d"},
	}}}
	for i, version := range []*api.ResourceClaim{&elsewhere, claim} {
		putObject(t, s, version)
		if held := len(filter.DeviceClaimsOf(s, pod)); held != 1 {
			t.Errorf("version %d: the pod holds %d claims, want 1", i, held)
		}
		if _, _, err := placeOnNetwork(t, s, fmt.Sprint("next", i)); err == nil {
			t.Errorf("version %d: the only device is given twice", i)
		}
	}
	written, err := chosen[0].Write(claim, pod.Pod, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	putObject(t, s, written)
	if held := len(filter.DeviceClaimsOf(s, pod)); held != 0 {
		t.Errorf("written: the pod holds %d claims", held)
	}
	putObject(t, s, claim)
	if _, _, err := placeOnNetwork(t, s, "last"); err != nil {
		t.Errorf("deallocated: %v", err)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// TestDeviceSteps: searches count, also those of few steps, and those of forks.
func TestDeviceSteps(t *testing.T) {
	s := networkDevice(t)
	before := filter.DeviceSteps(s)
	if _, _, err := placeOnNetwork(t, s.Fork(), "p"); err != nil {
		t.Fatal(err)
	}
	fork := filter.DeviceSteps(s)
	if _, _, err := placeOnNetwork(t, s, "q"); err != nil {
		t.Fatal(err)
	}
	if after := filter.DeviceSteps(s); before != 0 || fork == 0 || fork > 100 || after <= fork {
		t.Errorf("%d steps, %d after a search in a fork, %d after one more", before, fork, after)
	}
}

// TestFlightsForgetTemplates: the templates of pods in flight are not kept when they are deleted.
func TestFlightsForgetTemplates(t *testing.T) {
	const many, size = 100, 100_000
	s := networkDevice(t)
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	for i := range many {
		x := gpuTemplate(1)
		x.Spec.Annotations = map[string]string{"note": strings.Repeat("x", size) + fmt.Sprint(i)}
		if err := framework.Put(s, x); err != nil {
			t.Fatal(err)
		}
		pod, node, err := placeOnNetwork(t, s, "p")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RemovePod(pod, node); err != nil {
			t.Fatal(err)
		}
	}
	if more := int64(inUse()) - int64(before); more > many*size/4 {
		t.Errorf("%d bytes more after %d templates of %d bytes", more, many, size)
	}
	runtime.KeepAlive(s)
}

// TestFlightsOfReservedPod: a pod that has reserved its devices and is added and taken back keeps
// them, also after the commit of a transaction that has nothing to do with it.
func TestFlightsOfReservedPod(t *testing.T) {
	s := networkDevice(t)
	pod, err := s.NewPodInfo(gpuPod("p", 1))
	if err != nil {
		t.Fatal(err)
	}
	c := new(framework.Cycle)
	c.Reset(pod, s, 1, 1)
	if st := (filter.DynamicResources{}).Reserve(c, s.Node("n1")); !st.IsSuccess() {
		t.Fatal(st)
	}
	m := s.Begin()
	if err := s.AddPod(pod, "n1"); err != nil {
		t.Fatal(err)
	}
	s.Rollback(m)
	if held := len(filter.DeviceClaimsOf(s, pod)); held != 1 {
		t.Fatalf("after the rollback: %d claims", held)
	}
	s.Commit(s.Begin())
	if held := len(filter.DeviceClaimsOf(s, pod)); held != 1 {
		t.Errorf("after an empty transaction the pod holds %d claims, want 1", held)
	}
}

// TestFlightsOfMovedPod: a pod that is added to another node before it is removed has not left.
func TestFlightsOfMovedPod(t *testing.T) {
	s := networkDevice(t)
	pod, node, err := placeOnNetwork(t, s, "p")
	if err != nil {
		t.Fatal(err)
	}
	other := map[string]string{"n1": "n2", "n2": "n1"}[node]
	m := s.Begin()
	if err := errors.Join(s.AddPod(pod, other), s.RemovePod(pod, node)); err != nil {
		t.Fatal(err)
	}
	s.Commit(m)
	if held := len(filter.DeviceClaimsOf(s, pod)); held != 1 {
		t.Errorf("the pod that moved holds %d claims, want 1", held)
	}
}

// TestFlightsOfReplacedPod: a version of the pod that has a UID replaces one without.
func TestFlightsOfReplacedPod(t *testing.T) {
	s := networkDevice(t)
	pod, node, err := placeOnNetwork(t, s, "p")
	if err != nil {
		t.Fatal(err)
	}
	o := *pod.Pod
	o.UID = "now-known"
	newer, err := s.NewPodInfo(&o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ReplacePod(pod, newer, node); err == nil {
		t.Error("a pod of another UID replaces the pod")
	}
	if _, _, err := placeOnNetwork(t, s, "next"); err == nil {
		t.Error("the only device is given twice")
	}
}

// --- random histories against a model

type flightModel struct {
	pods  map[string]flightPod // placed, by name
	wrote map[string][]string  // devices of written claims, by claim key
}

type flightPod struct {
	info    *framework.PodInfo
	node    string
	devices []string
	lost    bool // its node is missing
}

func (m flightModel) clone() flightModel {
	return flightModel{maps.Clone(m.pods), maps.Clone(m.wrote)}
}

type flightSide struct {
	s     *framework.Snapshot
	sched *scheduling.Scheduler
	now   flightModel
	marks []framework.Mark
	saved []flightModel
	seen  map[string]*framework.PodInfo
}

func flightDevices(list []filter.DeviceClaim) (devices []string) {
	for _, c := range list {
		for _, r := range c.Claim.Status.Allocation.Devices.Results {
			devices = append(devices, r.Pool+"/"+r.Device)
		}
	}
	slices.Sort(devices)
	return devices
}

func (x *flightSide) check(t *testing.T, log []string) {
	fail := func(format string, args ...any) {
		t.Fatalf("%s\nhistory: %q", fmt.Sprintf(format, args...), log)
	}
	if err := x.s.Check(); err != nil {
		fail("Check: %v", err)
	}
	given := map[string]string{}
	give := func(d, to string) {
		if was, twice := given[d]; twice {
			fail("%s is given to %s and %s", d, was, to)
		}
		given[d] = to
	}
	for key, list := range x.now.wrote {
		for _, d := range list {
			give(d, key)
		}
	}
	for name, p := range x.now.pods {
		got := flightDevices(filter.DeviceClaimsOf(x.s, p.info))
		if !slices.Equal(got, p.devices) {
			fail("pod %s (%s) has %v in flight, want %v", name, p.info.Pod.UID, got, p.devices)
		}
		for _, d := range got {
			give(d, name)
		}
	}
	if len(x.marks) > 0 {
		return
	}
	for id, p := range x.seen {
		if now, ok := x.now.pods[p.Pod.Name]; ok && now.info.Pod.UID == p.Pod.UID {
			continue
		}
		if got := flightDevices(filter.DeviceClaimsOf(x.s, p)); len(got) > 0 {
			fail("pod %s has left and keeps %v", id, got)
		}
	}
}

func (x *flightSide) place(info *framework.PodInfo) bool {
	d, err := x.sched.Place(x.s, info)
	x.seen[string(info.Pod.UID)+"/"+info.Pod.Name] = info
	if err != nil {
		return false
	}
	x.now.pods[info.Pod.Name] = flightPod{info, d.Node, flightDevices(filter.DeviceClaimsOf(x.s, info)), false}
	return true
}

func runFlights(t *testing.T, seed uint64) (placed int) {
	r := rand.New(rand.NewPCG(seed, 19))
	s := framework.NewSnapshot(framework.Arrival)
	net := gpuSlice("net", 2)
	net.Spec.NodeName, net.Spec.AllNodes = nil, new(true)
	errs := []error{framework.Put(s, gpuClass()), framework.Put(s, gpuTemplate(1)), framework.Put(s, gpuTemplate(2))}
	if r.IntN(2) == 0 {
		errs = append(errs, framework.Put(s, net))
	}
	for i := range 3 {
		name := fmt.Sprint("n", i)
		errs = append(errs, s.AddNode(api.MakeNode(name, "8", "32Gi").Obj()), framework.Put(s, gpuSlice(name, 2)))
	}
	for i := range 3 {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("named-", i), Namespace: "default", UID: api.UID(fmt.Sprint("named-", i))}}
		c.Spec.Devices.Requests = gpuRequest(int64(1 + i%2))
		errs = append(errs, framework.Put(s, c))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	newSched := func() *scheduling.Scheduler {
		x, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	sides := []*flightSide{{s: s, sched: newSched(), now: flightModel{map[string]flightPod{}, map[string][]string{}}, seen: map[string]*framework.PodInfo{}}}
	var log []string
	for step := range 60 {
		k := r.IntN(len(sides))
		x := sides[k]
		note := func(format string, args ...any) {
			log = append(log, fmt.Sprintf("%d: ", k)+fmt.Sprintf(format, args...))
		}
		some := func() (flightPod, bool) {
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(x.now.pods)), func(name string) bool { return x.now.pods[name].lost })
			if len(names) == 0 {
				return flightPod{}, false
			}
			return x.now.pods[names[r.IntN(len(names))]], true
		}
		must := func(err error) {
			if err != nil {
				t.Fatalf("seed %d: %v\nhistory: %q", seed, err, log)
			}
		}
		end := func(m framework.Mark, was flightModel) { // of a transaction
			if r.IntN(2) == 0 {
				note("taken back")
				x.s.Rollback(m)
				x.now = was
			} else {
				x.s.Commit(m)
			}
		}
		switch op := r.IntN(17); op {
		case 0, 1, 2, 3:
			name := fmt.Sprint("p", r.IntN(6))
			if _, there := x.now.pods[name]; there {
				break
			}
			p := gpuPod(name, 1+r.IntN(2))
			switch kind := r.IntN(4); kind {
			case 0:
				p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new(fmt.Sprint("named-", r.IntN(3)))}}
			case 1:
				p = api.MakePod(name).Requests("100m", "64Mi").Obj()
				p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = gpuQuantity(1)
				p.Spec.Containers[0].Resources.Limits = p.Spec.Containers[0].Resources.Requests
			case 2:
				p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: "named", ResourceClaimName: new(fmt.Sprint("named-", r.IntN(3)))})
			}
			if u := r.IntN(3); u > 0 {
				p.UID = api.UID(fmt.Sprint(name, "-", step%(u+1), "-", step))
			}
			info, err := x.s.NewPodInfo(p)
			must(err)
			ok := x.place(info)
			note("place %s uid %q: %t", name, p.UID, ok)
			if ok {
				placed += len(x.now.pods[name].devices)
			}
		case 4:
			if p, ok := some(); ok {
				note("remove %s", p.info.Pod.Name)
				must(x.s.RemovePod(p.info, p.node))
				delete(x.now.pods, p.info.Pod.Name)
				if len(x.marks) > 0 { // may keep its devices until the commit
					break
				}
			}
		case 5:
			if p, ok := some(); ok {
				note("release %s", p.info.Pod.Name)
				must(x.sched.Release(x.s, p.info, p.node))
				delete(x.now.pods, p.info.Pod.Name)
			}
		case 6:
			if p, ok := some(); ok {
				note("replace %s", p.info.Pod.Name)
				o := *p.info.Pod
				o.Labels = map[string]string{"v": fmt.Sprint(step)}
				o.Spec.NodeName = p.node
				info, err := x.s.NewPodInfo(&o)
				must(err)
				must(x.s.ReplacePod(p.info, info, p.node))
				p.info = info
				x.now.pods[o.Name] = p
			}
		case 7:
			if p, ok := some(); ok { // evict and place again, in a transaction
				m := x.s.Begin()
				was := x.now.clone()
				must(x.s.RemovePod(p.info, p.node))
				delete(x.now.pods, p.info.Pod.Name)
				gone := r.IntN(2) == 0 // another pod of the same identity comes
				if gone {
					must(x.s.ReleasePod(p.info))
				}
				ok := x.place(p.info.Pending())
				note("move %s, gone %t: %t", p.info.Pod.Name, gone, ok)
				end(m, was)
			}
		case 15:
			if p, ok := some(); ok { // as a what-if moves pods: its own devices are free for it
				m := x.s.Begin()
				was := x.now.clone()
				note("release and place %s", p.info.Pod.Name)
				must(x.sched.Release(x.s, p.info, p.node))
				delete(x.now.pods, p.info.Pod.Name)
				if !x.place(p.info.Pending()) && len(p.devices) > 0 {
					must(errors.New("the pod cannot have its devices again"))
				}
				end(m, was)
			}
		case 16:
			if len(x.marks) > 0 {
				break
			}
			name := fmt.Sprint("n", r.IntN(3))
			if x.s.Node(name) != nil {
				note("lose %s", name)
				must(x.s.LoseNode(name))
				for key, p := range x.now.pods {
					p.lost = p.lost || p.node == name
					x.now.pods[key] = p
				}
				break
			}
			note("%s comes back", name)
			must(x.s.AddNode(api.MakeNode(name, "8", "32Gi").Obj()))
			for _, key := range slices.Sorted(maps.Keys(x.now.pods)) {
				p := x.now.pods[key]
				switch {
				case p.node != name:
				case r.IntN(3) == 0:
					note("%s has gone", key)
					must(x.s.ReleasePod(p.info))
					delete(x.now.pods, key)
				default:
					must(x.s.AddPod(p.info, name))
					p.lost = false
					x.now.pods[key] = p
				}
			}
		case 8, 9:
			if len(x.marks) < 3 {
				note("begin")
				x.marks, x.saved = append(x.marks, x.s.Begin()), append(x.saved, x.now.clone())
			}
		case 10, 11:
			if n := len(x.marks); n > 0 {
				at := r.IntN(n)
				if op == 10 {
					note("commit %d", at)
					x.s.Commit(x.marks[at])
				} else {
					note("rollback %d", at)
					x.s.Rollback(x.marks[at])
					x.now = x.saved[at]
				}
				x.marks, x.saved = x.marks[:at], x.saved[:at]
			}
		case 12:
			if len(sides) < 4 {
				note("fork")
				f := &flightSide{s: x.s.Fork(), sched: newSched(), now: x.now.clone(), seen: maps.Clone(x.seen)}
				if len(x.marks) > 0 {
					f.s.Commit(f.s.Begin()) // see TestFlightsOfForkInTransaction
				}
				sides = append(sides, f)
			}
		case 13:
			if p, ok := some(); ok { // write the claims
				for i, c := range filter.DeviceClaimsOf(x.s, p.info) {
					current := framework.Lookup[api.ResourceClaim](x.s, c.Claim.Key())
					if c.Entry != "" {
						current = nil
					}
					w, err := c.Write(current, p.info.Pod, time.Unix(int64(step), 0))
					must(err)
					if c.Entry != "" {
						w.Name = fmt.Sprintf("%s-%d-%d", p.info.Pod.Name, step, i)
						w.UID = api.UID(w.Name)
					}
					note("write %s of %s", w.Key(), p.info.Pod.Name)
					must(framework.Put(x.s, w))
					x.now.wrote[w.Key()] = flightDevices([]filter.DeviceClaim{{Claim: w}})
				}
				p.devices = nil
				x.now.pods[p.info.Pod.Name] = p
			}
		case 14:
			if len(x.marks) == 0 && r.IntN(3) == 0 {
				name := fmt.Sprint("n", r.IntN(3))
				note("node %s", name)
				if x.s.Node(name) == nil {
					break
				}
				must(x.s.RemoveNode(name))
				must(x.s.AddNode(api.MakeNode(name, "8", "32Gi").Obj()))
				maps.DeleteFunc(x.now.pods, func(_ string, p flightPod) bool { return p.node == name })
			} else if keys := slices.Sorted(maps.Keys(x.now.wrote)); len(keys) > 0 {
				key := keys[r.IntN(len(keys))]
				if c := framework.Lookup[api.ResourceClaim](x.s, key); c.ControllerRef() != nil || len(c.OwnerReferences) > 0 {
					note("delete claim %s", key)
					framework.Delete[api.ResourceClaim](x.s, key)
					delete(x.now.wrote, key)
				}
			}
		}
		for _, x := range sides {
			x.check(t, append(log, fmt.Sprint("seed ", seed)))
		}
	}
	return placed
}

func TestRandomFlights(t *testing.T) {
	placed, seeds := 0, effort.Of(60, 300)
	for seed := range uint64(seeds) {
		placed += runFlights(t, seed)
	}
	if placed < 10*seeds {
		t.Errorf("%d devices were given in %d histories, want 10 or more in each", placed, seeds)
	}
}

func gpuQuantity(n int64) resource.Quantity { return resource.New(n, resource.DecimalSI) }

// TestFlightsOfForkAndCommits: in a fork, an empty transaction changes nothing.
func TestFlightsOfForkAndCommits(t *testing.T) {
	s := networkDevice(t)
	pod, node, err := placeOnNetwork(t, s, "p")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Rollback(s.Begin())
	if err := s.RemovePod(pod, node); err != nil {
		t.Fatal(err)
	}
	f := s.Fork()
	before := len(filter.DeviceClaimsOf(f, pod))
	f.Commit(f.Begin())
	if after := len(filter.DeviceClaimsOf(f, pod)); after != before {
		t.Errorf("the pod holds %d claims in the fork, and %d after an empty transaction", before, after)
	}
}

// TestFlightsSeenFirstInTransaction: a claim that comes, changes or goes in a transaction in which the
// snapshot is asked about devices for the first time; the rollback takes the change back.
func TestFlightsSeenFirstInTransaction(t *testing.T) {
	allocated := func() *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c", Namespace: "default", UID: "c"}}
		c.Spec.Devices.Requests = gpuRequest(1)
		c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "gpu.example.com", Pool: "x", Device: "gpu-0"},
		}}}
		return c
	}
	for _, tt := range []struct {
		name  string
		there bool // before
		do    func(s *framework.Snapshot) error
	}{
		{"comes", false, func(s *framework.Snapshot) error { return framework.Put(s, allocated()) }},
		{"goes", true, func(s *framework.Snapshot) error { framework.Delete[api.ResourceClaim](s, "default/c"); return nil }},
		{"loses its device", true, func(s *framework.Snapshot) error {
			c := allocated()
			c.Status.Allocation = nil
			return framework.Put(s, c)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := networkDevice(t)
			if tt.there {
				if err := framework.Put(s, allocated()); err != nil {
					t.Fatal(err)
				}
			}
			m := s.Begin()
			if err := tt.do(s); err != nil {
				t.Fatal(err)
			}
			_, _, _ = placeOnNetwork(t, s, "trial")
			s.Rollback(m)
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			if _, _, err := placeOnNetwork(t, s, "next"); (err == nil) == tt.there {
				t.Errorf("the claim is there and has the only device: %t; the next pod: %v", tt.there, err)
			}
		})
	}
}
