package framework_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// podOf reads the spec and status of a pod named "p".
func podOf(t testing.TB, text string) *api.Pod {
	t.Helper()
	var p api.Pod
	must(t, json.Unmarshal([]byte(text), &p))
	p.Name, p.Namespace = "p", "default"
	return &p
}

// amounts returns the quantities as canonical text.
func amounts(l resource.List) map[string]string {
	texts := map[string]string{}
	for name, q := range l {
		texts[string(name)] = q.String()
	}
	return texts
}

func TestPodRequestsOfSpec(t *testing.T) {
	tests := []struct {
		name string
		pod  string
		opts api.RequestOptions
		want map[string]string
	}{
		{
			name: "containers add up",
			pod: `{"spec":{"containers":[
				{"name":"a","resources":{"requests":{"cpu":"100m","memory":"1Gi"}}},
				{"name":"b","resources":{"requests":{"cpu":"0.2","example.com/gpu":"1"}}}]}}`,
			want: map[string]string{"cpu": "300m", "memory": "1Gi", "example.com/gpu": "1"},
		},
		{
			name: "limits are not requests",
			pod:  `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}}`,
			want: map[string]string{},
		},
		{
			name: "the largest init container counts where it is larger, resource by resource",
			pod: `{"spec":{
				"initContainers":[
					{"name":"i","resources":{"requests":{"cpu":"2","memory":"1Gi"}}},
					{"name":"j","resources":{"requests":{"cpu":"1","memory":"3Gi"}}}],
				"containers":[{"name":"a","resources":{"requests":{"cpu":"1500m","memory":"4Gi"}}}]}}`,
			want: map[string]string{"cpu": "2", "memory": "4Gi"},
		},
		{
			name: "a sidecar runs beside the containers",
			pod: `{"spec":{
				"initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
				"containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]}}`,
			want: map[string]string{"cpu": "3"},
		},
		{
			name: "an init container runs beside the sidecars before it only",
			pod: `{"spec":{
				"initContainers":[
					{"name":"s1","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
					{"name":"i","resources":{"requests":{"cpu":"5"}}},
					{"name":"s2","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],
				"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`,
			want: map[string]string{"cpu": "6"}, // 1+5 while i runs; 1+2+1 afterwards
		},
		{
			name: "sidecars that start one after the other add up",
			pod: `{"spec":{
				"initContainers":[
					{"name":"i","resources":{"requests":{"cpu":"2"}}},
					{"name":"s1","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
					{"name":"s2","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],
				"containers":[{"name":"a","resources":{"requests":{"cpu":"100m"}}}]}}`,
			want: map[string]string{"cpu": "3100m"},
		},
		{
			name: "overhead is added at the end",
			pod: `{"spec":{
				"initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}],
				"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
				"overhead":{"cpu":"250m","memory":"120Mi"}}}`,
			want: map[string]string{"cpu": "2250m", "memory": "120Mi"},
		},
		{
			name: "pod-level requests replace the sum, be they smaller",
			pod: `{"spec":{
				"containers":[{"name":"a","resources":{"requests":{"cpu":"4","memory":"1Gi","example.com/gpu":"1"}}}],
				"resources":{"requests":{"cpu":"2","hugepages-2Mi":"4Mi","example.com/gpu":"8"}},
				"overhead":{"cpu":"100m"}}}`,
			opts: api.RequestOptions{PodLevel: true},
			want: map[string]string{"cpu": "2100m", "memory": "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "1"},
		},
		{
			name: "pod-level requests are not asked for",
			pod: `{"spec":{
				"containers":[{"name":"a","resources":{"requests":{"cpu":"4"}}}],
				"resources":{"requests":{"cpu":"2"}}}}`,
			want: map[string]string{"cpu": "4"},
		},
		{
			name: "a container without a request counts as the default, an explicit 0 as 0",
			pod: `{"spec":{"containers":[
				{"name":"a","resources":{"requests":{"memory":"1Gi"}}},
				{"name":"b","resources":{"requests":{"cpu":"0"}}},
				{"name":"c"}]}}`,
			opts: api.RequestOptions{NonZero: true},
			want: map[string]string{"cpu": "200m", "memory": "1424Mi"}, // 1 GiB + 2 * 200 MiB
		},
		{
			name: "init containers get the default too",
			pod: `{"spec":{
				"initContainers":[{"name":"i","resources":{"requests":{"cpu":"50m"}}}],
				"containers":[{"name":"a","resources":{"requests":{"cpu":"10m","memory":"1Mi"}}}]}}`,
			opts: api.RequestOptions{NonZero: true},
			want: map[string]string{"cpu": "50m", "memory": "200Mi"},
		},
		{
			name: "with pod-level requests the default is for what nobody requests",
			pod: `{"spec":{
				"containers":[{"name":"a","resources":{"requests":{"memory":"1Mi"}}},{"name":"b"}],
				"resources":{"requests":{"hugepages-2Mi":"2Mi"}}}}`,
			opts: api.RequestOptions{PodLevel: true, NonZero: true},
			want: map[string]string{"cpu": "200m", "memory": "1Mi", "hugepages-2Mi": "2Mi"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := amounts(api.PodRequests(podOf(t, test.pod), test.opts))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("PodRequests(%+v) (-want +got):\n%s", test.opts, diff)
			}
		})
	}
}

func TestPodRequestsWithStatus(t *testing.T) {
	tests := []struct {
		name string
		pod  string
		want map[string]string
	}{
		{
			name: "no status: the spec",
			pod:  `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`,
			want: map[string]string{"cpu": "1"},
		},
		{
			name: "the largest of spec, allocated and in force, of the sums",
			pod: `{"spec":{"containers":[
					{"name":"a","resources":{"requests":{"cpu":"1","memory":"8Gi"}}},
					{"name":"b","resources":{"requests":{"cpu":"1"}}}]},
				"status":{"containerStatuses":[
					{"name":"a","allocatedResources":{"cpu":"3","memory":"1Gi"},"resources":{"requests":{"cpu":"500m"}}},
					{"name":"b","allocatedResources":{"cpu":"500m"},"resources":{"requests":{"cpu":"2"}}}]}}`,
			want: map[string]string{"cpu": "3500m", "memory": "8Gi"}, // cpu 2 | 3.5 | 2.5
		},
		{
			name: "what is in force falls back to what was allocated, and that to the spec",
			pod: `{"spec":{"containers":[
					{"name":"a","resources":{"requests":{"cpu":"1"}}},
					{"name":"b","resources":{"requests":{"cpu":"2"}}}]},
				"status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"4"}}]}}`,
			want: map[string]string{"cpu": "6"},
		},
		{
			name: "an infeasible resize: the spec does not count",
			pod: `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]},
				"status":{
					"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],
					"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"2"}}}]}}`,
			want: map[string]string{"cpu": "2"},
		},
		{
			name: "a deferred resize: the spec counts",
			pod: `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]},
				"status":{
					"conditions":[{"type":"PodResizePending","status":"True","reason":"Deferred"}],
					"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1"}}]}}`,
			want: map[string]string{"cpu": "9"},
		},
		{
			name: "an infeasible resize of a container that nothing is known of",
			pod: `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}],"overhead":{"cpu":"1"}},
				"status":{"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}]}}`,
			want: map[string]string{"cpu": "1"},
		},
		{
			name: "init containers have their own statuses",
			pod: `{"spec":{
					"initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
					"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
				"status":{"initContainerStatuses":[{"name":"s","allocatedResources":{"cpu":"2"}}]}}`,
			want: map[string]string{"cpu": "3"},
		},
		{
			name: "what the node says of the pod as a whole stands for the containers",
			pod: `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"3Gi"}}}]},
				"status":{
					"allocatedResources":{"cpu":"2"},
					"resources":{"requests":{"cpu":"1500m","memory":"1Gi"}},
					"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"7","memory":"7Gi"}}]}}`,
			want: map[string]string{"cpu": "2", "memory": "3Gi"},
		},
		{
			name: "half of that is not enough",
			pod: `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
				"status":{
					"allocatedResources":{"cpu":"2"},
					"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"7"}}]}}`,
			want: map[string]string{"cpu": "7"},
		},
		{
			name: "pod-level requests: the largest of spec, allocated and in force",
			pod: `{"spec":{
					"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}],
					"resources":{"requests":{"cpu":"1","memory":"3Gi"}}},
				"status":{"allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"1500m","memory":"1Gi"}}}}`,
			want: map[string]string{"cpu": "2", "memory": "3Gi"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := amounts(api.PodRequests(podOf(t, test.pod), api.RequestOptions{PodLevel: true, Status: true}))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("PodRequests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPodInfoRequests checks which way of counting each vector of a PodInfo
// follows, with a pod for which all of them differ.
func TestPodInfoRequests(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	info := podInfo(t, s, podOf(t, `{
		"spec":{
			"containers":[
				{"name":"a","resources":{"requests":{"cpu":"1","ephemeral-storage":"1","example.com/gpu":"2","unknown":"5"}}},
				{"name":"b"}],
			"resources":{"requests":{"cpu":"1200m"}},
			"overhead":{"cpu":"1n"}},
		"status":{"resources":{"requests":{"cpu":"3"}}}}`))
	const mebi = 1 << 20
	for _, test := range []struct {
		name      string
		got, want resource.Vector
	}{
		{"Requests", info.Requests, resource.Vector{1201, 0, 1, 2}},
		{"UsedRequests", info.UsedRequests, resource.Vector{3001, 0, 1, 2}},
		{"ScoredRequests", info.ScoredRequests, resource.Vector{1101, 400 * mebi, 1, 2}},
		{"UsedNonZero", info.UsedNonZero[:], resource.Vector{3001, 400 * mebi}},
	} {
		if !test.got.Equal(test.want) {
			t.Errorf("%s = %v, want %v", test.name, test.got, test.want)
		}
	}
}
