package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func decode(t *testing.T, text string) *api.Objects {
	t.Helper()
	o, err := api.Decode([]byte(text))
	must(t, err)
	return o
}

// keys lists what is in o, such as "Pods default/web".
func keys(o *api.Objects) []string {
	var list []string
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			for j := range f.Len() {
				m := f.Index(j).Elem().FieldByName("ObjectMeta").Interface().(api.ObjectMeta)
				list = append(list, v.Type().Field(i).Name+" "+m.Key())
			}
		}
	}
	return list
}

func TestDecodeForms(t *testing.T) {
	tests := []struct {
		name    string
		text    string
		want    []string
		skipped map[string]int
	}{
		{"nothing", "", nil, nil},
		{"only space", " \n\t\r\n", nil, nil},
		{"one object", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}`, []string{"Pods default/web"}, nil},
		{"kind last", `{"metadata":{"name":"web","namespace":"shop"},"kind":"Pod","apiVersion":"v1"}`, []string{"Pods shop/web"}, nil},
		{"no apiVersion", `{"kind":"NodeMetric","metadata":{"name":"n1"}}`, []string{"NodeMetrics n1"}, nil},
		{"cluster scope with namespace", `{"kind":"Node","metadata":{"name":"n1","namespace":"x"}}`, []string{"Nodes n1"}, nil},
		{
			"mixed list as kubectl prints it",
			`{"apiVersion":"v1","items":[
				{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"s"}},
				{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}},
				{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}},
				{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"s"}}
			],"kind":"List","metadata":{"resourceVersion":""}}`,
			[]string{"Pods s/a", "Nodes n", "Deployments s/d"},
			map[string]int{"Secret": 1},
		},
		{"typed list without kinds", `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, []string{"Pods default/a", "Pods default/b"}, nil},
		{"typed list with kinds", `{"items":[{"kind":"Cluster","metadata":{"name":"m"}}],"kind":"ClusterList","apiVersion":"cluster.karmada.io/v1alpha1"}`, []string{"Clusters m"}, nil},
		{"empty list", `{"kind":"PodList","items":[]}`, nil, nil},
		{"null list", `{"kind":"PodList","items":null}`, nil, nil},
		{"list without items", `{"kind":"PodList"}`, nil, nil},
		{"list in a list", `{"kind":"List","items":[{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}]}`, []string{"Pods default/a"}, nil},
		{
			"several documents",
			`{"kind":"Node","metadata":{"name":"n"}} {"kind":"PodList","items":[{"metadata":{"name":"a"}}]}` + "\n" + `{"kind":"Pod","metadata":{"name":"b"}}`,
			[]string{"Pods default/a", "Pods default/b", "Nodes n"},
			nil,
		},
		{"unknown kinds", `{"kind":"ConfigMap","apiVersion":"v1"}{"kind":"Certificate","apiVersion":"cert-manager.io/v1"}{"kind":"ConfigMap","apiVersion":"v1"}`, nil, map[string]int{"ConfigMap": 2, "Certificate.cert-manager.io": 1}},
		{"list of an unknown kind", `{"kind":"SecretList","apiVersion":"v1","items":[{},{}]}`, nil, map[string]int{"Secret": 2}},
		{"a kind that is called list", `{"kind":"APIResourceList","apiVersion":"v1","resources":[]}`, nil, map[string]int{"APIResourceList": 1}},
		{"same kind of another group", `{"kind":"Cluster","apiVersion":"cluster.x-k8s.io/v1beta1","metadata":{"name":"c"}}`, nil, map[string]int{"Cluster.cluster.x-k8s.io": 1}},
		{"old version", `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1beta1","metadata":{"name":"b"}}`, []string{"PodDisruptionBudgets default/b"}, nil},
		{"same name twice", `{"kind":"Node","metadata":{"name":"n"}}{"kind":"Node","metadata":{"name":"n"}}`, []string{"Nodes n", "Nodes n"}, nil},
		{"escaped key", `{"\u006bind":"Node","metadata":{"n\u0061me":"n"}}`, []string{"Nodes n"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := decode(t, tt.text)
			if diff := cmp.Diff(tt.want, keys(o)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.skipped, o.Skipped); diff != "" {
				t.Errorf("Skipped (-want +got):\n%s", diff)
			}
		})
	}
}

// Every list of Objects must have exactly one kind.
func TestDecodeEveryKind(t *testing.T) {
	groups := map[string][]string{
		"v1":                          {"Pod", "Node", "Namespace", "ResourceQuota", "Service", "ReplicationController", "PersistentVolume", "PersistentVolumeClaim"},
		"apps/v1":                     {"ReplicaSet", "StatefulSet", "Deployment", "DaemonSet"},
		"batch/v1":                    {"Job"},
		"policy/v1":                   {"PodDisruptionBudget"},
		"scheduling.k8s.io/v1":        {"PriorityClass"},
		"scheduling.k8s.io/v1beta1":   {"PodGroup", "Workload"},
		"scheduling.k8s.io/v1alpha3":  {"CompositePodGroup"},
		"storage.k8s.io/v1":           {"StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"},
		"resource.k8s.io/v1":          {"DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceTaintRule"},
		"slo.koordinator.sh/v1alpha1": {"NodeMetric"},
		"cluster.karmada.io/v1alpha1": {"Cluster"},
	}
	clusterScoped := []string{"Node", "Namespace", "PersistentVolume", "PriorityClass", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment", "DeviceClass", "ResourceSlice", "DeviceTaintRule", "NodeMetric", "Cluster"}
	plural := func(kind string) string {
		switch kind {
		case "CSIStorageCapacity":
			return "CSIStorageCapacities"
		case "PriorityClass", "StorageClass", "DeviceClass":
			return kind + "es"
		}
		return kind + "s"
	}
	var text bytes.Buffer
	var want []string
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		for _, kind := range groups[group] {
			text.WriteString(`{"apiVersion":"` + group + `","kind":"` + kind + `","metadata":{"name":"x"}}`)
			key := "default/x"
			if slices.Contains(clusterScoped, kind) {
				key = "x"
			}
			want = append(want, plural(kind)+" "+key)
		}
	}
	slices.Sort(want)

	o := decode(t, text.String())
	got := keys(o)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	lists := reflect.TypeFor[api.Objects]().NumField() - 2 // without Skipped and SkippedFields
	if len(got) != lists {
		t.Errorf("%d of the %d lists of Objects can be decoded", len(got), lists)
	}

	// Objects.Decode must extend every list.
	must(t, o.Decode(text.Bytes()))
	if got := len(keys(o)); got != 2*lists {
		t.Errorf("after a second Decode there are %d objects, want %d", got, 2*lists)
	}
}

func TestDecodeAddsAllOrNothing(t *testing.T) {
	o := decode(t, `{"kind":"Pod","metadata":{"name":"a"}}{"kind":"Secret"}`)
	must(t, o.Decode([]byte(`{"kind":"Pod","metadata":{"name":"b"}}{"kind":"Secret"}{"kind":"ConfigMap"}`)))
	want := []string{"Pods default/a", "Pods default/b"}
	skipped := map[string]int{"Secret": 2, "ConfigMap": 1}
	check := func() {
		t.Helper()
		if diff := cmp.Diff(want, keys(o)); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(skipped, o.Skipped); diff != "" {
			t.Errorf("Skipped (-want +got):\n%s", diff)
		}
	}
	check()
	if err := o.Decode([]byte(`{"kind":"Pod","metadata":{"name":"c"}}{"kind":"Secret"}{"kind":"Pod"`)); err == nil {
		t.Error("Decode of a truncated text succeeds")
	}
	check()
	var none api.Objects
	must(t, none.Decode(nil))
	if diff := cmp.Diff(api.Objects{}, none); diff != "" {
		t.Errorf("empty text into empty Objects (-want +got):\n%s", diff)
	}
}

func TestDecodeFields(t *testing.T) {
	tests := []struct {
		name string
		text string
		want api.Pod
	}{
		{"unknown fields are ignored", `{"spec":{"dnsPolicy":"Default","x":{"y":[1,2,{"z":null}]}},"future":true}`, api.Pod{}},
		{"null is absent", `{"spec":{"priority":null,"containers":null,"affinity":null},"status":null}`, api.Pod{}},
		{"case matters", `{"Spec":{"priority":1},"SPEC":{"priority":2},"spec":{"Priority":3,"nodeName":"n"}}`, api.Pod{Spec: api.PodSpec{NodeName: "n"}}},
		{"the last of two counts", `{"spec":{"priority":1,"nodeName":"n"},"spec":{"priority":2}}`, api.Pod{Spec: api.PodSpec{Priority: new(int32(2))}}},
		{"an empty map is not nil", `{"spec":{"nodeSelector":{}}}`, api.Pod{Spec: api.PodSpec{NodeSelector: map[string]string{}}}},
		{"null in a map is zero", `{"spec":{"nodeSelector":{"a":null},"overhead":{"cpu":null}}}`, api.Pod{Spec: api.PodSpec{NodeSelector: map[string]string{"a": ""}, Overhead: resource.List{"cpu": {}}}}},
		{"a quantity may be a number", `{"spec":{"overhead":{"cpu":2,"memory":1.5e3}}}`, api.Pod{Spec: api.PodSpec{Overhead: quantities("cpu", "2", "memory", "1500")}}},
		{"time zones", `{"status":{"startTime":"2026-01-02T04:04:05+01:00"}}`, api.Pod{Status: api.PodStatus{StartTime: new(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}}},
		{"escapes and bytes that are no UTF-8", `{"spec":{"nodeName":"a\u00e9\ud83d\ude00\n` + "\xff" + `"}}`, api.Pod{Spec: api.PodSpec{NodeName: "aé😀\n\ufffd"}}},
		{"inline source", `{"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`, *api.MakePod("").Namespace("").Claim("c").Obj()},
	}
	tests[len(tests)-1].want.Spec.Volumes[0].Name = "v"
	tests[len(tests)-1].want.Spec.Containers = nil
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"metadata":{"name":"web"},` + tt.text[1:]
			got, err := api.DecodeObject[api.Pod]([]byte(text))
			must(t, err)
			tt.want.Kind, tt.want.APIVersion, tt.want.Name, tt.want.Namespace = "Pod", "v1", "web", "default"
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRealFiles(t *testing.T) {
	var o api.Objects
	for _, name := range []string{"testdata/nodes.json", "testdata/pods.json"} {
		data, err := os.ReadFile(name)
		must(t, err)
		must(t, o.Decode(data))
	}
	want := []string{"Pods metallb-system/speaker-cpxhz", "Pods nginx/nginx-ingress-controller-86cd89648c-dkmjf", "Nodes duckboat-01"}
	if diff := cmp.Diff(want, keys(&o)); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}
	n, p := o.Nodes[0], o.Pods[0]
	if n.Kind != "Node" || n.APIVersion != "v1" {
		t.Errorf("node is of kind %q, version %q", n.Kind, n.APIVersion)
	}
	if diff := cmp.Diff([]api.Taint{{Key: "type", Value: "hound", Effect: "NoSchedule"}}, n.Spec.Taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	wantAllocatable := quantities(
		"attachable-volumes-aws-ebs", "39", "cpu", "7910m", "ephemeral-storage", "122601479578", "memory", "31127824Ki", "pods", "58",
		"hugepages-1Gi", "0", "hugepages-2Mi", "0", "hugepages-32Mi", "0", "hugepages-64Ki", "0")
	if diff := cmp.Diff(wantAllocatable, n.Status.Allocatable); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}
	if got := len(p.Spec.Tolerations); got != 8 {
		t.Errorf("pod has %d tolerations, want 8", got)
	}
	wantTerm := api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values}}}
	if diff := cmp.Diff(wantTerm, p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]); diff != "" {
		t.Errorf("affinity (-want +got):\n%s", diff)
	}
	wantPort := []api.ContainerPort{{Name: "monitoring", HostPort: 7472, ContainerPort: 7472, Protocol: api.ProtocolTCP}}
	if diff := cmp.Diff(wantPort, p.Spec.Containers[0].Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if o := p.ControllerRef(); o == nil || o.Kind != "DaemonSet" {
		t.Errorf("ControllerRef() = %v, want a DaemonSet", o)
	}
}

// Equal short texts share memory, and different texts are never confused.
func TestDecodeSharesShortTexts(t *testing.T) {
	var pods []string
	for i := range 300 {
		pods = append(pods, fmt.Sprintf(`{"name": "pod-%d", "namespace": "shop", "qos": "%s"}`, i, strings.Repeat("x", i%40)))
	}
	m, err := api.DecodeObject[api.NodeMetric]([]byte(`{"metadata": {"name": "n"}, "status": {"podsMetric": [` + strings.Join(pods, ",") + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	pieces := map[*byte]bool{}
	for i, r := range m.Status.PodsMetric {
		pieces[unsafe.StringData(r.Namespace)] = true
		if want := fmt.Sprintf("pod-%d", i); r.Name != want || r.Namespace != "shop" || r.QoS != strings.Repeat("x", i%40) {
			t.Errorf("report %d is of %s/%s with %q, want shop/%s with %d times x", i, r.Namespace, r.Name, r.QoS, want, i%40)
		}
	}
	if len(pieces) > 50 {
		t.Errorf("300 equal namespaces are %d pieces of memory, want few", len(pieces))
	}
}

// TestLongNames: names and namespaces that are much longer than those of an API server are refused, with an error that names
// the object, the field and the beginning of the value.
func TestLongNames(t *testing.T) {
	for _, tt := range []struct {
		name, namespace int
		want            string
	}{{512, 512, ""}, {513, 1, "metadata.name"}, {1, 513, "metadata.namespace"}, {1 << 20, 1, "metadata.name"}} {
		_, err := api.Decode(fmt.Appendf(nil, `{"kind":"Pod","metadata":{"name":%q,"namespace":%q}}`, strings.Repeat("n", tt.name), strings.Repeat("s", tt.namespace)))
		switch invalid := new(api.InvalidError); {
		case tt.want == "" && err != nil:
			t.Error(err)
		case tt.want != "" && (!errors.As(err, &invalid) || invalid.Field != tt.want || len(err.Error()) > 1000):
			t.Errorf("%d and %d bytes: %.200v, want an error about %s", tt.name, tt.namespace, err, tt.want)
		}
	}
	for _, field := range []string{"name", "kind"} { // of owners
		for _, n := range []int{512, 513} {
			_, err := api.Decode(fmt.Appendf(nil, `{"kind":"Pod","metadata":{"name":"p","ownerReferences":[{"kind":"K"},{%q:%q}]}}`, field, strings.Repeat("n", n)))
			invalid := new(api.InvalidError)
			if n <= 512 && err != nil || n > 512 && (!errors.As(err, &invalid) || invalid.Field != "metadata.ownerReferences[1]."+field) {
				t.Errorf("owner's %s of %d bytes: %.200v", field, n, err)
			}
		}
	}
}
