package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestDefaultPodRequests(t *testing.T) {
	tests := []struct {
		name             string
		requests, limits resource.List
		want             resource.List
	}{
		{"nothing", nil, nil, nil},
		{"only requests", quantities("cpu", "1"), nil, quantities("cpu", "1")},
		{"only limits", nil, quantities("cpu", "1", "nvidia.com/gpu", "2"), quantities("cpu", "1", "nvidia.com/gpu", "2")},
		{"both", quantities("cpu", "1"), quantities("cpu", "2", "memory", "1Gi"), quantities("cpu", "1", "memory", "1Gi")},
		{"a request of 0 stays", quantities("cpu", "0"), quantities("cpu", "2"), quantities("cpu", "0")},
		{"rounded up to thousandths", quantities("cpu", "1500u", "memory", "3"), quantities("x.io/y", "1n"), quantities("cpu", "2m", "memory", "3", "x.io/y", "1m")},
		{"too large to count in thousandths", quantities("memory", "9223372036854775807"), nil, quantities("memory", "9223372036854775807")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := api.Container{Resources: api.ResourceRequirements{Requests: tt.requests, Limits: tt.limits}}
			before := tt.requests.Clone()
			p := &api.Pod{Spec: api.PodSpec{Containers: []api.Container{c}, InitContainers: []api.Container{c}}}
			must(t, api.DefaultPod(p, nil))
			if diff := cmp.Diff(tt.want, p.Spec.Containers[0].Resources.Requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, p.Spec.InitContainers[0].Resources.Requests); diff != "" {
				t.Errorf("requests of the init container (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.requests); diff != "" {
				t.Errorf("the map given was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestDefaultPodLevel(t *testing.T) {
	two := api.MakePod("p").Requests("1", "1Gi").Limits("2", "").Container("b").Requests("500m", "").Limits("3", "1Gi")
	tests := []struct {
		name             string
		pod              api.PodBuilder
		requests, limits resource.List // of the pod as a whole
		want             *api.ResourceRequirements
	}{
		{"none", two, nil, nil, nil},
		{
			// CPU and memory requests come from the containers: 1+0.5 and 1Gi+1Gi
			// (b's limit). No limit of memory: the first container has none.
			"only a limit of CPU", two, nil, quantities("cpu", "4"),
			&api.ResourceRequirements{Requests: quantities("cpu", "1500m", "memory", "2Gi"), Limits: quantities("cpu", "4")},
		},
		{
			// The limit of CPU comes from the containers, 2+3.
			"only a request of CPU", two, quantities("cpu", "1"), nil,
			&api.ResourceRequirements{Requests: quantities("cpu", "1", "memory", "2Gi"), Limits: quantities("cpu", "5")},
		},
		{
			"a request above the containers' limits", two, quantities("cpu", "7"), nil,
			&api.ResourceRequirements{Requests: quantities("cpu", "7", "memory", "2Gi"), Limits: quantities("cpu", "7")},
		},
		{
			"limits where containers say nothing", api.MakePod("p"), nil, quantities("cpu", "4", "x.io/y", "2"),
			&api.ResourceRequirements{Requests: quantities("cpu", "4"), Limits: quantities("cpu", "4", "x.io/y", "2")},
		},
		{
			"huge pages", api.MakePod("p").Limit("hugepages-2Mi", "4Mi"), quantities("cpu", "1"), nil,
			&api.ResourceRequirements{Requests: quantities("cpu", "1", "hugepages-2Mi", "4Mi"), Limits: quantities("hugepages-2Mi", "4Mi")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.pod.Obj()
			if tt.requests != nil || tt.limits != nil {
				p.Spec.Resources = &api.ResourceRequirements{Requests: tt.requests, Limits: tt.limits}
			}
			must(t, api.DefaultPod(p, nil))
			if diff := cmp.Diff(tt.want, p.Spec.Resources); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultPodPriority(t *testing.T) {
	class := func(name string, value int32, global bool, policy *api.PreemptionPolicy) *api.PriorityClass {
		return &api.PriorityClass{ObjectMeta: api.ObjectMeta{Name: name}, Value: value, GlobalDefault: global, PreemptionPolicy: policy}
	}
	classes := []*api.PriorityClass{class("high", 1000, false, new(api.PreemptNever)), class("low", 10, false, nil)}
	global := append(classes, class("usual", 100, true, nil), class("usual-too", 50, true, new(api.PreemptNever)))
	pod := api.MakePod("p")
	tests := []struct {
		name     string
		pod      api.PodBuilder
		classes  []*api.PriorityClass
		class    string
		priority int32
		policy   api.PreemptionPolicy
	}{
		{"no class", pod, classes, "", 0, "PreemptLowerPriority"},
		{"named", pod.PriorityClass("high"), classes, "high", 1000, "Never"},
		{"named, no policy", pod.PriorityClass("low"), classes, "low", 10, "PreemptLowerPriority"},
		{"the lowest global default", pod, global, "usual-too", 50, "Never"},
		{"named among global defaults", pod.PriorityClass("low"), global, "low", 10, "PreemptLowerPriority"},
		{"own policy", pod.PriorityClass("high").Preemption("PreemptLowerPriority"), classes, "high", 1000, "PreemptLowerPriority"},
		{"own priority", pod.Priority(7).Preemption("Never").PriorityClass("unknown"), global, "unknown", 7, "Never"},
		{"system-cluster-critical", pod.PriorityClass("system-cluster-critical"), nil, "system-cluster-critical", 2_000_000_000, "PreemptLowerPriority"},
		{"system-node-critical", pod.PriorityClass("system-node-critical"), nil, "system-node-critical", 2_000_001_000, "PreemptLowerPriority"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.pod.Obj()
			must(t, api.DefaultPod(p, tt.classes))
			s := p.Spec
			if s.PriorityClassName != tt.class || *s.Priority != tt.priority || *s.PreemptionPolicy != tt.policy {
				t.Errorf("class %q, priority %d, policy %s; want %q, %d, %s",
					s.PriorityClassName, *s.Priority, *s.PreemptionPolicy, tt.class, tt.priority, tt.policy)
			}
		})
	}

	t.Run("unknown class", func(t *testing.T) {
		o := &api.Objects{Pods: []*api.Pod{pod.Limits("1", "").Obj(), pod.PriorityClass("none").Obj()}}
		err := o.Default()
		const want = `pod default/p: spec.priorityClassName: "none": there is no such priority class`
		if err == nil || err.Error() != want {
			t.Errorf("Default() = %v, want %s", err, want)
		}
		if !errors.As(err, new(*api.InvalidError)) {
			t.Errorf("error is a %T", err)
		}
		if diff := cmp.Diff(pod.Limits("1", "").Obj(), o.Pods[0]); diff != "" {
			t.Errorf("the other pod was changed (-before +after):\n%s", diff)
		}
		if err := api.DefaultPod(o.Pods[1], nil); err == nil || err.Error() != want {
			t.Errorf("DefaultPod() = %v, want %s", err, want)
		}
	})
}

func TestDefaultPodHostPorts(t *testing.T) {
	ports := api.MakePod("p").Port(api.ContainerPort{ContainerPort: 80}).Port(api.ContainerPort{ContainerPort: 81, HostPort: 8081})
	host := func(p *api.Pod) []int32 {
		var list []int32
		for _, port := range p.Spec.Containers[0].Ports {
			list = append(list, port.HostPort)
		}
		return list
	}
	p := ports.Obj()
	must(t, api.DefaultPod(p, nil))
	if diff := cmp.Diff([]int32{0, 8081}, host(p)); diff != "" {
		t.Errorf("host ports outside the host's network (-want +got):\n%s", diff)
	}
	p.Spec.HostNetwork = true
	must(t, api.DefaultPod(p, nil))
	if diff := cmp.Diff([]int32{80, 8081}, host(p)); diff != "" {
		t.Errorf("host ports in the host's network (-want +got):\n%s", diff)
	}
}

func TestDefaultPodAffinity(t *testing.T) {
	selector := func(reqs ...api.LabelSelectorRequirement) *api.LabelSelector {
		return &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: reqs}
	}
	in := api.LabelSelectorRequirement{Key: "hash", Operator: "In", Values: []string{"h1"}}
	notIn := api.LabelSelectorRequirement{Key: "tier", Operator: "NotIn", Values: []string{"front"}}
	tests := []struct {
		name string
		term api.PodAffinityTerm
		want *api.LabelSelector
	}{
		{"no keys", api.PodAffinityTerm{LabelSelector: selector()}, selector()},
		{"matchLabelKeys", api.PodAffinityTerm{LabelSelector: selector(), MatchLabelKeys: []string{"hash"}}, selector(in)},
		{"mismatchLabelKeys", api.PodAffinityTerm{LabelSelector: selector(), MismatchLabelKeys: []string{"tier"}}, selector(notIn)},
		{"both", api.PodAffinityTerm{LabelSelector: selector(), MismatchLabelKeys: []string{"tier"}, MatchLabelKeys: []string{"hash"}}, selector(in, notIn)},
		{"merged before", api.PodAffinityTerm{LabelSelector: selector(in), MatchLabelKeys: []string{"hash"}}, selector(in)},
		{"no such label", api.PodAffinityTerm{LabelSelector: selector(), MatchLabelKeys: []string{"other", "hash"}}, selector(in)},
		{"no selector", api.PodAffinityTerm{MatchLabelKeys: []string{"hash"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := []api.PodAffinityTerm{tt.term}
			weighted := []api.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: tt.term}}
			shared := &api.Affinity{
				PodAffinity: &api.PodAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: list, PreferredDuringSchedulingIgnoredDuringExecution: weighted,
				},
				PodAntiAffinity: &api.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: list, PreferredDuringSchedulingIgnoredDuringExecution: weighted,
				},
			}
			before := api.Clone(&api.Pod{Spec: api.PodSpec{Affinity: shared}})
			p := api.MakePod("p").Labels("hash", "h1", "tier", "front").Obj()
			p.Spec.Affinity = shared
			must(t, api.DefaultPod(p, nil))
			a := p.Spec.Affinity
			for where, got := range map[string]*api.LabelSelector{
				"required affinity":       a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector,
				"preferred affinity":      a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector,
				"required anti-affinity":  a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector,
				"preferred anti-affinity": a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector,
			} {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", where, diff)
				}
			}
			if diff := cmp.Diff(before.Spec.Affinity, shared); diff != "" {
				t.Errorf("affinity that may be shared was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestDefaultObjects(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	class := func(name string, created time.Time, annotation string) *api.StorageClass {
		c := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name, CreationTimestamp: created}}
		if annotation != "" {
			c.Annotations = map[string]string{annotation: "true"}
		}
		return c
	}
	const isDefault = "storageclass.kubernetes.io/is-default-class"
	capacity := quantities("cpu", "4", "pods", "110")
	claim := api.PersistentVolumeClaimSpec{}
	bound := api.PersistentVolumeClaimSpec{VolumeName: "v"}
	named := api.PersistentVolumeClaimSpec{StorageClassName: new("")}
	o := &api.Objects{
		Pods: []*api.Pod{api.MakePod("p").Volume(api.Volume{VolumeSource: api.VolumeSource{RBD: &api.RBDVolumeSource{}}}).Obj()},
		Nodes: []*api.Node{
			{Status: api.NodeStatus{Capacity: capacity}},
			{Status: api.NodeStatus{Capacity: capacity, Allocatable: quantities("cpu", "3")}},
			{},
		},
		Namespaces:             []*api.Namespace{{ObjectMeta: api.ObjectMeta{Name: "shop"}}},
		ReplicationControllers: []*api.ReplicationController{{Spec: api.ReplicationControllerSpec{Template: &api.PodTemplateSpec{ObjectMeta: api.ObjectMeta{Labels: map[string]string{"a": "b"}}}}}},
		StorageClasses: []*api.StorageClass{
			class("newest", day(9), ""), class("old", day(1), isDefault), class("b", day(2), isDefault),
			class("a", day(2), "storageclass.beta.kubernetes.io/is-default-class"),
		},
		PersistentVolumeClaims: []*api.PersistentVolumeClaim{
			{Spec: claim},
			{Spec: bound},
			{Spec: named},
			{ObjectMeta: api.ObjectMeta{Annotations: map[string]string{"volume.beta.kubernetes.io/storage-class": "x"}}, Spec: claim},
		},
		PersistentVolumes: []*api.PersistentVolume{
			{Spec: api.PersistentVolumeSpec{PersistentVolumeSource: api.PersistentVolumeSource{RBD: &api.RBDPersistentVolumeSource{}}}},
			{Spec: api.PersistentVolumeSpec{PersistentVolumeSource: api.PersistentVolumeSource{RBD: &api.RBDPersistentVolumeSource{RBDPool: "fast"}}}},
		},
	}
	must(t, o.Default())

	check := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("scheduler", "default-scheduler", o.Pods[0].Spec.SchedulerName)
	check("pool of a pod's volume", "rbd", o.Pods[0].Spec.Volumes[0].RBD.RBDPool)
	check("allocatable of a node without", capacity, o.Nodes[0].Status.Allocatable)
	check("allocatable of a node with some", quantities("cpu", "3"), o.Nodes[1].Status.Allocatable)
	check("allocatable of an empty node", resource.List(nil), o.Nodes[2].Status.Allocatable)
	check("namespace labels", map[string]string{"kubernetes.io/metadata.name": "shop"}, o.Namespaces[0].Labels)
	check("selector", map[string]string{"a": "b"}, o.ReplicationControllers[0].Spec.Selector)
	check("binding mode", new(api.VolumeBindingImmediate), o.StorageClasses[0].VolumeBindingMode)
	for i, want := range []*string{new("a"), nil, new(""), nil} {
		check("storage class of a claim", want, o.PersistentVolumeClaims[i].Spec.StorageClassName)
	}
	check("pool", "rbd", o.PersistentVolumes[0].Spec.RBD.RBDPool)
	check("pool", "fast", o.PersistentVolumes[1].Spec.RBD.RBDPool)
}

// A second call changes nothing, and data shared with another pod stays unchanged.
func TestDefaultPodIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := new(api.Pod)
		drawPod(t, p)
		p.Spec.PriorityClassName = ""
		original := api.Clone(p)
		shared := *p
		if err := api.DefaultPod(&shared, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(original, p); diff != "" {
			t.Fatalf("a pod that shares with the defaulted one was changed (-before +after):\n%s", diff)
		}
		once := api.Clone(&shared)
		if err := api.DefaultPod(&shared, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once, &shared); diff != "" {
			t.Fatalf("after the second time (-first +second):\n%s", diff)
		}
	})
}
