//go:build full

package framework_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

var fieldNames = map[framework.PodFields]string{
	framework.FieldNamespace: "Namespace", framework.FieldIdentity: "Identity", framework.FieldLabels: "Labels",
	framework.FieldAnnotations: "Annotations", framework.FieldOwner: "Owner", framework.FieldNodeName: "NodeName",
	framework.FieldNominated: "Nominated", framework.FieldNodeChoice: "NodeChoice", framework.FieldPodAffinity: "PodAffinity",
	framework.FieldTolerations: "Tolerations", framework.FieldSpread: "Spread", framework.FieldRequests: "Requests",
	framework.FieldLimits: "Limits", framework.FieldHostPorts: "HostPorts", framework.FieldImages: "Images",
	framework.FieldVolumes: "Volumes", framework.FieldPriority: "Priority", framework.FieldSpec: "Spec",
	framework.FieldClaims: "Claims",
}

func TestFieldsAll(t *testing.T) {
	var all framework.PodFields
	for field := range fieldNames {
		all |= field
	}
	if all != framework.FieldsAll || len(fieldNames) != 19 {
		t.Errorf("FieldsAll = %b, want the %d bits %b", framework.FieldsAll, len(fieldNames), all)
	}
}

// A podPart is something that can differ between two pods.
type podPart struct {
	name   string
	fields framework.PodFields // that cover it, besides FieldsAll
	change func(p *api.Pod)
}

const spec = framework.FieldSpec

// podParts are applied to a pod of one init container and one container.
var podParts = []podPart{
	{"namespace", framework.FieldNamespace, func(p *api.Pod) { p.Namespace = "other" }},
	{"name", framework.FieldIdentity, func(p *api.Pod) { p.Name = "other" }},
	{"uid", framework.FieldIdentity, func(p *api.Pod) { p.UID = "other" }},
	{"labels", framework.FieldLabels, func(p *api.Pod) { p.Labels = map[string]string{"a": "b"} }},
	{"annotations", framework.FieldAnnotations, func(p *api.Pod) { p.Annotations = map[string]string{"a": "b"} }},
	{"controller", framework.FieldOwner, func(p *api.Pod) {
		p.OwnerReferences = append(p.OwnerReferences, api.OwnerReference{Kind: "ReplicaSet", Name: "web", UID: "1", Controller: new(true)})
	}},
	{"other owner", 0, func(p *api.Pod) {
		p.OwnerReferences = append([]api.OwnerReference{{Kind: "Tenant", Name: "a", UID: "2"}}, p.OwnerReferences...)
	}},
	{"creation time", 0, func(p *api.Pod) { p.CreationTimestamp = time.Unix(1, 0) }},
	{"deletion time", 0, func(p *api.Pod) { p.DeletionTimestamp = new(time.Unix(2, 0)) }},
	{"phase", 0, func(p *api.Pod) { p.Status.Phase = api.PodRunning }},
	{"node name", framework.FieldNodeName | spec, func(p *api.Pod) { p.Spec.NodeName = "n1" }},
	{"nomination", framework.FieldNominated, func(p *api.Pod) { p.Status.NominatedNodeName = "n1" }},
	{"node selector", framework.FieldNodeChoice | spec, func(p *api.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} }},
	{"node affinity", framework.FieldNodeChoice | spec, func(p *api.Pod) {
		affinity(p).NodeAffinity = &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{{Weight: 3}}}
	}},
	{"pod affinity", framework.FieldPodAffinity | spec, func(p *api.Pod) {
		affinity(p).PodAffinity = &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: "a"}}}
	}},
	{"pod anti-affinity", framework.FieldPodAffinity | spec, func(p *api.Pod) {
		affinity(p).PodAntiAffinity = &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: "a"}}}
	}},
	{"tolerations", framework.FieldTolerations | spec, func(p *api.Pod) { p.Spec.Tolerations = []api.Toleration{{Key: "a"}} }},
	{"spread", framework.FieldSpread | spec, func(p *api.Pod) {
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "a"}}
	}},
	{"request", framework.FieldRequests | framework.FieldLimits | spec, func(p *api.Pod) {
		p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("7")
	}},
	{"device request", framework.FieldRequests | framework.FieldLimits | spec, func(p *api.Pod) {
		p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
	}},
	{"limit", framework.FieldLimits | spec, func(p *api.Pod) { p.Spec.Containers[0].Resources.Limits = quantities("cpu", "9") }},
	{"overhead", framework.FieldRequests | framework.FieldLimits | spec, func(p *api.Pod) { p.Spec.Overhead = quantities("memory", "1") }},
	{"pod level request", framework.FieldRequests | framework.FieldLimits | spec, func(p *api.Pod) {
		p.Spec.Resources = &api.ResourceRequirements{Requests: quantities("memory", "3Gi")}
	}},
	{"allocated", framework.FieldRequests, func(p *api.Pod) {
		p.Status.ContainerStatuses = []api.ContainerStatus{{Name: "main", AllocatedResources: quantities("cpu", "8", "memory", "8Gi")}}
	}},
	{"sidecar", framework.FieldRequests | framework.FieldLimits | spec, func(p *api.Pod) {
		p.Spec.InitContainers[0].RestartPolicy = new(api.ContainerRestartPolicyAlways)
	}},
	{"host port", framework.FieldHostPorts | spec, func(p *api.Pod) {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, api.ContainerPort{HostPort: 80})
	}},
	{"container port", spec, func(p *api.Pod) {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, api.ContainerPort{ContainerPort: 80})
	}},
	{"image", framework.FieldImages | spec, func(p *api.Pod) { p.Spec.Containers[0].Image = "other" }},
	{"volume", framework.FieldVolumes | spec, func(p *api.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "v", VolumeSource: api.VolumeSource{HostPath: &api.HostPathVolumeSource{Path: "/"}}})
	}},
	{"volume of no source", spec, func(p *api.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "kube-api-access-x7k2p"})
	}},
	{"image volume", framework.FieldVolumes | framework.FieldImages | spec, func(p *api.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "i", VolumeSource: api.VolumeSource{Image: &api.ImageVolumeSource{Reference: "m"}}})
	}},
	{"priority", framework.FieldPriority | spec, func(p *api.Pod) { p.Spec.Priority = new(int32(9)) }},
	{"priority class", framework.FieldPriority | spec, func(p *api.Pod) { p.Spec.PriorityClassName = "high" }},
	{"preemption policy", framework.FieldPriority | spec, func(p *api.Pod) { p.Spec.PreemptionPolicy = new(api.PreemptNever) }},
	{"claim", framework.FieldClaims | spec, func(p *api.Pod) {
		p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("one")}}
	}},
	{"claim that was made", framework.FieldClaims, func(p *api.Pod) {
		p.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("web-gpu")}}
	}},
	{"scheduler", spec, func(p *api.Pod) { p.Spec.SchedulerName = "mine" }},
}

func affinity(p *api.Pod) *api.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &api.Affinity{}
	}
	return p.Spec.Affinity
}

func keyedPod(parts ...podPart) *api.Pod {
	p := plainPod("p", "cpu", "1", "memory", "1Gi")
	p.Spec.InitContainers = []api.Container{{Name: "setup", Image: "setup", Resources: api.ResourceRequirements{Requests: quantities("cpu", "2", "memory", "2Gi")}}}
	for _, part := range parts {
		part.change(p)
	}
	return p
}

// One part changes: the keys of exactly the fields that cover it change.
func TestClassKeyOnePart(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	plain := podInfo(t, s, keyedPod())
	for _, part := range podParts {
		t.Run(part.name, func(t *testing.T) {
			changed := podInfo(t, s, keyedPod(part))
			for field, name := range fieldNames {
				differs := plain.ClassKey(field) != changed.ClassKey(field)
				if want := part.fields&field != 0; differs != want {
					t.Errorf("Field%s tells the pods apart: %t, want %t", name, differs, want)
				}
			}
			if plain.ClassKey(framework.FieldsAll) == changed.ClassKey(framework.FieldsAll) {
				t.Error("FieldsAll does not tell the pods apart")
			}
			if plain.ClassKey(0) != changed.ClassKey(0) {
				t.Error("no field tells the pods apart")
			}
		})
	}
}

// Any parts change and any fields are asked for: the keys are equal exactly
// when every part that the fields cover is equal. A part shows always, also
// beside the others, because the pods that it changes are otherwise equal.
func TestClassKeyAnyParts(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SampledFrom(podParts).Draw(t, "part")
		shared := []podPart{}
		for _, part := range podParts {
			if part.name != one.name && rapid.IntRange(0, 3).Draw(t, part.name) == 0 {
				shared = append(shared, part)
			}
		}
		fields := framework.PodFields(rapid.Uint32Range(0, uint32(framework.FieldsAll)).Draw(t, "fields"))
		a, b := keyedPod(shared...), keyedPod(shared...)
		one.change(b)
		infoA, errA := s.NewPodInfo(a)
		infoB, errB := s.NewPodInfo(b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		covered := one.fields&fields != 0 || fields == framework.FieldsAll
		if fields&one.fields == framework.FieldRequests && infoA.UsedRequests.Equal(infoB.UsedRequests) && infoA.Requests.Equal(infoB.Requests) &&
			infoA.ScoredRequests.Equal(infoB.ScoredRequests) && infoA.UsedNonZero == infoB.UsedNonZero {
			covered = false // another part hides the request, such as a larger one that is in force
		}
		if got, want := infoA.ClassKey(fields) == infoB.ClassKey(fields), !covered; got != want {
			t.Fatalf("pods that differ in %s have equal keys for %b: %t, want %t", one.name, fields, got, want)
		}
	})
}

// A plugin may declare less for one pod than for another. Their keys must not
// meet by chance.
func TestClassKeyOfOtherFields(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	p := plainPod("p")
	p.Spec.NodeName = p.Namespace
	info := podInfo(t, s, p)
	if info.ClassKey(framework.FieldNamespace) == info.ClassKey(framework.FieldNodeName) {
		t.Error("the namespace and the node name, which are equal, make equal keys")
	}
	seen := map[string]string{}
	for field, name := range fieldNames {
		if other, ok := seen[info.ClassKey(field)]; ok {
			t.Errorf("Field%s and Field%s make equal keys", name, other)
		}
		seen[info.ClassKey(field)] = name
	}
}

// Parts of different shape never run together, and nothing and empty are one.
func TestClassKeyShapes(t *testing.T) {
	label := func(pairs ...string) func(*api.Pod) {
		return func(p *api.Pod) {
			p.Labels = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				p.Labels[pairs[i]] = pairs[i+1]
			}
		}
	}
	images := func(names ...string) func(*api.Pod) {
		return func(p *api.Pod) {
			p.Spec.Containers = nil
			for _, name := range names {
				p.Spec.Containers = append(p.Spec.Containers, api.Container{Image: name})
			}
		}
	}
	toleration := func(list ...api.Toleration) func(*api.Pod) {
		return func(p *api.Pod) { p.Spec.Tolerations = list }
	}
	priority := func(v *int32) func(*api.Pod) { return func(p *api.Pod) { p.Spec.Priority = v } }
	tests := []struct {
		name   string
		fields framework.PodFields
		a, b   func(*api.Pod)
		equal  bool
	}{
		{"border inside a label", framework.FieldLabels, label("a", "bc"), label("ab", "c"), false},
		{"border between labels", framework.FieldLabels, label("a", "", "b", ""), label("a", "b"), false},
		{"order of labels", framework.FieldLabels, label("a", "1", "b", "2"), label("b", "2", "a", "1"), true},
		{"no labels and none", framework.FieldLabels, label(), func(*api.Pod) {}, true},
		{"border between fields", framework.FieldLabels | framework.FieldAnnotations, label("a", "b"), func(p *api.Pod) { p.Annotations = map[string]string{"a": "b"} }, false},
		{"namespace and name", framework.FieldNamespace | framework.FieldIdentity, func(p *api.Pod) { p.Namespace, p.Name = "a", "bc" }, func(p *api.Pod) { p.Namespace, p.Name = "ab", "c" }, false},
		{"order of images", framework.FieldImages, images("a", "b"), images("b", "a"), false},
		{"border between images", framework.FieldImages, images("a:1", "b:1"), images("a:1b:1"), false},
		{"normalized images", framework.FieldImages, images("a"), images("a:latest"), true},
		{"not UTF-8", framework.FieldTolerations, toleration(api.Toleration{Value: "\xff"}), toleration(api.Toleration{Value: "\xfe"}), false},
		{"no tolerations and none", framework.FieldTolerations, toleration(), func(*api.Pod) {}, true},
		{"one empty toleration", framework.FieldTolerations, toleration(api.Toleration{}), func(*api.Pod) {}, false},
		{"priority 0 and none", framework.FieldPriority, priority(new(int32(0))), priority(nil), true},
		{"empty selector and none", framework.FieldNodeChoice, func(p *api.Pod) { p.Spec.NodeSelector = map[string]string{} }, func(*api.Pod) {}, true},
		{"no affinity and an empty one", framework.FieldPodAffinity, func(p *api.Pod) { affinity(p) }, func(*api.Pod) {}, true},
		{"instant in two zones", framework.FieldsAll, func(p *api.Pod) { p.CreationTimestamp = time.Unix(5, 0).UTC() }, func(p *api.Pod) { p.CreationTimestamp = time.Unix(5, 0).In(time.FixedZone("", 3600)) }, true},
	}
	s := framework.NewSnapshot(framework.Arrival)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := plainPod("p"), plainPod("p")
			test.a(a)
			test.b(b)
			if got := podInfo(t, s, a).ClassKey(test.fields) == podInfo(t, s, b).ClassKey(test.fields); got != test.equal {
				t.Errorf("keys are equal: %t, want %t", got, test.equal)
			}
		})
	}
}

// A vector made before the schema knew more resources equals one made after.
func TestClassKeyGrowingSchema(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	a := podInfo(t, s, plainPod("a", "cpu", "1"))
	podInfo(t, s, plainPod("x", "example.com/gpu", "1"))
	b := podInfo(t, s, plainPod("b", "cpu", "1", "example.com/gpu", "0"))
	if a.ClassKey(framework.FieldRequests) != b.ClassKey(framework.FieldRequests) {
		t.Error("a request of 0 for a resource that came later makes another class")
	}
}

// Every single value inside a pod counts in FieldsAll; the pod here has one of
// everything.
func TestClassKeyCoversThePod(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	full := &api.Pod{}
	fill(reflect.ValueOf(full).Elem())
	key := podInfo(t, s, full).ClassKey(framework.FieldsAll)
	leaves := 0
	eachLeaf(reflect.ValueOf(full).Elem(), "pod", func(path string, change func() (undo func())) {
		leaves++
		undo := change()
		if podInfo(t, s, full).ClassKey(framework.FieldsAll) == key {
			t.Errorf("a change of %s does not change the key", path)
		}
		undo()
	})
	if leaves < 200 {
		t.Errorf("changed %d values in a pod, want many more", leaves)
	}
	if podInfo(t, s, full).ClassKey(framework.FieldsAll) != key {
		t.Error("the key differs although everything is as before")
	}
}

// fill sets every field to something that is not zero.
func fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	case reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse("1")))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(elem)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic("a pod holds a " + v.Type().String())
	}
}

// eachLeaf calls f for every value that can change: f decides when.
func eachLeaf(v reflect.Value, path string, f func(path string, change func() (undo func()))) {
	replace := func(by reflect.Value) func() func() {
		return func() func() {
			old := reflect.New(v.Type()).Elem()
			old.Set(v)
			v.Set(by)
			return func() { v.Set(old) }
		}
	}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		f(path, replace(reflect.ValueOf(time.Unix(2, 0))))
		return
	case reflect.TypeFor[resource.Quantity]():
		f(path, replace(reflect.ValueOf(resource.MustParse("2"))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		f(path, replace(reflect.ValueOf(false).Convert(v.Type())))
	case reflect.String:
		f(path, replace(reflect.ValueOf("y").Convert(v.Type())))
	case reflect.Int, reflect.Int32, reflect.Int64:
		f(path, replace(reflect.ValueOf(2).Convert(v.Type())))
	case reflect.Pointer:
		f(path, replace(reflect.Zero(v.Type())))
		eachLeaf(v.Elem(), path, f)
	case reflect.Slice:
		f(path, replace(reflect.Zero(v.Type())))
		eachLeaf(v.Index(0), path+"[0]", f)
	case reflect.Map:
		f(path, replace(reflect.Zero(v.Type())))
		key := v.MapKeys()[0]
		elem := reflect.New(v.Type().Elem()).Elem()
		elem.Set(v.MapIndex(key))
		eachLeaf(elem, fmt.Sprintf("%s[%v]", path, key), func(path string, change func() func()) {
			f(path, func() func() {
				undo := change()
				v.SetMapIndex(key, elem)
				return func() { undo(); v.SetMapIndex(key, elem) }
			})
		})
	case reflect.Struct:
		for i := range v.NumField() {
			eachLeaf(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	}
}

// Goroutines may ask for different fields of one pod at once.
func TestClassKeyConcurrently(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	p := podInfo(t, s, keyedPod())
	want := map[framework.PodFields]string{}
	for field := range fieldNames {
		want[field] = podInfo(t, s, keyedPod()).ClassKey(field)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for field, key := range want {
				if got := p.ClassKey(field); got != key {
					t.Errorf("Field%s: key %q, want %q", fieldNames[field], got, key)
				}
			}
		})
	}
	wg.Wait()
}

func TestClassKeyAllocations(t *testing.T) {
	p := podInfo(t, framework.NewSnapshot(framework.Arrival), keyedPod())
	fields := framework.FieldRequests | framework.FieldTolerations
	if got := testing.AllocsPerRun(100, func() { p.ClassKey(fields) }); got != 0 {
		t.Errorf("asking again for the same key allocates %v times, want 0", got)
	}
}

func BenchmarkClassKey(b *testing.B) {
	s := framework.NewSnapshot(framework.Arrival)
	pod := keyedPod(podParts...)
	for _, bench := range []struct {
		name   string
		fields framework.PodFields
	}{
		{"fields=resources", framework.FieldRequests},
		{"fields=placement", framework.FieldNodeChoice | framework.FieldTolerations | framework.FieldPodAffinity | framework.FieldSpread},
		{"fields=all", framework.FieldsAll},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p := podInfo(b, s, pod)
			for b.Loop() {
				p.ClassKey(0) // forgets
				p.ClassKey(bench.fields)
			}
		})
	}
}

// TestClassKeyOfLongTexts: a key stays short, and tells pods and fields apart as before.
func TestClassKeyOfLongTexts(t *testing.T) {
	s := snapshotOf(t, framework.Arrival)
	of := func(label string) *framework.PodInfo {
		p := plainPod("p")
		p.Labels = map[string]string{"k": label}
		return podInfo(t, s, p)
	}
	seen := map[string]string{}
	for _, n := range []int{0, 400, 500, 508, 520, 1000, 100_000} {
		for _, last := range []string{"a", "b"} {
			for _, fields := range []framework.PodFields{framework.FieldLabels, framework.FieldLabels | framework.FieldNamespace} {
				label := strings.Repeat("v", n) + last
				key, again := of(label).ClassKey(fields), of(label).ClassKey(fields)
				if key != again || len(key) > 512 {
					t.Errorf("a label of %d bytes: keys %q and %q, want one of at most 512 bytes", n, key, again)
				}
				what := fmt.Sprint(n, last, fields)
				if other, ok := seen[key]; ok {
					t.Errorf("%s and %s have the key %q", what, other, key)
				}
				seen[key] = what
			}
		}
	}
}
