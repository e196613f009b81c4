package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

// Builders and decoding must give the same object.
func TestMakePod(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name string
		pod  api.PodBuilder
		json string
	}{
		{"plain", api.MakePod("p"), `{"spec":{"containers":[{"name":"main"}]}}`},
		{
			"metadata", api.MakePod("q").Name("p").Namespace("shop").UID("u1").Labels("a", "1", "b", "2").Labels("b", "3").Annotations("x", "y").Deleted(at),
			`{"metadata":{"name":"p","namespace":"shop","uid":"u1","labels":{"a":"1","b":"3"},"annotations":{"x":"y"},"deletionTimestamp":"2026-01-02T03:04:05Z"},
			"spec":{"containers":[{"name":"main"}]}}`,
		},
		{
			"owners", api.MakePod("p").Owner("ReplicaSet", "rs").Owner("ReplicationController", "rc").Owner("Rollout", "r"),
			`{"metadata":{"name":"p","ownerReferences":[
				{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"","controller":true},
				{"apiVersion":"v1","kind":"ReplicationController","name":"rc","uid":"","controller":true},
				{"apiVersion":"","kind":"Rollout","name":"r","uid":"","controller":true}]},
			"spec":{"containers":[{"name":"main"}]}}`,
		},
		{
			"spec", api.MakePod("p").Node("n1").Scheduler("mine").Priority(-3).PriorityClass("low").Preemption("Never").Gates("g1", "g2").
				NodeSelector("disk", "ssd").Overhead("cpu", "10m").PodRequest("cpu", "2").PodRequest("memory", "1Gi"),
			`{"spec":{"containers":[{"name":"main"}],"nodeName":"n1","schedulerName":"mine","priority":-3,"priorityClassName":"low","preemptionPolicy":"Never",
			"schedulingGates":[{"name":"g1"},{"name":"g2"}],"nodeSelector":{"disk":"ssd"},"overhead":{"cpu":"10m"},"resources":{"requests":{"cpu":"2","memory":"1Gi"}}}}`,
		},
		{
			"containers", api.MakePod("p").Image("nginx").Requests("100m", "500Mi").Limits("", "1Gi").Request("nvidia.com/gpu", "1").Limit("nvidia.com/gpu", "1").HostPort(80, 443).
				Container("log").Requests("50m", "").Port(api.ContainerPort{HostPort: 53, HostIP: "10.0.0.1", ContainerPort: 5353, Protocol: "UDP"}).
				InitContainer("setup").Requests("2", "").Sidecar("proxy").Image("envoy").Requests("", "64Mi"),
			`{"spec":{"containers":[
				{"name":"main","image":"nginx","resources":{"requests":{"cpu":"100m","memory":"500Mi","nvidia.com/gpu":"1"},"limits":{"memory":"1Gi","nvidia.com/gpu":"1"}},
				 "ports":[{"hostPort":80,"containerPort":80,"protocol":"TCP"},{"hostPort":443,"containerPort":443,"protocol":"TCP"}]},
				{"name":"log","resources":{"requests":{"cpu":"50m"}},"ports":[{"hostPort":53,"hostIP":"10.0.0.1","containerPort":5353,"protocol":"UDP"}]}],
			"initContainers":[{"name":"setup","resources":{"requests":{"cpu":"2"}}},
				{"name":"proxy","image":"envoy","restartPolicy":"Always","resources":{"requests":{"memory":"64Mi"}}}]}}`,
		},
		{
			"tolerations", api.MakePod("p").Tolerates("dedicated=db:NoSchedule", "gpu:NoExecute", "spot", "", "a=:NoSchedule").
				Toleration(api.Toleration{Key: "k", TolerationSeconds: new(int64(30))}),
			`{"spec":{"containers":[{"name":"main"}],"tolerations":[
				{"key":"dedicated","operator":"Equal","value":"db","effect":"NoSchedule"},{"key":"gpu","operator":"Exists","effect":"NoExecute"},
				{"key":"spot","operator":"Exists"},{"operator":"Exists"},{"key":"a","operator":"Equal","effect":"NoSchedule"},{"key":"k","tolerationSeconds":30}]}}`,
		},
		{
			"node affinity", api.MakePod("p").NodeAffinity("zone in (a,b), cores>4").NodeAffinity("metadata.name=n7").PreferNodes(10, "disk=ssd").PreferNodes(5, "!spot"),
			`{"spec":{"containers":[{"name":"main"}],"affinity":{"nodeAffinity":{
				"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
					{"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]},{"key":"cores","operator":"Gt","values":["4"]}]},
					{"matchFields":[{"key":"metadata.name","operator":"In","values":["n7"]}]}]},
				"preferredDuringSchedulingIgnoredDuringExecution":[
					{"weight":10,"preference":{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]}]}},
					{"weight":5,"preference":{"matchExpressions":[{"key":"spot","operator":"DoesNotExist"}]}}]}}}}`,
		},
		{
			"pod affinity", api.MakePod("p").PodAffinity("zone", "app=db").PreferPodAffinity(3, "rack", "app=cache").PodAntiAffinity("host", "app=web").PreferPodAntiAffinity(4, "zone", "app"),
			`{"spec":{"containers":[{"name":"main"}],"affinity":{
				"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"db"}},"topologyKey":"zone"}],
					"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":3,"podAffinityTerm":{"labelSelector":{"matchLabels":{"app":"cache"}},"topologyKey":"rack"}}]},
				"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"host"}],
					"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":4,"podAffinityTerm":{"labelSelector":{"matchExpressions":[{"key":"app","operator":"Exists"}]},"topologyKey":"zone"}}]}}}}`,
		},
		{
			"spread", api.MakePod("p").Spread(1, "zone", api.DoNotSchedule, "app=web").SpreadConstraint(api.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "host", WhenUnsatisfiable: "ScheduleAnyway", MinDomains: new(int32(3))}),
			`{"spec":{"containers":[{"name":"main"}],"topologySpreadConstraints":[
				{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}},
				{"maxSkew":2,"topologyKey":"host","whenUnsatisfiable":"ScheduleAnyway","minDomains":3}]}}`,
		},
		{
			"volumes", api.MakePod("p").Claim("data").Volume(api.Volume{Name: "v", VolumeSource: api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "d"}}}),
			`{"spec":{"containers":[{"name":"main"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}},{"name":"v","gcePersistentDisk":{"pdName":"d"}}]}}`,
		},
		{
			"status", api.MakePod("p").Phase(api.PodRunning).Started(at).Nominated("n2").Condition(api.PodScheduled, api.ConditionTrue, at),
			`{"spec":{"containers":[{"name":"main"}]},"status":{"phase":"Running","startTime":"2026-01-02T03:04:05Z","nominatedNodeName":"n2",
				"conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := decodeNamed[api.Pod](t, tt.json)
			if diff := cmp.Diff(want, tt.pod.Obj()); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMakeNode(t *testing.T) {
	const plain = `"capacity":{"cpu":"4","memory":"32Gi","pods":"110"},"allocatable":{"cpu":"4","memory":"32Gi","pods":"110"}`
	tests := []struct {
		name string
		node api.NodeBuilder
		json string
	}{
		{"plain", api.MakeNode("p", "4", "32Gi"), `{"metadata":{"name":"p","labels":{"kubernetes.io/hostname":"p"}},"status":{` + plain + `}}`},
		{"no memory", api.MakeNode("p", "4", ""), `{"metadata":{"name":"p","labels":{"kubernetes.io/hostname":"p"}},"status":{"capacity":{"cpu":"4","pods":"110"},"allocatable":{"cpu":"4","pods":"110"}}}`},
		{
			"metadata", api.MakeNode("n", "4", "32Gi").Name("p").UID("u").Labels("a", "b").Annotations("c", "d").Zone("z").Region("r"),
			`{"metadata":{"name":"p","uid":"u","labels":{"kubernetes.io/hostname":"p","a":"b","topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r"},"annotations":{"c":"d"}},"status":{` + plain + `}}`,
		},
		{
			"spec", api.MakeNode("p", "4", "32Gi").Taint("a=b:NoSchedule", "c:NoExecute").Unschedulable(),
			`{"metadata":{"name":"p","labels":{"kubernetes.io/hostname":"p"}},"spec":{"unschedulable":true,"taints":[{"key":"a","value":"b","effect":"NoSchedule"},{"key":"c","effect":"NoExecute"}]},"status":{` + plain + `}}`,
		},
		{
			"status", api.MakeNode("p", "", "").Resource("pods", "10").Resource("nvidia.com/gpu", "8").Allocatable("nvidia.com/gpu", "7").
				Image("1Gi", "nginx", "nginx:latest").Condition(api.NodeReady, api.ConditionTrue),
			`{"metadata":{"name":"p","labels":{"kubernetes.io/hostname":"p"}},"status":{"capacity":{"pods":"10","nvidia.com/gpu":"8"},"allocatable":{"pods":"10","nvidia.com/gpu":"7"},
				"images":[{"names":["nginx","nginx:latest"],"sizeBytes":1073741824}],"conditions":[{"type":"Ready","status":"True"}]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := decodeNamed[api.Node](t, tt.json)
			if diff := cmp.Diff(want, tt.node.Obj()); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
		})
	}
}

// decodeNamed decodes an object that is called p if it has no name.
func decodeNamed[T api.Object](t *testing.T, text string) *T {
	t.Helper()
	fields := map[string]json.RawMessage{"metadata": json.RawMessage(`{"name":"p"}`)}
	must(t, json.Unmarshal([]byte(text), &fields))
	data, err := json.Marshal(fields)
	must(t, err)
	x, err := api.DecodeObject[T](data)
	must(t, err)
	return x
}

// Builders are values: chains from one base do not affect each other, nor do their
// objects.
func TestBuildersAreValues(t *testing.T) {
	base := api.MakePod("p").Labels("a", "1").Annotations("a", "1").Owner("Job", "j").Requests("1", "1Gi").Limits("1", "").HostPort(1).Gates("g").
		PodRequest("cpu", "1").Overhead("cpu", "1").Claim("c").InitContainer("i").Request("cpu", "1").Tolerates("t").NodeSelector("a", "1").
		NodeAffinity("a").PreferNodes(1, "a").PodAffinity("z", "a").PreferPodAffinity(1, "z", "a").PodAntiAffinity("z", "a").PreferPodAntiAffinity(1, "z", "a").
		Spread(1, "z", api.DoNotSchedule, "a").Condition("x", "True", time.Time{})
	before := base.Obj()
	change := func(b api.PodBuilder, s string) *api.Pod {
		return b.Labels("a", s, s, s).Annotations("a", s).Owner("Job", s).Request("cpu", "2").Limit("cpu", "2").HostPort(2).Image(s).Gates(s).
			PodRequest("cpu", "2").Overhead("cpu", "2").Claim(s).Tolerates(s).NodeSelector("a", s).NodeAffinity(s).PreferNodes(2, s).
			PodAffinity(s, s).PreferPodAffinity(2, s, s).PodAntiAffinity(s, s).PreferPodAntiAffinity(2, s, s).
			Spread(2, s, api.DoNotSchedule, s).Condition("y", "True", time.Time{}).InitContainer(s).Container(s).Sidecar(s).Obj()
	}
	x := change(base, "x")
	change(base, "y")
	if diff := cmp.Diff(before, base.Obj()); diff != "" {
		t.Errorf("the builder changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(x, change(base, "x")); diff != "" {
		t.Errorf("a chain was disturbed by another (-before +after):\n%s", diff)
	}
	x = base.Obj()
	x.Labels["a"] = "changed"
	x.Spec.Containers[0].Resources.Requests["cpu"] = quantities("cpu", "9")["cpu"]
	x.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Key = "changed"
	if diff := cmp.Diff(before, base.Obj()); diff != "" {
		t.Errorf("changing a pod changed its builder (-before +after):\n%s", diff)
	}

	node := api.MakeNode("n", "1", "1Gi").Taint("a:NoSchedule").Image("1", "a").Condition("a", "True")
	plain := node.Obj()
	node.Name("m").Labels("a", "b").Annotations("a", "b").Zone("z").Region("r").Resource("cpu", "2").Allocatable("memory", "2").Taint("b:NoSchedule").
		Image("2", "b").Condition("b", "True").Unschedulable()
	if diff := cmp.Diff(plain, node.Obj()); diff != "" {
		t.Errorf("the builder changed (-before +after):\n%s", diff)
	}
}

func TestBuildersPanic(t *testing.T) {
	odd := strings.Fields("a b c") // staticcheck refuses an odd length that it can see
	tests := []struct {
		name string
		call func()
		want string // if empty, the text comes from another package
	}{
		{"quantity", func() { api.MakePod("p").Requests("1x", "") }, ""},
		{"node quantity", func() { api.MakeNode("n", "4", "32 Gi") }, ""},
		{"image size", func() { api.MakeNode("n", "4", "").Image("big", "a") }, ""},
		{"odd labels", func() { api.MakePod("p").Labels(odd...) }, "api: Labels takes pairs of key and value, got 3 strings"},
		{"odd selector", func() { api.MakePod("p").NodeSelector(odd...) }, "api: NodeSelector takes pairs of key and value, got 3 strings"},
		{"taint without effect", func() { api.MakeNode("n", "4", "").Taint("gpu") }, `api: taint "gpu": want key=value:effect or key:effect, the effect being NoSchedule, PreferNoSchedule or NoExecute`},
		{"unknown effect", func() { api.MakePod("p").Tolerates("gpu:Never") }, `api: taint "gpu:Never": want key=value:effect or key:effect, the effect being NoSchedule, PreferNoSchedule or NoExecute`},
		{"taint without key", func() { api.MakeNode("n", "4", "").Taint("=a:NoSchedule") }, `api: taint "=a:NoSchedule" has no key`},
		{"selector", func() { api.MakePod("p").PodAffinity("zone", "a in b") }, `api: selector: "a in b": want a parenthesis, got "b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				got := recover()
				if got == nil {
					t.Error("no panic")
				}
				if tt.want != "" && got != tt.want {
					t.Errorf("panic %v, want %s", got, tt.want)
				}
			}()
			tt.call()
		})
	}
}

func BenchmarkMakePod(b *testing.B) {
	base := api.MakePod("web").Labels("app", "web").Requests("100m", "500Mi")
	b.ReportAllocs()
	for b.Loop() {
		base.Name("web-1").Obj()
	}
}
