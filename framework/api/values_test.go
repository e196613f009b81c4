package api_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// unchecked are the types of texts that may have other values than the constants here.
var unchecked = map[string]string{
	"UID": "any", "UniqueVolumeName": "any", "StorageMedium": "names huge pages, too",
	"NodeConditionType": "any", "PodConditionType": "any", "ConditionStatus": "a cluster reports it",
	"NamespacePhase": "a cluster reports it", "PersistentVolumePhase": "a cluster reports it",
	"PersistentVolumeClaimPhase": "a cluster reports it", "PodQOSClass": "a cluster reports it",
	"PodResizeStatus": "a cluster reports it", "AllocationConfigSource": "a cluster reports it",
	"ResourceQuotaScope": "estimator/capacity says so", "ScopeSelectorOperator": "estimator/capacity says so",
	"ClusterSyncMode": "Karmada's", "NodeMemoryCollectPolicy": "Koordinator's", "AggregationType": "Koordinator's",
	"Name": "a resource",
}

// TestValidate gives each field of a type that names its values another value, in each
// kind of object, and expects an error or a warning that names the field and the value.
func TestValidate(t *testing.T) {
	const odd = "Odd"
	checked, types := 0, map[string]bool{}
	kinds := reflect.TypeFor[api.Objects]()
	for i := range kinds.NumField() {
		if kinds.Field(i).Type.Kind() != reflect.Slice {
			continue
		}
		object := kinds.Field(i).Type.Elem().Elem()
		for _, field := range namedTexts(object, nil) {
			if _, ok := unchecked[field.name]; ok {
				continue
			}
			x := reflect.New(object)
			x.Elem().FieldByName("Name").SetString("x")
			field.set(x.Elem(), odd)
			var o api.Objects
			reflect.ValueOf(&o).Elem().Field(i).Set(reflect.Append(reflect.ValueOf(&o).Elem().Field(i), x))
			text := strings.Join(o.Warnings(), "\n")
			if err := o.Validate(); err != nil {
				text = err.Error()
			}
			if want := field.path; !strings.Contains(strings.ReplaceAll(text, "[0]", ""), want+`: "Odd": unknown value; want `) {
				t.Errorf("%s with an odd value of %s: %q", object.Name(), want, text)
			}
			checked++
			types[field.name] = true
		}
	}
	if checked < 250 || len(types) < 20 {
		t.Errorf("%d fields of %d types were tried, want at least 250 of 20", checked, len(types))
	}
}

type namedText struct {
	name, path string
	set        func(reflect.Value, string)
}

// namedTexts lists the fields below a struct whose type is a text with a name.
func namedTexts(t reflect.Type, path []string) (list []namedText) {
	if len(path) > 20 {
		panic(fmt.Sprint("a type within itself: ", path))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := path
		if name != "" {
			inner = append(path[:len(path):len(path)], name)
		}
		for _, x := range textsOf(f.Type, inner) {
			set := x.set
			x.set = func(v reflect.Value, text string) { set(v.Field(i), text) }
			list = append(list, x)
		}
	}
	return list
}

func textsOf(t reflect.Type, path []string) (list []namedText) {
	switch t.Kind() {
	case reflect.String:
		if t.Name() != "string" {
			list = append(list, namedText{name: t.Name(), path: strings.Join(path, "."), set: func(v reflect.Value, text string) { v.SetString(text) }})
		}
	case reflect.Pointer:
		for _, x := range textsOf(t.Elem(), path) {
			set := x.set
			x.set = func(v reflect.Value, text string) {
				p := reflect.New(t.Elem())
				set(p.Elem(), text)
				v.Set(p)
			}
			list = append(list, x)
		}
	case reflect.Slice:
		for _, x := range textsOf(t.Elem(), path) {
			set := x.set
			x.set = func(v reflect.Value, text string) {
				s := reflect.MakeSlice(t, 1, 1)
				set(s.Index(0), text)
				v.Set(s)
			}
			list = append(list, x)
		}
	case reflect.Struct:
		if t.PkgPath() == reflect.TypeFor[api.Pod]().PkgPath() {
			return namedTexts(t, path)
		}
	case reflect.Map:
		if len(textsOf(t.Elem(), path)) > 0 && !strings.HasSuffix(t.Elem().PkgPath(), "/resource") {
			panic(fmt.Sprintf("%v: values in a map are not looked at", path))
		}
	}
	return list
}

// TestValidateText expects the texts that people read.
func TestValidateText(t *testing.T) {
	o, err := api.Decode([]byte(`{"kind": "List", "items": [
		{"kind": "Pod", "metadata": {"name": "a"}, "spec": {"restartPolicy": "Sometimes", "preemptionPolicy": "Perhaps",
			"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "Never"}, {"maxSkew": 1, "topologyKey": "host"}],
			"tolerations": [{"key": "k", "operator": "Equals", "effect": "NoRun"}, {"key": "k"}],
			"containers": [{"name": "c", "ports": [{"containerPort": 80, "protocol": "tcp"}]}]}},
		{"kind": "Pod", "metadata": {"name": "b", "namespace": "shop"}, "spec": {"restartPolicy": "Sometimes"}},
		{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d"}, "spec": {"template": {"spec":
			{"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "x", "operator": "in"}]}]}}}}}}},
		{"kind": "Node", "metadata": {"name": "n"}, "spec": {"taints": [{"key": "k"}]}}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	err = o.Validate()
	want := `pod default/a: spec.containers[0].ports[0].protocol: "tcp": unknown value; want TCP, UDP or SCTP
pod default/a: spec.tolerations[0].operator: "Equals": unknown value; want Exists, Equal, Lt or Gt
pod default/a: spec.tolerations[0].effect: "NoRun": unknown value; want NoSchedule, PreferNoSchedule or NoExecute
pod default/a: spec.preemptionPolicy: "Perhaps": unknown value; want PreemptLowerPriority or Never
pod default/a: spec.topologySpreadConstraints[0].whenUnsatisfiable: "Never": unknown value; want DoNotSchedule or ScheduleAnyway
pod default/a: spec.topologySpreadConstraints[1].whenUnsatisfiable: is missing; want DoNotSchedule or ScheduleAnyway
node n: spec.taints[0].effect: is missing; want NoSchedule, PreferNoSchedule or NoExecute
deployment default/d: spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: "in": unknown value; want In, NotIn, Exists, DoesNotExist, Gt or Lt`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("Validate (-want +got):\n%s", diff)
	}
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("Validate = %T, want an *InvalidError among others", err)
	}
	warnings := []string{`Pod: spec.restartPolicy: "Sometimes": unknown value, 2 times; want Always, OnFailure or Never`}
	if diff := cmp.Diff(warnings, o.Warnings()); diff != "" {
		t.Errorf("Warnings (-want +got):\n%s", diff)
	}
}

// TestValidateBounds gives Gt and Lt other values than one integer. The API server takes a
// text in a node affinity, so that this is a doubt.
func TestValidateBounds(t *testing.T) {
	const affinity = `"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "k", "operator": %q, "values": %s}]}}]}}`
	const toleration = `"tolerations": [{"key": "k", "operator": %q, "value": %s, "effect": "NoSchedule"}]`
	const values = "pod default/p: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values"
	for _, test := range []struct{ format, operator, value, fault, doubt string }{
		{affinity, "Gt", `["5"]`, "", ""},
		{affinity, "Lt", `["-5"]`, "", ""},
		{affinity, "In", `["x", "y"]`, "", ""},
		{affinity, "Gt", `[]`, values + `: "[]": want exactly one value for Gt and Lt`, ""},
		{affinity, "Lt", `["1", "2"]`, values + `: "[1 2]": want exactly one value for Gt and Lt`, ""},
		{affinity, "Gt", `["many"]`, "", values + `[0]: "many": want an integer for Gt and Lt; with this value the pod fits nowhere`},
		{affinity, "Lt", `["9223372036854775808"]`, "", values + `[0]: "9223372036854775808": want an integer for Gt and Lt; with this value the pod fits nowhere`},
		{toleration, "Gt", `"5"`, "", ""},
		{toleration, "Equal", `"x"`, "", ""},
		{toleration, "Lt", `"05"`, `pod default/p: spec.tolerations[0].value: "05": want a decimal integer for Gt and Lt`, ""},
		{toleration, "Gt", `"x"`, `pod default/p: spec.tolerations[0].value: "x": want a decimal integer for Gt and Lt`, ""},
	} {
		spec := fmt.Sprintf(test.format, test.operator, test.value)
		o, err := api.Decode([]byte(`{"kind": "Pod", "metadata": {"name": "p"}, "spec": {` + spec + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		fault, doubt := "", ""
		if err := o.Validate(); err != nil {
			fault = err.Error()
		}
		for _, d := range o.Doubts() {
			doubt += d.Error()
		}
		if fault != test.fault || doubt != test.doubt {
			t.Errorf("%s:\nerrors %q, want %q\ndoubts %q, want %q", spec, fault, test.fault, doubt, test.doubt)
		}
		if got, want := len(o.Warnings()), len(o.Doubts()); got != want {
			t.Errorf("%s: %d warnings, want %d", spec, got, want)
		}
	}
}

// TestValidateMany gives more faults than Validate returns, and more doubts than Doubts does.
func TestValidateMany(t *testing.T) {
	o := new(api.Objects)
	for i := range 600 {
		p := api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj()
		p.Spec.Containers[0].Resources.Requests["memroy"] = resource.MustParse("1")
		p.Spec.Tolerations = []api.Toleration{{Operator: "Gt", Value: "x"}}
		o.Pods = append(o.Pods, p)
	}
	joined, ok := o.Validate().(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 500 {
		t.Errorf("Validate = %.300v, want 500 errors", o.Validate())
	}
	if n := len(o.Doubts()); n != 500 {
		t.Errorf("%d doubts, want 500", n)
	}
}

// TestDoubtsResources gives requests and nodes resources that Kubernetes does not have.
func TestDoubtsResources(t *testing.T) {
	o, err := api.Decode([]byte(`{"kind": "List", "items": [
		{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"resources": {"requests": {"cpus": "1"}}, "containers": [
			{"resources": {"requests": {"CPU": "100", "memroy": "1Gi", "example.com/gpu": "1", "hugepages-2Mi": "2Mi", "ephemeral-storage": "1"}}},
			{"resources": {"limits": {"gpu": "1", "cpu": "1", "memory": "1"}, "requests": {"gpu": "1", "pods": "2"}}}]}},
		{"kind": "Pod", "metadata": {"name": "q"}, "spec": {"containers": [{"resources": {"requests": {"memroy": "1Gi"}}}]}},
		{"kind": "Node", "metadata": {"name": "n"}, "status": {
			"capacity": {"gpus": "1", "pods": "110", "storage": "1", "attachable-volumes-aws-ebs": "39", "hugepages-1Gi": "0"},
			"allocatable": {"gpus": "1", "memorry": "1Gi", "pods": "110", "example.com/gpu": "1"}}}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "unknown resource; want cpu, memory, ephemeral-storage, "
	const domain = " or a name with a domain, such as example.com/gpu"
	doubts := []string{
		`node n: status.capacity[gpus]: "1": ` + want + `pods, storage, hugepages-..., attachable-volumes-...` + domain,
		`node n: status.allocatable[memorry]: "1Gi": unknown resource; did you mean memory?`,
		`pod default/p: spec.containers[0].resources.requests[CPU]: "100": unknown resource; did you mean cpu?`,
		`pod default/p: spec.containers[0].resources.requests[memroy]: "1Gi": unknown resource; did you mean memory?`,
		`pod default/p: spec.containers[1].resources.limits[gpu]: "1": ` + want + `hugepages-...` + domain,
		`pod default/p: spec.containers[1].resources.requests[pods]: "2": ` + want + `hugepages-...` + domain,
		`pod default/p: spec.resources.requests[cpus]: "1": ` + want + `hugepages-...` + domain,
		`pod default/q: spec.containers[0].resources.requests[memroy]: "1Gi": unknown resource; did you mean memory?`,
	}
	var got []string
	for _, d := range o.Doubts() {
		got = append(got, d.Error())
	}
	slices.Sort(got)
	slices.Sort(doubts)
	if diff := cmp.Diff(doubts, got); diff != "" {
		t.Errorf("Doubts (-want +got):\n%s", diff)
	}
	if warning := `Pod: spec.containers.resources.requests[memroy]: "1Gi": unknown resource, 2 times; did you mean memory?`; !slices.Contains(o.Warnings(), warning) {
		t.Errorf("Warnings = %q, want one to be %q", o.Warnings(), warning)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// A real file is valid, and so is nothing.
func TestValidateOfKubectl(t *testing.T) {
	for _, o := range []*api.Objects{decodeFiles(t, "testdata/nodes.json", "testdata/pods.json"), {}, {Pods: []*api.Pod{nil}}} {
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func ExampleObjects_Validate() {
	pod := api.MakePod("web").Obj()
	pod.Spec.Tolerations = []api.Toleration{{Key: "gpu", Operator: "Present"}}
	o := api.Objects{Pods: []*api.Pod{pod}}
	fmt.Println(o.Validate())
	// Output: pod default/web: spec.tolerations[0].operator: "Present": unknown value; want Exists, Equal, Lt or Gt
}

// TestValidatePortsAndNamespaces expects errors about host ports that are none, and namespaces with a
// slash.
func TestValidatePortsAndNamespaces(t *testing.T) {
	for _, port := range []int32{-1, 0, 1, 65535, 65536} {
		o := api.Objects{Pods: []*api.Pod{api.MakePod("p").Obj()}}
		o.Pods[0].Spec.Containers = []api.Container{{Name: "c", Ports: []api.ContainerPort{{ContainerPort: 80}, {HostPort: port}}}}
		want := fmt.Sprintf(`pod default/p: spec.containers[0].ports[1].hostPort: "%d": want a port from 1 to 65535, or 0 for none`, port)
		if 0 <= port && port <= 65535 {
			want = "<nil>"
		}
		if got := fmt.Sprint(o.Validate()); got != want {
			t.Errorf("host port %d: %s, want %s", port, got, want)
		}
	}
	o := api.Objects{Pods: []*api.Pod{api.MakePod("p").Obj()}}
	o.Pods[0].Namespace = "a/b"
	var invalid *api.InvalidError
	if err := o.Validate(); !errors.As(err, &invalid) || invalid.Object != "pod a/b/p" || invalid.Field != "metadata.namespace" || invalid.Value != "a/b" {
		t.Errorf("a namespace with a slash: %v", err)
	}
}
