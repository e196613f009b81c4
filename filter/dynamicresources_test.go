package filter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
)

// gpuSlice returns a slice of a node with that many devices.
func gpuSlice(node string, devices int) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: node + "-gpu"}}
	s.Spec = api.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: api.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}
	for i := range devices {
		s.Spec.Devices = append(s.Spec.Devices, api.Device{
			Name: fmt.Sprint("gpu-", i),
			Attributes: map[string]api.DeviceAttribute{
				"index": {IntValue: new(int64(i))}, "numa": {IntValue: new(int64(i / 4))}, "model": {StringValue: new("a100")},
			},
			Capacity: map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		})
	}
	return s
}

func gpuClass() *api.DeviceClass {
	return &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}, Spec: api.DeviceClassSpec{
		Selectors:            []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
		ExtendedResourceName: new("example.com/gpu"),
	}}
}

func gpuRequest(count int64) []api.DeviceRequest {
	return []api.DeviceRequest{{Name: "gpu", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: count,
	}}}
}

func gpuTemplate(count int64) *api.ResourceClaimTemplate {
	t := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("gpus-%d", count), Namespace: "default"}}
	t.Spec.Spec.Devices.Requests = gpuRequest(count)
	return t
}

// gpuPod returns a pod that names the template for that many devices.
func gpuPod(name string, count int) *api.Pod {
	p := api.MakePod(name).Requests("100m", "64Mi").Obj()
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new(fmt.Sprintf("gpus-%d", count))}}
	return p
}

// deviceClaim returns a claim for that many devices. Some have one, and some of these wait
// for a condition.
func deviceClaim(r *rand.Rand, from []*api.ResourceSlice, namespace string, count int64) *api.ResourceClaim {
	name := fmt.Sprint("claim-", count)
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: namespace, UID: api.UID(namespace + "-" + name)}}
	c.Spec.Devices.Requests = gpuRequest(count + 1)
	if r.IntN(2) == 0 || len(from) == 0 {
		return c
	}
	s := from[r.IntN(len(from))]
	result := api.DeviceRequestAllocationResult{Request: "gpu", Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name, Device: s.Spec.Devices[0].Name}
	c.Status.Allocation = new(api.AllocationResult)
	if r.IntN(2) == 0 {
		result.BindingConditions = []string{"Attached"}
		c.Status.Allocation.AllocationTimestamp = new(frameworktest.Noon().Add(-time.Duration(r.IntN(12)) * time.Minute))
	}
	c.Status.Allocation.Devices.Results = []api.DeviceRequestAllocationResult{result}
	return c
}

// deviceCluster returns a random cluster with slices, claims, templates, taint rules and
// pods that need devices in every way.
func deviceCluster(seed uint64) *api.Objects {
	o := frameworktest.Cluster(seed)
	r := rand.New(rand.NewPCG(seed, 19))
	o.DeviceClasses = append(o.DeviceClasses, gpuClass())
	var namespaces []string
	for _, p := range o.Pods {
		if !slices.Contains(namespaces, p.Namespace) {
			namespaces = append(namespaces, p.Namespace)
		}
	}
	for _, n := range o.Nodes {
		if r.IntN(4) > 0 {
			o.ResourceSlices = append(o.ResourceSlices, gpuSlice(n.Name, 1+r.IntN(8)))
		}
	}
	wide := gpuSlice("net", 6)
	wide.Spec.NodeName, wide.Spec.AllNodes = nil, new(true)
	if r.IntN(2) == 0 {
		o.ResourceSlices = append(o.ResourceSlices, wide)
	}
	for count := range int64(4) {
		for _, namespace := range namespaces {
			t := gpuTemplate(count + 1)
			t.Namespace = namespace
			o.ResourceClaimTemplates = append(o.ResourceClaimTemplates, t)
		}
		for _, namespace := range namespaces {
			o.ResourceClaims = append(o.ResourceClaims, deviceClaim(r, o.ResourceSlices, namespace, count))
		}
	}
	if r.IntN(2) == 0 {
		o.DeviceTaintRules = append(o.DeviceTaintRules, &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: "broken"}, Spec: api.DeviceTaintRuleSpec{
			DeviceSelector: &api.DeviceTaintSelector{Device: new("gpu-1")}, Taint: api.DeviceTaint{Key: "broken", Effect: api.DeviceTaintEffectNoSchedule},
		}})
	}
	for i, p := range o.Pods {
		switch i % 6 {
		case 0, 1:
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new(fmt.Sprint("gpus-", 1+r.IntN(4)))}}
		case 2:
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new(fmt.Sprint("claim-", r.IntN(4)))}}
		case 3:
			if len(p.Spec.Containers) == 0 {
				continue
			}
			p.Spec.Containers[0].Resources.Requests = p.Spec.Containers[0].Resources.Requests.Add(resource.List{"example.com/gpu": resource.MustParse("2")})
		}
	}
	return o
}

func TestConformanceOfDynamicResources(t *testing.T) {
	frameworktest.Run(t, filter.DynamicResources{}, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Generate: deviceCluster})
	frameworktest.Run(t, filter.NodeResourcesFit{}, frameworktest.Config{Clusters: 4, Generate: deviceCluster})
}

// placed runs the plugin for a pod on a node and returns the verdict.
func placed(t *testing.T, s *framework.Snapshot, pod *api.Pod, node string) (framework.Status, []filter.DeviceClaim) {
	t.Helper()
	info, err := s.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	var c framework.Cycle
	c.Reset(info, s, 0, 0)
	p := filter.DynamicResources{}
	bound, status := p.PreFilter(&c)
	if !status.IsSuccess() {
		return status, nil
	}
	if status := bound.Filter.Filter(info, s.Node(node)); !status.IsSuccess() {
		return status, nil
	}
	if err := s.AddPod(info, node); err != nil {
		t.Fatal(err)
	}
	if status := p.Reserve(&c, s.Node(node)); !status.IsSuccess() {
		t.Fatalf("Reserve = %v after Filter passed", status)
	}
	return framework.Status{}, filter.DeviceClaimsOf(s, info)
}

func namesOf(claims []filter.DeviceClaim) string {
	var names []string
	for _, c := range claims {
		for _, r := range c.Claim.Status.Allocation.Devices.Results {
			names = append(names, r.Device)
		}
	}
	return strings.Join(names, " ")
}

func gpuSnapshot(t *testing.T, devices int) *framework.Snapshot {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	putObject(t, s, gpuClass())
	putObject(t, s, gpuSlice("n1", devices))
	for count := range int64(8) {
		putObject(t, s, gpuTemplate(count+1))
	}
	return s
}

func putObject[T api.Object](t *testing.T, s *framework.Snapshot, x *T) {
	t.Helper()
	if err := framework.Put(s, x); err != nil {
		t.Fatal(err)
	}
}

var written = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Devices go to one pod each, forks are independent, and a pod that leaves gives its
// devices back.
func TestVirtualClaims(t *testing.T) {
	s := gpuSnapshot(t, 4)
	step := func(s *framework.Snapshot, pod *api.Pod, want string) {
		t.Helper()
		status, claims := placed(t, s, pod, "n1")
		got := namesOf(claims)
		if !status.IsSuccess() {
			got = status.Message()
		}
		if got != want {
			t.Errorf("%s gets %q, want %q", pod.Name, got, want)
		}
	}
	step(s, gpuPod("a", 1), "gpu-0")
	step(s, gpuPod("b", 2), "gpu-1 gpu-2")
	fork := s.Fork()
	step(fork, gpuPod("c", 2), "cannot allocate all claims")
	step(fork, gpuPod("d", 1), "gpu-3")
	mark := s.Begin()
	step(s, gpuPod("e", 1), "gpu-3")
	step(s, gpuPod("f", 1), "cannot allocate all claims")
	s.Rollback(mark)
	b, _ := s.Pod("default/b")
	if err := s.RemovePod(b, "n1"); err != nil {
		t.Fatal(err)
	}
	step(s, gpuPod("g", 3), "gpu-1 gpu-2 gpu-3")
	step(fork, gpuPod("h", 1), "cannot allocate all claims")
}

// What a driver writes ends the flight; until then other pods of the claim wait.
func TestWriteClaim(t *testing.T) {
	s := gpuSnapshot(t, 2)
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "shared", Namespace: "default", UID: "1"}}
	c.Spec.Devices.Requests = gpuRequest(1)
	putObject(t, s, c)
	user := func(name string) *api.Pod {
		p := api.MakePod(name).UID(api.UID(name)).Obj()
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "x", ResourceClaimName: new("shared")}}
		return p
	}
	_, claims := placed(t, s, user("a"), "n1")
	if got := namesOf(claims); got != "gpu-0" {
		t.Fatalf("the claim got %q, want gpu-0", got)
	}
	if status, _ := placed(t, s, user("b"), "n1"); status.Message() != "resource claim default/shared is in the process of being allocated" {
		t.Errorf("another pod of the claim: %v", status)
	}
	for _, test := range []struct {
		current *api.ResourceClaim
		want    string
	}{
		{nil, "claim default/shared got deleted in the meantime"},
		{&api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "shared", Namespace: "default", UID: "2"}}, "claim default/shared got deleted in the meantime"},
		{claims[0].Claim, "claim default/shared got allocated elsewhere in the meantime"},
	} {
		if _, err := claims[0].Write(test.current, user("a"), written); err == nil || err.Error() != test.want {
			t.Errorf("Write(%v) = %v, want %s", test.current, err, test.want)
		}
	}
	next, err := claims[0].Write(c, user("a"), written)
	if err != nil {
		t.Fatal(err)
	}
	putObject(t, s, next)
	a, _ := s.Pod("default/a")
	if left := filter.DeviceClaimsOf(s, a); len(left) > 0 {
		t.Errorf("in flight after the write: %v", left)
	}
	if status, claims := placed(t, s, user("b"), "n1"); !status.IsSuccess() || len(claims) > 0 {
		t.Errorf("another pod of the written claim: %v, %v", status, claims)
	}
	if status, claims := placed(t, s, gpuPod("c", 1), "n1"); namesOf(claims) != "gpu-1" {
		t.Errorf("the next pod gets %q, %v, want gpu-1", namesOf(claims), status)
	}
	had := filter.DeviceClaim{Claim: next, Allocated: true} // for a pod that was placed by its devices
	if _, err := had.Write(next, user("b"), written); err != nil {
		t.Errorf("a claim that has its devices still: %v", err)
	}
	other := api.Clone(next)
	other.Status.Allocation.Devices.Results[0].Device = "gpu-1"
	if _, err := had.Write(other, user("b"), written); err == nil || err.Error() != "claim default/shared got allocated elsewhere in the meantime" {
		t.Errorf("a claim that has got other devices: %v", err)
	}
	framework.Delete[api.ResourceClaim](s, "default/shared")
	if status, claims := placed(t, s, gpuPod("d", 1), "n1"); namesOf(claims) != "gpu-0" {
		t.Errorf("after the claim is gone, a pod gets %q, %v, want gpu-0", namesOf(claims), status)
	}
}

// Unreserve gives back exactly what Reserve took.
func TestUnreserveDevices(t *testing.T) {
	s := gpuSnapshot(t, 4)
	info, err := s.NewPodInfo(gpuPod("a", 3))
	if err != nil {
		t.Fatal(err)
	}
	var c framework.Cycle
	p := filter.DynamicResources{}
	for range 3 {
		c.Reset(info, s, 0, 0)
		if status := p.Reserve(&c, s.Node("n1")); !status.IsSuccess() {
			t.Fatal(status)
		}
		if got := namesOf(filter.DeviceClaimsOf(s, info)); got != "gpu-0 gpu-1 gpu-2" {
			t.Errorf("the pod gets %q", got)
		}
		p.Unreserve(&c, s.Node("n1"))
		p.Unreserve(&c, s.Node("n1"))
		if got := filter.DeviceClaimsOf(s, info); len(got) > 0 {
			t.Errorf("after Unreserve: %v", got)
		}
	}
}

func TestBadClaims(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(e *api.ExactDeviceRequest)
		want   string
	}{
		{"mode", func(e *api.ExactDeviceRequest) { e.AllocationMode = "Some" }, "claim default/p-gpu-, request gpu: unsupported count mode Some"},
		{"count", func(e *api.ExactDeviceRequest) { e.Count = -1 }, "claim default/p-gpu-, request gpu: the count -1 is negative"},
		{"many", func(e *api.ExactDeviceRequest) { e.Count = 129 }, "claim default/p-gpu-, request gpu: adding 129 devices exceeds the claim limit of 32, with 0 already accounted for"},
		{"selector", func(e *api.ExactDeviceRequest) {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "device."}}}
		}, "claim default/p-gpu-: selector #0: CEL compile error: at offset 7: Syntax error: unexpected \"the end\""},
		{"refused", func(e *api.ExactDeviceRequest) {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "[1].map(x, x) == [1]"}}}
		}, "claim default/p-gpu-: selector #0: the built-in selectors do not have the macro \"map\"; set DeviceSelectors to a compiler of the full language, such as scheduling/kube/celselector"},
		{"class", func(e *api.ExactDeviceRequest) { e.DeviceClassName = "none" }, "request gpu: device class none does not exist"},
		{"no class", func(e *api.ExactDeviceRequest) { e.DeviceClassName = "" }, "request gpu: unsupported request type"},
		{"huge selector", func(e *api.ExactDeviceRequest) {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `"` + strings.Repeat("x", 11<<10) + `" == ""`}}}
		}, "claim default/p-gpu-: selector #0: the built-in selectors do not have expressions of more than 10240 bytes; set DeviceSelectors to a compiler of the full language, such as scheduling/kube/celselector"},
		{"deep selector", func(e *api.ExactDeviceRequest) {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500)}}}
		}, "claim default/p-gpu-: selector #0: the built-in selectors do not have expressions nested deeper than 60 levels; set DeviceSelectors to a compiler of the full language, such as scheduling/kube/celselector"},
		{"selector without text", func(e *api.ExactDeviceRequest) { e.Selectors = make([]api.DeviceSelector, 1) }, "claim default/p-gpu-, request gpu, selector #0: CEL expression empty (unsupported selector type?)"},
		{"capacity that is not there", func(e *api.ExactDeviceRequest) {
			e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{"absent": resource.MustParse("1")}}
		}, "cannot allocate all claims"},
		{"negative capacity", func(e *api.ExactDeviceRequest) {
			e.Capacity = &api.CapacityRequirements{Requests: map[string]resource.Quantity{"memory": resource.MustParse("-1")}}
		}, `claim default/p-gpu-, request gpu: checking capacity for device gpu.example.com/n1/gpu-0: capacity "memory": capacity value is negative`},
		{"junk version", func(e *api.ExactDeviceRequest) {
			e.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `semver("x") == semver("1.0.0")`}}}
		}, `claim default/p-gpu-: selector #0 on device gpu.example.com/n1/gpu-0: CEL runtime error: version "x": it is not major.minor.patch`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := gpuSnapshot(t, 4)
			template := gpuTemplate(1)
			template.Spec.Spec.Devices.Requests = gpuRequest(1)
			test.change(template.Spec.Spec.Devices.Requests[0].Exactly)
			putObject(t, s, template)
			status, _ := placed(t, s, gpuPod("p", 1), "n1")
			if got := status.Reasons(); !slices.Equal(got, []string{test.want}) {
				t.Errorf("reasons = %q, want %q", got, test.want)
			}
		})
	}
}

// A selector of a class without an expression is an error as one of a request is.
func TestClassSelectorWithoutExpression(t *testing.T) {
	s := gpuSnapshot(t, 4)
	class := gpuClass()
	class.Spec.Selectors = append(class.Spec.Selectors, api.DeviceSelector{})
	putObject(t, s, class)
	status, _ := placed(t, s, gpuPod("p", 1), "n1")
	want := "claim default/p-gpu-, request gpu, class gpu, selector #1: CEL expression empty (unsupported selector type?)"
	if got := status.Reasons(); status.Code() != framework.Error || !slices.Equal(got, []string{want}) {
		t.Errorf("Filter = %v, %q, want an error with %q", status, got, want)
	}
}

// Claims that share a device may consume different capacities of it, or none of one. What is
// in use after any of them is gone is what the others alone use.
func TestSharesOfDifferentCapacities(t *testing.T) {
	amount := resource.MustParse
	consumed := []map[string]resource.Quantity{
		{"bandwidth": amount("1"), "slots": amount("1")}, {"slots": amount("1")}, {"memory": amount("0")}, {}, nil,
	}
	for gone := range consumed {
		s := gpuSnapshot(t, 1)
		p, err := s.NewPodInfo(gpuPod("p", 1))
		if err != nil {
			t.Fatal(err)
		}
		filter.DeviceClaimsOf(s, p) // makes the state, which follows the claims from here on
		for i, capacity := range consumed {
			name := fmt.Sprint("c", i)
			c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
			c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
				{Request: "r", Driver: "gpu.example.com", Pool: "n1", Device: "gpu-0", ShareID: &c.UID, ConsumedCapacity: capacity},
			}}}
			putObject(t, s, c)
		}
		framework.Delete[api.ResourceClaim](s, fmt.Sprint("default/c", gone))
		if err := s.Check(); err != nil {
			t.Errorf("claim %d is gone: %v", gone, err)
		}
	}
}

// noVerdicts knows no node.
type noVerdicts struct{}

func (noVerdicts) Verdict(*framework.NodeInfo) (string, framework.Status) {
	return "", framework.Status{}
}

// Failed cycles may leave several claims for a pod's extended resources. The first one by name
// counts, whatever the order of events, and the next one once it is deleted.
func TestLeftExtendedClaims(t *testing.T) {
	left := func(name string) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
		c.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
		c.OwnerReferences = []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p", Controller: new(true)}}
		c.Spec.Devices.Requests = gpuRequest(1)
		return c
	}
	for _, early := range []bool{false, true} { // the state is made before the claims come
		for _, order := range []string{"ab", "ba", "bab"} {
			s := gpuSnapshot(t, 4)
			info, err := s.NewPodInfo(api.MakePod("p").UID("p").Request("example.com/gpu", "1").Obj())
			if err != nil {
				t.Fatal(err)
			}
			check := func(step, want string) { // want is the claim that PostFilter deletes
				t.Helper()
				var c framework.Cycle
				c.Reset(info, s, 0, 0)
				p := filter.DynamicResources{}
				bound, status := p.PreFilter(&c)
				if !status.IsSuccess() {
					t.Fatal(status)
				}
				wantStatus := ""
				if want != "" {
					wantStatus = "cannot schedule extended resource claim"
				}
				if got := bound.Filter.Filter(info, s.Node("n1")).Message(); got != wantStatus {
					t.Errorf("early %v, order %s, %s: Filter = %q, want %q", early, order, step, got, wantStatus)
				}
				got := ""
				if found, _ := p.PostFilter(t.Context(), &c, noVerdicts{}); len(found.Claims) > 0 {
					got = found.Claims[0].Claim
				}
				if got != want {
					t.Errorf("early %v, order %s, %s: PostFilter deletes %q, want %q", early, order, step, got, want)
				}
				if err := s.Check(); err != nil {
					t.Errorf("early %v, order %s, %s: %v", early, order, step, err)
				}
			}
			if early {
				check("at first", "")
			}
			for _, name := range order {
				putObject(t, s, left(string(name)))
			}
			check("both", "default/a")
			at := s.Begin()
			framework.Delete[api.ResourceClaim](s, "default/a")
			check("without a", "default/b")
			s.Rollback(at)
			check("both again", "default/a")
			framework.Delete[api.ResourceClaim](s, "default/b")
			check("without b", "default/a")
			framework.Delete[api.ResourceClaim](s, "default/a")
			check("without both", "")
			putObject(t, s, left("b"))
			putObject(t, s, &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "b", Namespace: "default"}})
			check("b is no longer one", "")
		}
	}
}

// The bound of the search is an error that names the node.
func TestMaxSteps(t *testing.T) {
	s := gpuSnapshot(t, 8)
	info, err := s.NewPodInfo(gpuPod("a", 8))
	if err != nil {
		t.Fatal(err)
	}
	var c framework.Cycle
	c.Reset(info, s, 0, 0)
	bound, status := filter.DynamicResources{MaxSteps: 5}.PreFilter(&c)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	got := bound.Filter.Filter(info, s.Node("n1"))
	if got.Code() != framework.Error || got.Message() != "node n1: timed out trying to allocate devices (after 5 steps)" {
		t.Errorf("Filter = %v", got)
	}
}

// If many nodes have devices, each has a part of the steps, but always some looks of each request
// at each device: an ordinary claim needs no more.
func TestMaxStepsOfManyNodes(t *testing.T) {
	s := gpuSnapshot(t, 8)
	for i := range 60 {
		name := fmt.Sprint("more-", i)
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		x.Spec = api.ResourceSliceSpec{Driver: "d", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
		putObject(t, s, x)
	}
	info, err := s.NewPodInfo(gpuPod("a", 8))
	if err != nil {
		t.Fatal(err)
	}
	var c framework.Cycle
	c.Reset(info, s, 0, 0)
	for _, steps := range []int{80, 80_000} {
		bound, status := filter.DynamicResources{MaxSteps: steps}.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		got := bound.Filter.Filter(info, s.Node("n1"))
		if !got.IsSuccess() {
			t.Errorf("Filter with %d steps for 64 nodes = %v", steps, got)
		}
	}
}

// The numbers behind a rejection, by request, and the devices that a decision gives.
func TestDetailsOfDevices(t *testing.T) {
	s := gpuSnapshot(t, 8)
	rule := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: "broken"}, Spec: api.DeviceTaintRuleSpec{
		DeviceSelector: &api.DeviceTaintSelector{Device: new("gpu-7")}, Taint: api.DeviceTaint{Key: "broken", Effect: api.DeviceTaintEffectNoSchedule},
	}}
	putObject(t, s, rule)
	if _, claims := placed(t, s, gpuPod("first", 3), "n1"); namesOf(claims) != "gpu-0 gpu-1 gpu-2" {
		t.Fatalf("the first pod gets %q", namesOf(claims))
	}
	low := gpuTemplate(1)
	low.Name = "low"
	low.Spec.Spec.Devices.Requests[0].Exactly.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].index < 3`}}}
	putObject(t, s, low)
	together := gpuTemplate(4)
	together.Name = "together"
	together.Spec.Spec.Devices.Constraints = []api.DeviceConstraint{{MatchAttribute: new("gpu.example.com/numa")}}
	putObject(t, s, together)
	named := func(name, template string) *api.Pod {
		p := gpuPod(name, 1)
		p.Spec.ResourceClaims[0].ResourceClaimTemplateName = &template
		return p
	}
	both := gpuPod("both", 3)
	both.Spec.ResourceClaims = append(both.Spec.ResourceClaims, api.PodResourceClaim{Name: "more", ResourceClaimTemplateName: new("gpus-3")})
	for _, test := range []struct {
		pod            *api.Pod
		details, words string
	}{
		{named("a", "low"), "devices for request gpu of claim default/a-gpu-: asked 1, free 0 of 3, devices 8, matching 3, in use 3", ""},
		{gpuPod("b", 5), "devices for request gpu of claim default/b-gpu-: asked 5, free 4 of 8, devices 8, matching 8, in use 3, tainted 1", ""},
		{named("c", "together"), "free devices of claim default/c-gpu- with one gpu.example.com/numa: asked 4, free 3 of 3", ""},
		{both, "devices for all requests together: asked 6, free 4 of 8", ""},
		{gpuPod("d", 2), "", "gpu.example.com/n1 gpu-3 gpu-4"},
	} {
		info, err := s.NewPodInfo(test.pod)
		if err != nil {
			t.Fatal(err)
		}
		var c framework.Cycle
		c.Reset(info, s, 0, 0)
		bound, status := filter.DynamicResources{}.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		var texts []string
		for _, d := range bound.Filter.(framework.Detailer).Details(info, s.Node("n1")) {
			texts = append(texts, d.String())
		}
		if got := strings.Join(texts, "; "); got != test.details {
			t.Errorf("details of %s = %q, want %q", test.pod.Name, got, test.details)
		}
		if got := (filter.DynamicResources{}).Reserves(s, info, s.Node("n1")); got != test.words {
			t.Errorf("%s would get %q, want %q", test.pod.Name, got, test.words)
		}
	}
	if status, _ := placed(t, s, gpuPod("d", 2), "n1"); !status.IsSuccess() {
		t.Fatal(status)
	}
	d, _ := s.Pod("default/d")
	if got := (filter.DynamicResources{}).Reserves(s, d, s.Node("n1")); got != "gpu.example.com/n1 gpu-3 gpu-4" {
		t.Errorf("d has %q", got)
	}
}
