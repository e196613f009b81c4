package scheduling_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// gpuNode returns a node and the slice of its eight devices, four in each half.
func gpuNode(name string) (*api.Node, *api.ResourceSlice) {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
	s.Spec = api.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
	}
	for i := range 8 {
		s.Spec.Devices = append(s.Spec.Devices, api.Device{
			Name: fmt.Sprint("gpu-", i), Attributes: map[string]api.DeviceAttribute{"model": {StringValue: new("a100")}, "half": {IntValue: new(int64(i / 4))}},
			Capacity: map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		})
	}
	return api.MakeNode(name, "64", "512Gi").Obj(), s
}

// gpuCluster returns a cluster of nodes with devices, a class, and templates: one device,
// eight, and eight of one model.
func gpuCluster(tb testing.TB, nodes int) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	must := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			tb.Fatal(err)
		}
	}
	c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	c.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	must(framework.Put(s, c))
	for name, count := range map[string]int64{"one": 1, "eight": 8, "eight-alike": 8} {
		t := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
		t.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: count,
		}}}
		if name == "eight-alike" {
			t.Spec.Spec.Devices.Constraints = []api.DeviceConstraint{{MatchAttribute: new("gpu.example.com/model")}}
		}
		must(framework.Put(s, t))
	}
	for i := range nodes {
		n, slice := gpuNode(fmt.Sprint("n", i))
		must(s.AddNode(n), framework.Put(s, slice))
	}
	return s
}

// claiming returns a pod that names a template; "" for none.
func claiming(name, template string) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").Obj()
	if template != "" {
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
	}
	return p
}

// Both paths place pods with devices alike until the cluster is full, and a pod that
// leaves makes room for the next.
func TestPlaceDevices(t *testing.T) {
	s := gpuCluster(t, 5)
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	var last *framework.PodInfo
	var at string
	for i := range 5 * 8 {
		last = info(t, s, claiming(fmt.Sprint("p", i), "one"))
		d, err := sched.Place(s, last)
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		at = d.Node
		if got := filter.DeviceClaimsOf(s, last); len(got) != 1 {
			t.Fatalf("pod %d holds %v", i, got)
		}
	}
	next := info(t, s, claiming("next", "one"))
	var fit *scheduling.FitError
	if _, err := sched.Place(s, next); !errors.As(err, &fit) {
		t.Fatalf("one pod too many: %v", err)
	}
	if err := sched.Release(s, last, at); err != nil {
		t.Fatal(err)
	}
	if d, err := sched.Place(s, next); err != nil || d.Node != at {
		t.Errorf("after a pod has left %s: %v, %v", at, d.Node, err)
	}
	if n := sched.Stats().Hits; n < 30 {
		t.Errorf("%d of 42 decisions from kept answers, want at least 30", n)
	}
}

// hardTemplate puts a template for all devices of a node, one of them in half 9. Each request
// has alternatives, so every choice of devices for the others is tried.
func hardTemplate(t *testing.T, s *framework.Snapshot) {
	t.Helper()
	x := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "hard", Namespace: "default"}}
	for r := range 8 {
		any := api.DeviceSubRequest{Name: "any", DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}
		if r == 7 {
			any.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].half == 9`}}}
		}
		x.Spec.Spec.Devices.Requests = append(x.Spec.Spec.Devices.Requests, api.DeviceRequest{Name: fmt.Sprint("r", r), FirstAvailable: []api.DeviceSubRequest{any}})
	}
	if err := framework.Put(s, x); err != nil {
		t.Fatal(err)
	}
}

// A claim that is hard on many nodes is given up there, and the pod goes to a node where it is
// not. The bound changes once more nodes share it, and answers that were kept change with it.
func TestPlaceHardClaim(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	s := gpuCluster(t, 63)
	hardTemplate(t, s)
	n, slice := gpuNode("easy")
	slice.Spec.Devices[7].Attributes = map[string]api.DeviceAttribute{"half": {IntValue: new(int64(9))}}
	if err := errors.Join(s.AddNode(n), framework.Put(s, slice)); err != nil {
		t.Fatal(err)
	}
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	if d, err := sched.Place(s, info(t, s, claiming("a", "hard"))); err != nil || d.Node != "easy" {
		t.Errorf("the pod is on %q (%v), want easy", d.Node, err)
	}
	next := info(t, s, claiming("b", "hard"))
	expect := func(when, want string) {
		t.Helper()
		for range 2 {
			var fit *scheduling.FitError
			if _, err := sched.Schedule(s, next); !errors.As(err, &fit) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want a FitError with %q", when, err, want)
			}
		}
	}
	expect("with 64 nodes", "63 search for devices given up after 312500 steps")
	n, slice = gpuNode("one-more")
	if err := errors.Join(s.AddNode(n), framework.Put(s, slice)); err != nil {
		t.Fatal(err)
	}
	expect("with 65 nodes", "64 search for devices given up after 156250 steps")
	framework.Delete[api.ResourceSlice](s, "n0")
	expect("with slices of 64 nodes again", "63 search for devices given up after 312500 steps")
}

// A claim that makes the plugin fail costs its own class only: pods that share the kept
// answers of other plugins with it do not suffer.
func TestFailingClaimLeavesOthersAlone(t *testing.T) {
	s := gpuCluster(t, 5)
	bad := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "bad", Namespace: "default"}}
	bad.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
		Selectors: []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "device."}}},
	}}}
	if err := framework.Put(s, bad); err != nil {
		t.Fatal(err)
	}
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	place := func(name, template string) error {
		_, err := sched.Place(s, info(t, s, claiming(name, template)))
		return err
	}
	for i := range 3 {
		if err := place(fmt.Sprint("good-", i), "one"); err != nil {
			t.Fatal(err)
		}
	}
	before := sched.Stats()
	var failed *scheduling.PluginError
	if err := place("bad-0", "bad"); !errors.As(err, &failed) {
		t.Fatalf("a pod whose selector cannot be compiled: %v", err)
	}
	if err := place("good-3", "one"); err != nil {
		t.Fatal(err)
	}
	if now := sched.Stats(); now.Hits != before.Hits+1 || now.Misses != before.Misses {
		t.Errorf("after a pod that fails: %d hits and %d misses, want %d and %d", now.Hits, now.Misses, before.Hits+1, before.Misses)
	}
}

func info(tb testing.TB, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	tb.Helper()
	i, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

// A pod names a template, and no node has devices. The fork asks: would it fit on a node
// of a type that does not exist yet? The node brings its devices as a slice.
func ExampleScheduler_devices() {
	s := framework.NewSnapshot(framework.Arrival)
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "two", Namespace: "default"}}
	template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 2,
	}}}
	scheduler, err := scheduling.New(scheduling.Kubernetes137())
	if err = errors.Join(err, s.AddNode(api.MakeNode("small", "8", "32Gi").Obj()), framework.Put(s, class), framework.Put(s, template)); err != nil {
		fmt.Println(err)
		return
	}
	pod, err := s.NewPodInfo(claiming("train", "two"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = scheduler.Place(s, pod)
	fmt.Println(err)

	fork := s.Fork()
	node, slice := gpuNode("new-gpu-node")
	if err := errors.Join(fork.AddNode(node), framework.Put(fork, slice)); err != nil {
		fmt.Println(err)
		return
	}
	d, err := scheduler.Place(fork, pod)
	fmt.Println(d.Node, err)
	for _, c := range filter.DeviceClaimsOf(fork, pod) {
		for _, r := range c.Claim.Status.Allocation.Devices.Results {
			fmt.Println(c.Entry, r.Pool, r.Device)
		}
	}
	// Output:
	// 0/1 nodes are available: 1 cannot allocate all claims.
	// new-gpu-node <nil>
	// gpu new-gpu-node gpu-0
	// gpu new-gpu-node gpu-1
}

// BenchmarkPlaceDevices places pods, and releases them when the cluster is full. Pods
// without claims are there for comparison; they are placed on the same cluster.
func BenchmarkPlaceDevices(b *testing.B) {
	for _, nodes := range []int{500, 5000} {
		for _, template := range []string{"", "one", "eight", "eight-alike"} {
			for _, path := range []string{"incremental", "reference"} {
				b.Run(fmt.Sprintf("path=%s/claim=%s/nodes=%d", path, template, nodes), func(b *testing.B) {
					s := gpuCluster(b, nodes)
					p := scheduling.Kubernetes137()
					p.TieRule = scheduling.Random
					p.Cache.Off = path == "reference"
					sched := build(b, p)
					var placed []*framework.PodInfo
					var at []string
					pods := make([]*framework.PodInfo, min(nodes, 400))
					for i := range pods {
						pods[i] = info(b, s, claiming(fmt.Sprint("p", i), template))
					}
					b.ReportAllocs()
					for b.Loop() {
						if len(placed) == len(pods) {
							b.StopTimer()
							for i, p := range placed {
								if err := sched.Release(s, p, at[i]); err != nil {
									b.Fatal(err)
								}
							}
							placed, at = placed[:0], at[:0]
							b.StartTimer()
						}
						d, err := sched.Place(s, pods[len(placed)])
						if err != nil {
							b.Fatal(err)
						}
						placed, at = append(placed, pods[len(placed)]), append(at, d.Node)
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
				})
			}
		}
	}
}

// own returns a pod with a claim of its own, made from no template.
func own(name string) (*api.Pod, *api.ResourceClaim) {
	p := claiming(name, "")
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID("claim-" + name)}}
	c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
	}}}
	return p, c
}

// write puts the claims of a placed pod as a driver writes them.
func write(tb testing.TB, s *framework.Snapshot, pod *framework.PodInfo) {
	tb.Helper()
	for _, c := range filter.DeviceClaimsOf(s, pod) {
		written, err := c.Write(framework.Lookup[api.ResourceClaim](s, c.Claim.Key()), pod.Pod, s.Now())
		if err == nil {
			err = framework.Put(s, written)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Pods with claims of their own are of one class, though each claim is another object and
// is written after each placement. Verify compares every decision.
func TestPlaceOwnClaims(t *testing.T) {
	s := gpuCluster(t, 5)
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	for i := range 5 * 8 {
		object, claim := own(fmt.Sprint("p", i))
		if err := framework.Put(s, claim); err != nil {
			t.Fatal(err)
		}
		pod := info(t, s, object)
		if _, err := sched.Place(s, pod); err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		write(t, s, pod)
	}
	object, claim := own("late")
	if err := framework.Put(s, claim); err != nil {
		t.Fatal(err)
	}
	var fit *scheduling.FitError
	if _, err := sched.Place(s, info(t, s, object)); !errors.As(err, &fit) {
		t.Errorf("one pod too many: %v", err)
	}
	if n := sched.Stats().Hits; n < 38 {
		t.Errorf("%d of 41 decisions from kept answers, want at least 38", n)
	}
}

// Two pods share a claim. While the first has it in flight, the second waits; once it is
// written, the second follows it to the node.
func TestPlaceSharedClaim(t *testing.T) {
	s := gpuCluster(t, 3)
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	_, claim := own("shared")
	if err := framework.Put(s, claim); err != nil {
		t.Fatal(err)
	}
	sharing := func(name string) *framework.PodInfo {
		object := claiming(name, "")
		object.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("shared")}}
		return info(t, s, object)
	}
	first := sharing("first")
	d, err := sched.Place(s, first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		var fit *scheduling.FitError
		if _, err := sched.Place(s, sharing(fmt.Sprint("waits-", i))); !errors.As(err, &fit) || !strings.Contains(err.Error(), "is in the process of being allocated") {
			t.Errorf("a pod that shares a claim in flight: %v", err)
		}
	}
	write(t, s, first)
	for i := range 4 {
		got, err := sched.Place(s, sharing(fmt.Sprint("second-", i)))
		if err != nil || got.Node != d.Node {
			t.Errorf("a pod that shares an allocated claim: %s, %v; want %s", got.Node, err, d.Node)
		}
	}
}

// hold puts claims that have devices of 5,000 nodes.
func hold(tb testing.TB, s *framework.Snapshot, claims int) {
	tb.Helper()
	for i := range claims {
		_, claim := own(fmt.Sprint("present-", i))
		node := fmt.Sprint("n", i%5000)
		claim.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "gpu.example.com", Pool: node, Device: fmt.Sprint("gpu-", i/5000)},
		}}}
		if err := framework.Put(s, claim); err != nil {
			tb.Fatal(err)
		}
	}
}

// askedDevices counts the questions to DynamicResources.
type askedDevices struct {
	filter.DynamicResources
	asked *int
}

func (p askedDevices) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	*p.asked++
	pre, status := p.DynamicResources.PreFilter(c)
	if f, ok := pre.Filter.(devicesFilter); ok {
		pre.Filter = &askedFilter{f, p.asked}
	}
	return pre, status
}

// A devicesFilter is what DynamicResources binds.
type devicesFilter interface {
	framework.NodeFilter
	incremental.DomainTracker
	incremental.Expirer
}

type askedFilter struct {
	devicesFilter
	asked *int
}

func (f *askedFilter) Filter(pod *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	*f.asked++
	return f.devicesFilter.Filter(pod, n)
}

// What a pod with a claim of its own costs does not depend on how many claims there are:
// neither the questions to the plugin, nor the memory for the decision and for the claim
// that is put and written.
func TestPlaceAmongClaims(t *testing.T) {
	const pods = 100
	var few, fewBytes int
	for _, claims := range []int{200, 2000, effort.Of(4000, 20_000)} {
		s := gpuCluster(t, effort.Of(1000, 5000))
		hold(t, s, claims)
		asked := 0
		p := scheduling.Kubernetes137()
		for i, x := range p.Filter {
			if x.Name() == "DynamicResources" {
				p.Filter[i] = askedDevices{filter.DynamicResources{}, &asked}
			}
		}
		sched := build(t, p)
		place := func(i int) {
			object, claim := own(fmt.Sprint("p", i))
			if err := framework.Put(s, claim); err != nil {
				t.Fatal(err)
			}
			pod := info(t, s, object)
			if _, err := sched.Place(s, pod); err != nil {
				t.Fatal(err)
			}
			write(t, s, pod)
		}
		for i := range 5 { // the class is known then
			place(i)
		}
		asked = 0
		hits := sched.Stats().Hits
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range pods {
			place(5 + i)
		}
		runtime.ReadMemStats(&after)
		bytes := int(after.TotalAlloc - before.TotalAlloc)
		if n := sched.Stats().Hits - hits; n != pods {
			t.Errorf("%d claims: %d of %d decisions from kept answers", claims, n, pods)
		}
		if asked > 4*pods {
			t.Errorf("%d claims: %d questions for %d pods, want at most 4 for each", claims, asked, pods)
		}
		if few == 0 {
			few, fewBytes = asked, bytes
		}
		if asked != few || bytes > 2*fewBytes {
			t.Errorf("%d claims: %d questions and %d bytes for %d pods; with 200 claims %d and %d", claims, asked, bytes, pods, few, fewBytes)
		}
		t.Logf("%d claims: %d questions, %d bytes", claims, asked, bytes)
	}
}

// BenchmarkPlaceOwnClaims places pods with claims of their own among claims that have
// devices. An operation is a claim that is put, a pod that is placed, and the claim
// that is written.
func BenchmarkPlaceOwnClaims(b *testing.B) {
	for _, claims := range []int{200, 2000, effort.Of(4000, 20_000)} {
		b.Run(fmt.Sprintf("claims=%d", claims), func(b *testing.B) { benchmarkOwnClaims(b, claims) })
	}
}

func benchmarkOwnClaims(b *testing.B, claims int) {
	s := gpuCluster(b, 5000)
	sched := build(b, scheduling.Kubernetes137())
	hold(b, s, claims)
	const most = 10_000
	pods, objects := make([]*framework.PodInfo, most), make([]*api.ResourceClaim, most)
	for i := range pods {
		var object *api.Pod
		object, objects[i] = own(fmt.Sprint("p", i))
		pods[i] = info(b, s, object)
	}
	at := make([]string, 0, most)
	place := func(i int) {
		if err := framework.Put(s, objects[i]); err != nil {
			b.Fatal(err)
		}
		d, err := sched.Place(s, pods[i])
		if err != nil {
			b.Fatal(err)
		}
		at = append(at, d.Node)
		write(b, s, pods[i])
	}
	for i := range 3 { // the class is known then
		place(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(at) == most {
			b.StopTimer()
			for i := range at {
				if err := sched.Release(s, pods[i], at[i]); err != nil {
					b.Fatal(err)
				}
				framework.Delete[api.ResourceClaim](s, objects[i].Key())
			}
			at = at[:0]
			b.StartTimer()
		}
		place(len(at))
	}
}

// BenchmarkPlaceUntilFull places pods with claims of their own that nobody writes, until
// each device of 500 nodes is taken, and begins anew. An operation is a pod that is placed.
// Neither the pod nor the cluster is known from before.
func BenchmarkPlaceUntilFull(b *testing.B) {
	const nodes, most = 500, 500 * 8
	var s *framework.Snapshot
	var sched *scheduling.Scheduler
	pods, at := make([]*framework.PodInfo, most), most
	b.ReportAllocs()
	for b.Loop() {
		if at == most {
			b.StopTimer()
			s, at = gpuCluster(b, nodes), 0
			p := scheduling.Kubernetes137()
			p.TieRule = scheduling.Random
			sched = build(b, p)
			for i := range pods {
				object, claim := own(fmt.Sprint("p", i))
				if err := framework.Put(s, claim); err != nil {
					b.Fatal(err)
				}
				pods[i] = info(b, s, object)
			}
			runtime.GC()
			b.StartTimer()
		}
		if _, err := sched.Place(s, pods[at]); err != nil {
			b.Fatal(err)
		}
		at++
	}
}

// A request for all devices of a node fails while a rule taints one of them, on every node
// at once, and no longer when the rule is gone. Verify compares every decision.
func TestPlaceAllBesideTaintRules(t *testing.T) {
	s := gpuCluster(t, 6)
	all := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "all", Namespace: "default"}}
	all.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeAll,
	}}}
	rule := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: "broken"}}
	rule.Spec.DeviceSelector = &api.DeviceTaintSelector{Device: new("gpu-7")}
	rule.Spec.Taint = api.DeviceTaint{Key: "broken", Effect: api.DeviceTaintEffectNoSchedule}
	if err := framework.Put(s, all); err != nil {
		t.Fatal(err)
	}
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	serial := 0
	place := func(template string) error {
		serial++
		_, err := sched.Place(s, info(t, s, claiming(fmt.Sprint("p", serial), template)))
		return err
	}
	for i := range 3 {
		if err := place("all"); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if err := framework.Put(s, rule); err != nil {
			t.Fatal(err)
		}
		var fit *scheduling.FitError
		if err := place("all"); !errors.As(err, &fit) {
			t.Errorf("round %d, with a device that is tainted: %v", i, err)
		}
		if err := place("one"); err != nil {
			t.Errorf("round %d, one device: %v", i, err)
		}
		framework.Delete[api.DeviceTaintRule](s, "broken")
	}
	if n := sched.Stats().Hits; n < 5 {
		t.Errorf("%d of 9 decisions from kept answers, want at least 5", n)
	}
}

// A fork is asked about devices before its parent ever was. What was found out on the fork
// is not taken for an answer about the parent, where devices have been given meanwhile.
func TestForkIsAskedFirst(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		s := gpuCluster(t, 2)
		p := scheduling.Kubernetes137()
		p.Cache.Verify = true
		sched := build(t, p)
		fork := s.Fork()
		take := func() {
			_, claim := own("all")
			claim.Spec.Devices.Requests[0].Exactly.Count = 8
			claim.Status.Allocation = new(api.AllocationResult)
			for i := range 8 {
				claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, api.DeviceRequestAllocationResult{
					Request: "gpu", Driver: "gpu.example.com", Pool: "n0", Device: fmt.Sprint("gpu-", i),
				})
			}
			if err := framework.Put(s, claim); err != nil {
				t.Fatal(err)
			}
		}
		if when == "before" {
			take()
		}
		for i := range 4 {
			if d, err := sched.Schedule(fork, info(t, fork, claiming(fmt.Sprint("p", i), "eight"))); err != nil || d.Feasible != 2 {
				t.Fatalf("%s: on the fork: %d nodes, %v", when, d.Feasible, err)
			}
		}
		if when == "after" {
			take()
		}
		for i := range 3 {
			if d, err := sched.Schedule(s, info(t, s, claiming(fmt.Sprint("q", i), "eight"))); err != nil || d.Node != "n1" || d.Feasible != 1 {
				t.Errorf("%s: on the parent: %s of %d nodes, %v; want n1 of 1", when, d.Node, d.Feasible, err)
			}
		}
	}
}

// The same for the scores of a pod that requests devices as an extended resource, also if
// the profile has no plugin that finds them.
func TestForkIsAskedFirstForScores(t *testing.T) {
	specs := []scoring.ResourceSpec{{Name: "example.com/gpu", Weight: 1}}
	plugins := []framework.Plugin{scoring.NodeResourcesFit{Resources: specs}, scoring.NodeResourcesBalancedAllocation{Resources: append(specs, scoring.ResourceSpec{Name: "cpu", Weight: 1})}}
	for i, best := range []string{"n1", "n0"} { // the least allocated node, and the most balanced
		for _, plugin := range []string{"in", "out"} {
			for _, when := range []string{"before", "after"} {
				t.Run(fmt.Sprintf("%s/plugin=%s/%s", plugins[i].Name(), plugin, when), func(t *testing.T) {
					p := scheduling.Profile{Score: []scheduling.Weighted{{Plugin: plugins[i]}}, Cache: scheduling.CacheConfig{Verify: true}}
					if plugin == "in" {
						p.Filter = []framework.Plugin{filter.DynamicResources{}}
					}
					for _, known := range []string{"nothing", "claims"} {
						forkIsAskedFirst(t, p, when, best, known)
					}
				})
			}
		}
	}
}

func forkIsAskedFirst(t *testing.T, p scheduling.Profile, when, best, known string) {
	t.Helper()
	s := gpuCluster(t, 2)
	class := *framework.Lookup[api.DeviceClass](s, "gpu")
	class.Spec.ExtendedResourceName = new("example.com/gpu")
	if err := framework.Put(s, &class); err != nil {
		t.Fatal(err)
	}
	sched := build(t, p)
	pod := func(s *framework.Snapshot, name string) *framework.PodInfo {
		return info(t, s, api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").Request("example.com/gpu", "1").Obj())
	}
	if known == "claims" { // and classes, but not which devices there are
		fits := build(t, scheduling.Profile{Filter: []framework.Plugin{filter.NodeResourcesFit{}}})
		if _, err := fits.Schedule(s, pod(s, "p")); err != nil {
			t.Fatal(err)
		}
		filter.DeviceClaimsOf(s, pod(s, "p"))
	}
	fork := s.Fork()
	take := func() {
		_, claim := own("one")
		claim.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "gpu.example.com", Pool: "n0", Device: "gpu-0"},
		}}}
		if err := framework.Put(s, claim); err != nil {
			t.Fatal(err)
		}
	}
	if when == "before" {
		take()
	}
	for i := range 4 {
		if d, err := sched.Schedule(fork, pod(fork, fmt.Sprint("p", i))); err != nil || d.TiedNodes != 2 {
			t.Fatalf("on the fork: %d nodes are best, %v", d.TiedNodes, err)
		}
	}
	if when == "after" {
		take()
	}
	for i := range 3 {
		if d, err := sched.Schedule(s, pod(s, fmt.Sprint("q", i))); err != nil || d.Node != best || d.TiedNodes != 1 {
			t.Errorf("on the parent: %s of %d best nodes, %v; want %s alone", d.Node, d.TiedNodes, err, best)
		}
	}
}

// BenchmarkPlaceWithoutClaims places pods without claims on nodes with devices, with the
// plugin for devices and without it. Pods are placed again (again), seen for the first time
// (first), or seen for the first time and request resources that no class backs (extended).
func BenchmarkPlaceWithoutClaims(b *testing.B) {
	for _, pods := range []string{"again", "first", "extended"} {
		for _, plugin := range []string{"in", "out"} {
			b.Run("pods="+pods+"/plugin="+plugin, func(b *testing.B) { benchmarkWithoutClaims(b, pods, plugin == "in") })
		}
	}
}

func benchmarkWithoutClaims(b *testing.B, which string, plugin bool) {
	s := gpuCluster(b, 5000)
	for i := range 5000 {
		n := *s.Node(fmt.Sprint("n", i)).Node
		n.Status.Allocatable = maps.Clone(n.Status.Allocatable)
		n.Status.Allocatable["example.com/nic"] = resource.MustParse("1000")
		n.Status.Allocatable["example.com/disk"] = resource.MustParse("1000")
		if err := s.UpdateNode(&n); err != nil {
			b.Fatal(err)
		}
	}
	p := scheduling.Kubernetes137()
	if !plugin {
		p.Filter = slices.DeleteFunc(p.Filter, func(x framework.Plugin) bool { return x.Name() == "DynamicResources" })
		p.Reserve = slices.DeleteFunc(p.Reserve, func(x framework.Plugin) bool { return x.Name() == "DynamicResources" })
		p.Score = slices.DeleteFunc(p.Score, func(x scheduling.Weighted) bool { return x.Plugin.Name() == "DynamicResources" })
	}
	sched := build(b, p)
	pods := make([]*framework.PodInfo, 10_000)
	fill := func() {
		for i := range pods {
			object := claiming(fmt.Sprint("p", i), "")
			if which == "extended" {
				requests := object.Spec.Containers[0].Resources.Requests
				requests["example.com/nic"], requests["example.com/disk"] = resource.MustParse("1"), resource.MustParse("2")
			}
			pods[i] = info(b, s, object)
		}
	}
	fill()
	at := make([]string, 0, len(pods))
	b.ReportAllocs()
	for b.Loop() {
		if len(at) == len(pods) {
			b.StopTimer()
			for i := range at {
				if err := sched.Release(s, pods[i], at[i]); err != nil {
					b.Fatal(err)
				}
			}
			at = at[:0]
			if which != "again" {
				fill()
			}
			runtime.GC()
			b.StartTimer()
		}
		d, err := sched.Place(s, pods[len(at)])
		if err != nil {
			b.Fatal(err)
		}
		at = append(at, d.Node)
	}
}

// A node that takes the slot of another does not get its devices.
func TestDevicesOfASlot(t *testing.T) {
	s := gpuCluster(t, 2)
	sched := build(t, scheduling.Kubernetes137())
	for i, want := range []int{2, 1} {
		d, err := sched.Schedule(s, info(t, s, claiming(fmt.Sprint("p", i), "one")))
		if err != nil || d.Feasible != want {
			t.Errorf("round %d: %d nodes with devices, %v; want %d", i, d.Feasible, err, want)
		}
		if i == 0 {
			if err := errors.Join(s.RemoveNode("n0"), s.AddNode(api.MakeNode("bare", "64", "512Gi").Obj())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A pod whose devices were taken back has none, also right afterwards.
func TestWordsOfReleasedDevices(t *testing.T) {
	s := gpuCluster(t, 1)
	sched := build(t, scheduling.Kubernetes137())
	for _, how := range []string{"release", "rollback"} {
		pod := info(t, s, claiming(how, "one"))
		mark := s.Begin()
		d, err := sched.Place(s, pod)
		if err != nil || d.Reserved == "" {
			t.Fatalf("%s: Reserved = %q, %v", how, d.Reserved, err)
		}
		if how == "release" {
			s.Commit(mark)
			err = sched.Release(s, pod, d.Node)
		} else {
			s.Rollback(mark)
		}
		if err = errors.Join(err, s.AddPod(pod, d.Node)); err != nil {
			t.Fatal(err)
		}
		if said := (filter.DynamicResources{}).Reserves(s, pod, s.Node(d.Node)); said != "" {
			t.Errorf("after a %s, the pod has %q", how, said)
		}
	}
}

// A lid is an extension that lets no pod leave a node while it is on.
type lid struct{ on *bool }

func (l lid) Fork(*framework.Snapshot) framework.Extension { return l }

func (lid) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

func (l lid) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {
	if *l.on {
		panic("the lid is on")
	}
}

// TestReleaseRefused: a pod that an extension does not let go keeps what plugins hold for it.
func TestReleaseRefused(t *testing.T) {
	s := gpuCluster(t, 1)
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	place := func(name string) (*framework.PodInfo, error) {
		p, err := s.NewPodInfo(claiming(name, "eight"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = sched.Place(s, p)
		return p, err
	}
	p, err := place("p")
	if err != nil {
		t.Fatal(err)
	}
	on := true
	framework.NewExtensionKey(func(*framework.Snapshot) lid { return lid{&on} }).Of(s)
	if err := sched.Release(s, p, "n0"); err == nil || !strings.Contains(err.Error(), "the lid is on") {
		t.Errorf("released although the lid is on: %v", err)
	}
	if _, err := place("q"); err == nil {
		t.Error("q has the devices of p, which is on its node")
	}
	on = false
	if err := sched.Release(s, p, "n0"); err != nil {
		t.Error(err)
	}
	if _, err := place("q"); err != nil {
		t.Error(err)
	}
}
