//go:build full

package devices_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/resource"
)

// fullClaim asks for devices in every way at once, so that every field has a value.
func fullClaim() *api.DeviceClaim {
	selectors := func() []api.DeviceSelector {
		return []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "true"}}, {CEL: &api.CELDeviceSelector{Expression: "1 == 1"}}}
	}
	tolerations := func() []api.DeviceToleration {
		return []api.DeviceToleration{{Key: "k", Operator: api.DeviceTolerationOpEqual, Value: "v", Effect: api.DeviceTaintEffectNoSchedule}}
	}
	capacity := func() *api.CapacityRequirements {
		return &api.CapacityRequirements{Requests: map[string]resource.Quantity{"m": resource.MustParse("1"), "n": resource.MustParse("2")}}
	}
	return &api.DeviceClaim{
		Requests: []api.DeviceRequest{
			{Name: "a", Exactly: &api.ExactDeviceRequest{
				DeviceClassName: "any", Selectors: selectors(), AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, AdminAccess: new(true),
				Tolerations: tolerations(), Capacity: capacity(),
			}},
			{Name: "b", FirstAvailable: []api.DeviceSubRequest{{
				Name: "x", DeviceClassName: "any", Selectors: selectors(), AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
				Tolerations: tolerations(), Capacity: capacity(),
			}, {Name: "y", DeviceClassName: "any"}}},
		},
		Constraints: []api.DeviceConstraint{{Requests: []string{"a", "b"}, MatchAttribute: new("d/m")}, {DistinctAttribute: new("d/n")}},
	}
}

// eachChange calls f after each change of one field, list or map below v, and takes the
// change back.
func eachChange(path string, v reflect.Value, f func(path string)) {
	try := func(path string, to reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(to)
		f(path)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.String:
		try(path, reflect.ValueOf(v.String()+"+").Convert(v.Type()))
	case reflect.Int64:
		try(path, reflect.ValueOf(v.Int()+1).Convert(v.Type()))
	case reflect.Bool:
		try(path, reflect.ValueOf(!v.Bool()))
	case reflect.Pointer:
		if !v.IsNil() {
			try(path+" gone", reflect.Zero(v.Type()))
			eachChange(path, v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachChange(fmt.Sprintf("%s[%d]", path, i), v.Index(i), f)
		}
		if v.Len() > 0 {
			try(path+" shorter", v.Slice(0, v.Len()-1))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			shorter := reflect.MakeMap(v.Type())
			other := reflect.MakeMap(v.Type())
			for _, k := range v.MapKeys() {
				if k.String() != key.String() {
					shorter.SetMapIndex(k, v.MapIndex(k))
					other.SetMapIndex(k, v.MapIndex(k))
				}
			}
			other.SetMapIndex(key, reflect.ValueOf(resource.MustParse("7")))
			try(path+" without "+key.String(), shorter)
			try(path+" with another "+key.String(), other)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachChange(path+"."+v.Type().Field(i).Name, v.Field(i), f)
		}
	default:
		panic(fmt.Sprintf("%s is a %s", path, v.Type()))
	}
}

// Every field of a claim that verdicts may read is in the key, so two claims that differ
// in it are never of one class.
func TestKeyCoversClaims(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "full", Namespace: "default"}}
	claim := fullClaim()
	p, err := s.NewPodInfo(podFor("p", "full"))
	if err != nil {
		t.Fatal(err)
	}
	keyOf := func() string {
		x := *template
		x.Spec.Spec.Devices = *claim
		if err := framework.Put(s, &x); err != nil {
			t.Fatal(err)
		}
		return string(devices.AppendKey(nil, s, p))
	}
	want, seen := keyOf(), map[string]string{}
	eachChange("devices", reflect.ValueOf(claim).Elem(), func(path string) {
		key := keyOf()
		if key == want {
			t.Errorf("%s is changed, and the key is the same", path)
		}
		if other, ok := seen[key]; ok && !strings.Contains(path, "AdminAccess") { // none is false
			t.Errorf("%s gives the key that %s gives", path, other)
		}
		seen[key] = path
	})
	if len(seen) < 50 {
		t.Errorf("%d changes, want at least 50", len(seen))
	}
	claim.Config = []api.DeviceClaimConfiguration{{Requests: []string{"a"}}}
	if key := keyOf(); key != want {
		t.Error("parameters for drivers are in the key")
	}
}

// The key of a claim does not depend on the claim that was asked about before, which mostly
// asks for the same.
func TestKeyAfterAnother(t *testing.T) {
	keyIn := func(s *framework.Snapshot, c *api.DeviceClaim) string {
		x := api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
		x.Spec.Spec.Devices = *c
		if err := framework.Put(s, &x); err != nil {
			t.Fatal(err)
		}
		p, err := s.NewPodInfo(podFor("p", "t"))
		if err != nil {
			t.Fatal(err)
		}
		return string(devices.AppendKey(nil, s, p))
	}
	one := func() *api.DeviceClaim {
		return &api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "a", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, AdminAccess: new(true),
			Selectors: []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "true"}}},
		}}}}
	}
	seen := map[string]string{}
	s := framework.NewSnapshot(framework.Arrival)
	check := func(path string, c *api.DeviceClaim) {
		keyIn(s, one())
		key := keyIn(s, c)
		if fresh := keyIn(framework.NewSnapshot(framework.Arrival), c); key != fresh {
			t.Errorf("%s: the key is %q after another claim, %q without", path, key, fresh)
		}
		if other, ok := seen[key]; ok && !strings.Contains(path, "AdminAccess") { // none is false
			t.Errorf("%s gives the key that %s gives", path, other)
		}
		seen[key] = path
	}
	check("nothing", one())
	changed := one()
	eachChange("devices", reflect.ValueOf(changed).Elem(), func(path string) { check(path, changed) })
	full := fullClaim()
	for path, change := range map[string]func(c *api.DeviceClaim, e *api.ExactDeviceRequest){
		"tolerations": func(_ *api.DeviceClaim, e *api.ExactDeviceRequest) {
			e.Tolerations = full.Requests[0].Exactly.Tolerations
		},
		"capacity": func(_ *api.DeviceClaim, e *api.ExactDeviceRequest) { e.Capacity = full.Requests[0].Exactly.Capacity },
		"derived": func(_ *api.DeviceClaim, e *api.ExactDeviceRequest) {
			e.DerivedAttributes = make([]api.DeviceDerivedAttribute, 1)
		},
		"selectors":   func(_ *api.DeviceClaim, e *api.ExactDeviceRequest) { e.Selectors = full.Requests[0].Exactly.Selectors },
		"constraints": func(c *api.DeviceClaim, _ *api.ExactDeviceRequest) { c.Constraints = full.Constraints },
		"alternatives": func(c *api.DeviceClaim, _ *api.ExactDeviceRequest) {
			c.Requests[0].FirstAvailable = full.Requests[1].FirstAvailable
		},
		"requests": func(c *api.DeviceClaim, _ *api.ExactDeviceRequest) { c.Requests = append(c.Requests, full.Requests...) },
	} {
		c := one()
		change(c, c.Requests[0].Exactly)
		check(path, c)
	}
}

// A claim is like the template that it may be made from, whatever its name. Once it is in
// flight or allocated, it is another matter.
func TestKeysOfStates(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	put := func(c *api.ResourceClaim) {
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
	}
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
	template.Spec.Spec.Devices = *fullClaim()
	if err := framework.Put(s, template); err != nil {
		t.Fatal(err)
	}
	claim := func(name string) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
		c.Spec.Devices = *fullClaim()
		return c
	}
	put(claim("a"))
	put(claim("b"))
	key := func(object *api.Pod) string {
		p, err := s.NewPodInfo(object)
		if err != nil {
			t.Fatal(err)
		}
		return string(devices.AppendKey(nil, s, p))
	}
	naming := func(claim string) *api.Pod {
		p := api.MakePod("pod-of-" + claim).Obj()
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "d", ResourceClaimName: &claim}}
		return p
	}
	if a, b, virtual := key(naming("a")), key(naming("b")), key(podFor("v", "t")); a != b || a != virtual || a == "" {
		t.Errorf("keys of equal claims and of their template: %q, %q, %q", a, b, virtual)
	}
	if got := key(api.MakePod("none").Obj()); got != "" {
		t.Errorf("key of a pod without claims = %q", got)
	}
	allocated := claim("a")
	allocated.Status.Allocation = &api.AllocationResult{
		Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{{
			Request: "b/x", Driver: "d.io", Pool: "p", Device: "0", BindingConditions: []string{"Ready"}, BindingFailureConditions: []string{"Failed"},
		}}},
		AllocationTimestamp: new(time.Unix(100, 5)),
		NodeSelector: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
			MatchFields:      []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"n0", "n1"}}},
			MatchExpressions: []api.NodeSelectorRequirement{{Key: "zone", Operator: api.NodeSelectorOpExists}},
		}}},
	}
	with := func(change func(c *api.ResourceClaim)) string {
		c, a := *allocated, *allocated.Status.Allocation
		a.Devices.Results = []api.DeviceRequestAllocationResult{a.Devices.Results[0]}
		selector := *a.NodeSelector
		selector.NodeSelectorTerms = []api.NodeSelectorTerm{selector.NodeSelectorTerms[0]}
		a.NodeSelector, c.Status.Allocation = &selector, &a
		change(&c)
		put(&c)
		return key(naming("a"))
	}
	p, err := s.NewPodInfo(naming("a"))
	if err != nil {
		t.Fatal(err)
	}
	before, version := string(devices.AppendKey(nil, s, p)), devices.KeyVersion(s)
	put(allocated)
	if after := string(devices.AppendKey(nil, s, p)); after == before || devices.KeyVersion(s) == version {
		t.Errorf("the claim has got devices, and the key is still %q, its version %d, before %d", after, devices.KeyVersion(s), version)
	}
	seen := map[string]string{key(naming("b")): "no devices"}
	for name, change := range map[string]func(c *api.ResourceClaim){
		"allocated":   func(*api.ResourceClaim) {},
		"no selector": func(c *api.ResourceClaim) { c.Status.Allocation.NodeSelector = nil },
		"no terms":    func(c *api.ResourceClaim) { c.Status.Allocation.NodeSelector.NodeSelectorTerms = nil },
		"no fields":   func(c *api.ResourceClaim) { c.Status.Allocation.NodeSelector.NodeSelectorTerms[0].MatchFields = nil },
		"no expressions": func(c *api.ResourceClaim) {
			c.Status.Allocation.NodeSelector.NodeSelectorTerms[0].MatchExpressions = nil
		},
		"another time":    func(c *api.ResourceClaim) { c.Status.Allocation.AllocationTimestamp = new(time.Unix(100, 6)) },
		"no time":         func(c *api.ResourceClaim) { c.Status.Allocation.AllocationTimestamp = nil },
		"another choice":  func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Request = "b/y" },
		"node operations": func(c *api.ResourceClaim) { c.Status.Allocation.Devices.Results[0].SkipNodeOperations = []string{"x"} },
		"ready": func(c *api.ResourceClaim) {
			c.Status.Devices = []api.AllocatedDeviceStatus{{Driver: "d.io", Pool: "p", Device: "0", Conditions: []api.Condition{{Type: "Ready", Status: api.ConditionTrue}}}}
		},
		"failed": func(c *api.ResourceClaim) {
			c.Status.Devices = []api.AllocatedDeviceStatus{{Driver: "d.io", Pool: "p", Device: "0", Conditions: []api.Condition{{Type: "Failed", Status: api.ConditionTrue}}}}
		},
	} {
		k := with(change)
		if other, ok := seen[k]; ok {
			t.Errorf("a claim %q has the key of one %q", name, other)
		}
		seen[k] = name
	}
	if renamed := with(func(c *api.ResourceClaim) { c.Labels = map[string]string{"x": "y"} }); seen[renamed] != "allocated" {
		t.Error("labels of a claim are in the key")
	}
}

// Every field of the node selector of an allocated claim is in the key: the operator decides as
// much as the values do.
func TestKeyCoversSelectors(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	pod := api.MakePod("p").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "d", ResourceClaimName: new("a")}}
	p, err := s.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	requirements := func(key string, operators ...api.NodeSelectorOperator) (list []api.NodeSelectorRequirement) {
		for _, o := range operators {
			list = append(list, api.NodeSelectorRequirement{Key: key, Operator: o, Values: []string{"1", "2"}})
		}
		return list
	}
	selector := &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
		{MatchExpressions: requirements("zone", api.NodeSelectorOpIn, api.NodeSelectorOpExists), MatchFields: requirements("metadata.name", api.NodeSelectorOpNotIn)},
		{MatchExpressions: requirements("rack", api.NodeSelectorOpGt)},
	}}
	keyOf := func() string {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "a", Namespace: "default", UID: "a"}}
		c.Status.Allocation = &api.AllocationResult{NodeSelector: selector}
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
		return string(devices.AppendKey(nil, s, p))
	}
	seen := map[string]string{keyOf(): "nothing"}
	check := func(path string) {
		key := keyOf()
		if other, ok := seen[key]; ok {
			t.Errorf("%s is changed: the key is that of %s", path, other)
		}
		seen[key] = path
	}
	eachChange("selector", reflect.ValueOf(selector).Elem(), check)
	operator := &selector.NodeSelectorTerms[0].MatchExpressions[0].Operator
	for _, *operator = range []api.NodeSelectorOperator{api.NodeSelectorOpNotIn, api.NodeSelectorOpExists, api.NodeSelectorOpDoesNotExist} {
		check(string(*operator))
	}
	if len(seen) < 20 {
		t.Errorf("%d keys, want at least 20", len(seen))
	}
}

// A Finder that the snapshot has kept says what a new one says.
func TestFinderOfIsNeverOld(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s.SetNow(time.Unix(1000, 0))
	must(s.AddNode(api.MakeNode("n0", "8", "8Gi").Obj()))
	for _, x := range partsOf("n0") {
		must(framework.Put(s, x))
	}
	template := func(count int64) *api.ResourceClaimTemplate {
		x := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
		x.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: count,
		}}}
		return x
	}
	object := podFor("p", "t")
	object.Spec.ResourceClaims = append(object.Spec.ResourceClaims, api.PodResourceClaim{Name: "n", ResourceClaimName: new("named")})
	p, err := s.NewPodInfo(object)
	must(err)
	other, err := s.NewPodInfo(podFor("other", "t"))
	must(err)
	named := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "named", Namespace: "default"}}
	named.Spec.Devices = template(1).Spec.Spec.Devices
	named.Spec.Devices.Requests[0].Exactly.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["d.io"].kind == "plain"`}}}
	waiting := *named
	waiting.Status.Allocation = &api.AllocationResult{AllocationTimestamp: new(time.Unix(1000, 0)), Devices: api.DeviceAllocationResult{
		Results: []api.DeviceRequestAllocationResult{{Request: "r", Driver: "d.io", Pool: "n0-others", Device: "plain-0", BindingConditions: []string{"Ready"}}},
	}}
	options := devices.Options{BindingTimeout: time.Minute}
	answer := func(f *devices.Finder, status framework.Status) string {
		if !status.IsSuccess() {
			return status.String()
		}
		var found devices.Found
		verdict := f.Find(s.Node("n0"), &found)
		kept, again := devices.FoundOn(f, s.Node("n0"))
		if again.String() != verdict.String() || len(kept.Allocations) != len(found.Allocations) || verdict.IsSuccess() && !reflect.DeepEqual(kept.Allocations, found.Allocations) {
			t.Errorf("FoundOn = %v, %v; want %v, %v", kept.Allocations, again, found.Allocations, verdict)
		}
		return verdict.String() + fmt.Sprint(len(found.Allocations))
	}
	var mark framework.Mark
	seen := map[string]bool{}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"a class", func() { must(framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "any"}})) }},
		{"a template", func() { must(framework.Put(s, template(1))) }},
		{"a claim", func() { must(framework.Put(s, named)) }},
		{"a transaction", func() { mark = s.Begin() }},
		{"a larger template", func() { must(framework.Put(s, template(9))) }},
		{"a rollback", func() { s.Rollback(mark) }},
		{"in flight", func() {
			f, status := devices.FinderOf(s, p, options)
			if status.IsSuccess() {
				_, status = f.Reserve(s.Node("n0"))
			}
			if !status.IsSuccess() {
				t.Fatal(status)
			}
		}},
		{"no longer", func() { devices.Release(s, p) }},
		{"allocated", func() { must(framework.Put(s, &waiting)) }},
		{"timed out", func() { s.SetNow(time.Unix(1100, 0)) }},
		{"no class", func() { framework.Delete[api.DeviceClass](s, "any") }},
	} {
		step.do()
		for _, pod := range []*framework.PodInfo{p, other, p} {
			f, status := devices.FinderOf(s, pod, options)
			got := answer(f, status)
			fresh := new(devices.Finder)
			want := answer(fresh, fresh.Prepare(s, pod, options))
			if got != want {
				t.Errorf("after %s: %s, want %s", step.name, got, want)
			}
			seen[got] = true
		}
	}
	if len(seen) < 6 {
		t.Errorf("answers %v: the steps make no difference", seen)
	}
}

// What a node was found to have is looked for anew once another pod has got devices.
func TestFoundOnIsNeverOld(t *testing.T) {
	o := &api.Objects{
		Nodes: []*api.Node{api.MakeNode("n0", "8", "8Gi").Obj()}, DeviceClasses: []*api.DeviceClass{{ObjectMeta: api.ObjectMeta{Name: "any"}}},
		ResourceSlices: partsOf("n0"),
	}
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
	template.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
		Selectors: []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.attributes["d.io"].kind == "plain"`}}},
	}}}
	o.ResourceClaimTemplates = append(o.ResourceClaimTemplates, template)
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	var pods [2]*framework.PodInfo
	for i := range pods {
		if pods[i], err = s.NewPodInfo(podFor(fmt.Sprint("p", i), "t")); err != nil {
			t.Fatal(err)
		}
	}
	device := func() string {
		f, _ := devices.FinderOf(s, pods[0], devices.Options{})
		found, status := devices.FoundOn(f, s.Node("n0"))
		if !status.IsSuccess() {
			return status.String()
		}
		return found.Allocations[0].Devices.Results[0].Device
	}
	first := device()
	other := new(devices.Finder)
	if status := other.Prepare(s, pods[1], devices.Options{}); !status.IsSuccess() {
		t.Fatal(status)
	}
	if _, status := other.Reserve(s.Node("n0")); !status.IsSuccess() {
		t.Fatal(status)
	}
	if second := device(); first != "plain-0" || second != "plain-1" {
		t.Errorf("devices %s and then %s, want plain-0 and, once another pod has it, plain-1", first, second)
	}
}

// The key says once what many claims ask for, whether they have been made or not, and still tells which ask for what.
func TestKeyOfManyClaims(t *testing.T) {
	const claims = 100
	devicesOf := func(name string) api.DeviceClaim {
		return api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "a", Exactly: &api.ExactDeviceRequest{
			DeviceClassName: name, AllocationMode: api.DeviceAllocationModeExactCount, Count: 1,
			Selectors: []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: strings.Repeat("true || ", 500) + "true"}}},
		}}}}
	}
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"x", "y"} {
		template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
		template.Spec.Spec.Devices = devicesOf(name)
		if err := framework.Put(s, template); err != nil {
			t.Fatal(err)
		}
	}
	key := func(made int, which string) string {
		pod := api.MakePod("p").Obj()
		for i := range claims {
			entry, template := fmt.Sprint("e", i), which[i%len(which):][:1]
			pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, api.PodResourceClaim{Name: entry, ResourceClaimTemplateName: &template})
			if i >= made {
				continue
			}
			c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "made-" + entry, Namespace: "default", UID: api.UID(entry)}}
			c.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: "p", UID: pod.UID, Controller: new(true)}}
			c.Spec.Devices = devicesOf(template)
			if err := framework.Put(s, c); err != nil {
				t.Fatal(err)
			}
			pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: entry, ResourceClaimName: &c.Name})
		}
		info, err := s.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		return string(devices.AppendKey(nil, s, info))
	}
	want := key(0, "xy")
	if len(want) > 10_000 {
		t.Errorf("a key of %d bytes for two templates of 4,000", len(want))
	}
	for _, made := range []int{1, 50, claims} {
		if got := key(made, "xy"); got != want {
			t.Errorf("%d claims made: another key", made)
		}
	}
	for _, other := range []string{"x", "y", "yx", "xxy"} {
		if key(0, other) == want {
			t.Errorf("templates %s give the key of xy", other)
		}
	}
}
