package convert

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-sched/berth/framework/api"
)

// every runs a test for every kind.
func every(t *testing.T, test func(t *testing.T, k tested)) {
	for _, k := range []tested{
		of(pods), of(nodes), of(namespaces), of(quotas), of(services), of(controllers), of(volumes),
		of(volumeClaims), of(replicaSets), of(statefulSets), of(deployments), of(daemonSets), of(jobs),
		of(budgets), of(priorities), of(classes), of(csiNodes), of(csiDrivers), of(capacities),
		of(attachments), of(deviceClass), of(slicesOf), of(claims), of(templates), of(taintRules),
	} {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// tested is a kind without its types.
type tested struct {
	name, apiVersion string
	missing          []string
	random           func(*rand.Rand) any // an object of the API, filled
	direct           func(any) (any, error)
	byJSON           func([]byte) (any, error)
}

func of[D api.Object, S any](k *kind[D, S]) tested {
	return tested{
		k.meta.Kind, k.meta.APIVersion, k.missing,
		func(r *rand.Rand) any {
			s := new(S)
			fill(r, reflect.ValueOf(s).Elem(), 0)
			m := reflect.ValueOf(s).Elem().FieldByName("ObjectMeta").Addr().Interface().(*metav1.ObjectMeta)
			m.Name, m.Namespace = "name", "space"
			if !strings.Contains(keyOf[D](), "/") {
				m.Namespace = ""
			}
			return s
		},
		func(s any) (any, error) { return k.convert(s.(*S)) },
		func(data []byte) (any, error) {
			objects, err := api.Decode(data)
			if err != nil {
				return nil, err
			}
			v := reflect.ValueOf(objects).Elem()
			for i := range v.NumField() {
				if l, ok := v.Field(i).Interface().([]*D); ok && len(l) == 1 {
					return l[0], nil
				}
			}
			return nil, fmt.Errorf("decoded nothing")
		},
	}
}

// keyOf returns the key of an object of a kind with a name and a namespace.
func keyOf[D api.Object]() string {
	d := new(D)
	m := api.MetaOf(d)
	m.Name, m.Namespace = "name", "space"
	return api.KeyOf(d)
}

// Every field of ours exists in the API.
func TestFieldsExist(t *testing.T) {
	every(t, func(t *testing.T, k tested) {
		if len(k.missing) > 0 {
			t.Errorf("fields that the API does not have:\n%s", strings.Join(k.missing, "\n"))
		}
	})
}

// A field that the API does not have, or has with another type, is found.
func TestFieldsMissing(t *testing.T) {
	type inner struct {
		A int32             `json:"a"`
		B string            `json:"b"`
		C map[string]string `json:"c"`
	}
	type ours struct {
		Same  []inner `json:"same"`
		Other string  `json:"other"`
	}
	type theirInner struct {
		A int64          `json:"a"`
		C map[int]string `json:"c"`
	}
	type theirs struct {
		Same []theirInner `json:"same"`
	}
	c := new(compiler)
	c.compile(reflect.TypeFor[ours](), reflect.TypeFor[theirs](), "Ours")
	want := []string{
		"Ours.same[].a: int32 cannot hold int64", "Ours.same[].b: the API has no such field",
		"Ours.same[].c: map[string]string cannot hold map[int]string", "Ours.other: the API has no such field",
	}
	if diff := cmp.Diff(want, c.missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

// An object filled at random becomes the same whether it goes by JSON or not.
func TestEqualsJSON(t *testing.T) {
	every(t, func(t *testing.T, k tested) {
		for seed := range uint64(60) {
			s := k.random(rand.New(rand.NewPCG(seed, 1)))
			compare(t, k, s)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

func compare(t *testing.T, k tested, s any) {
	t.Helper()
	got, err := k.direct(s)
	if err != nil {
		t.Fatal(err)
	}
	typeMeta := reflect.ValueOf(s).Elem().FieldByName("TypeMeta").Addr().Interface().(*metav1.TypeMeta)
	typeMeta.Kind, typeMeta.APIVersion = k.name, k.apiVersion
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := k.byJSON(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("by JSON and directly (-want +got):\n%s", diff)
	}
}

// fill fills a value of the API at random.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *quantity.Quantity:
		*x = randomQuantity(r)
		return
	case *metav1.Time:
		*x = metav1.NewTime(time.Unix(r.Int64N(4e9), 0))
		return
	case *runtime.RawExtension:
		x.Raw = []byte(fmt.Sprintf(`{"x":%d}`, r.IntN(9)))
		return
	case *metav1.FieldsV1:
		*x = *metav1.NewFieldsV1("{}")
		return
	case *intstr.IntOrString:
		if *x = intstr.FromInt32(r.Int32N(9)); r.IntN(2) == 0 {
			*x = intstr.FromString("25%")
		}
		return
	}
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "TypeMeta" && r.IntN(8) > 0 {
				fill(r, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte("bytes"))
			return
		}
		for range r.IntN(3) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e, depth+1)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		if n := r.IntN(3); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key, depth+1)
				fill(r, e, depth+1)
				v.SetMapIndex(key, e)
			}
		}
	case reflect.String:
		v.SetString(fmt.Sprint("s", r.IntN(100)))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(100))
	case reflect.Uint8:
		v.SetUint(r.Uint64N(100))
	}
}

func randomQuantity(r *rand.Rand) quantity.Quantity {
	v := r.Int64N(1 << (1 + r.IntN(62)))
	if r.IntN(8) == 0 {
		v = -v
	}
	format := []quantity.Format{quantity.DecimalSI, quantity.BinarySI, quantity.DecimalExponent}[r.IntN(3)]
	switch r.IntN(6) {
	case 0:
		return *quantity.NewMilliQuantity(v%1e6, format)
	case 1:
		return *quantity.NewScaledQuantity(v%1e6, quantity.Scale(r.IntN(12)-6))
	case 2:
		return quantity.MustParse([]string{"100m", "500Mi", "1.5Gi", "0", "1e3", "12e6", "1n", "0.1", "1024", "1Ki", "12345678901234567890", "5E", "0.5Ki", "-3"}[r.IntN(14)])
	case 3:
		return *quantity.NewQuantity(v>>10<<10, format)
	}
	return *quantity.NewQuantity(v, format)
}

// Every quantity becomes what its text stands for.
func TestQuantities(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 20000 {
		q := randomQuantity(r)
		p := &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": q}}}
		got, err := Pod(p)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(q)
		var want struct{ api.Pod }
		if err := json.Unmarshal([]byte(`{"spec":{"overhead":{"cpu":`+string(data)+`}}}`), &want); err != nil {
			t.Fatal(err)
		}
		if got, want := got.Spec.Overhead["cpu"], want.Spec.Overhead["cpu"]; !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of format %s: got %#v, want %#v", data, q.Format, got, want)
		}
	}
}

// Amounts that package resource does not read are no fault of the object: users may write
// them, and the API server keeps them. The pod must count with all that it asks for.
func TestAmountsBeyondAll(t *testing.T) {
	for text, want := range map[string]string{
		"1e999": "1e999", "1e1000": "1e999", "1e100000": "1e999", "-1e1001": "-1e999",
		strings.Repeat("7", 1100) + "e0": "1e999",
	} {
		p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": quantity.MustParse("3")},
			Limits:   corev1.ResourceList{"memory": quantity.MustParse(text)},
		}}}}}
		got, err := Pod(p)
		if err != nil {
			t.Errorf("%.20s: %v", text, err)
			continue
		}
		r := got.Spec.Containers[0].Resources
		if memory, cpu := r.Limits["memory"].String(), r.Requests["cpu"].String(); memory != want || cpu != "3" || got.Spec.NodeName != "n" {
			t.Errorf("%.20s becomes %s, beside a request of %s on node %q; want %s, 3, n", text, memory, cpu, got.Spec.NodeName, want)
		}
	}
}

func TestNil(t *testing.T) {
	if _, err := Pod(nil); err == nil || err.Error() != "Pod: is nil" {
		t.Errorf("Pod(nil): %v", err)
	}
}

// webPod is a pod as a Deployment makes it and the API server sends it.
func webPod() *corev1.Pod {
	yes, seconds, priority := true, int64(300), int32(0)
	always := corev1.PreemptLowerPriority
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "registry/" + name + ":1", ImagePullPolicy: corev1.PullIfNotPresent,
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Env:   []corev1.EnvVar{{Name: "A", Value: "b"}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": quantity.MustParse("100m"), "memory": quantity.MustParse("128Mi")},
				Limits:   corev1.ResourceList{"memory": quantity.MustParse("256Mi")},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "token", MountPath: "/var/run/secrets"}},
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-1", Namespace: "default", UID: "u", ResourceVersion: "7", CreationTimestamp: metav1.Now(),
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "r", Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kcm", FieldsV1: metav1.NewFieldsV1("{}")}},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{container("web"), container("side")},
			Volumes:    []corev1.Volume{{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds},
			},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}},
			Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: "kubernetes.io/hostname", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}}}},
			SchedulerName: "default-scheduler", Priority: &priority, PreemptionPolicy: &always, RestartPolicy: "Always",
		},
		Status: corev1.PodStatus{Phase: "Pending", QOSClass: "Burstable", Conditions: []corev1.PodCondition{{Type: "PodScheduled", Status: "False"}}},
	}
}

func TestPodAllocations(t *testing.T) {
	p := webPod()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := Pod(p); err != nil {
			t.Fatal(err)
		}
	}); n > 20 {
		t.Errorf("Pod allocates %v times, want at most 20", n)
	}
	compare(t, of(pods), p)
}

func BenchmarkPod(b *testing.B) {
	p := webPod()
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Pod(p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		p.Kind, p.APIVersion = "Pod", "v1"
		for b.Loop() {
			data, err := json.Marshal(p)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := api.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNode(b *testing.B) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}}}
	n.Status.Allocatable = corev1.ResourceList{"cpu": quantity.MustParse("4"), "memory": quantity.MustParse("16Gi"), "pods": quantity.MustParse("110")}
	n.Status.Capacity = n.Status.Allocatable
	for i := range 30 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprint("image", i)}, SizeBytes: 1 << 20})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Node(n); err != nil {
			b.Fatal(err)
		}
	}
}
