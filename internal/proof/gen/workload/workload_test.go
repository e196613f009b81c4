//go:build full

package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

// field returns the value at a dotted path of an object's JSON.
func field(t *testing.T, object any, path string) any {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, "|") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			if len(x) != 1 {
				t.Fatalf("%s: list of %d, want 1", path, len(x))
			}
			v = x[0].(map[string]any)[key]
		default:
			return nil
		}
	}
	return v
}

// Other systems read the JSON, so the test checks the JSON.
func TestObjects(t *testing.T) {
	const (
		nodeTerms = "spec|affinity|nodeAffinity|requiredDuringSchedulingIgnoredDuringExecution|nodeSelectorTerms|matchExpressions|"
		attract   = "spec|affinity|podAffinity|preferredDuringSchedulingIgnoredDuringExecution|podAffinityTerm|"
		repel     = "spec|affinity|podAntiAffinity|preferredDuringSchedulingIgnoredDuringExecution|podAffinityTerm|"
		exclude   = "spec|affinity|podAntiAffinity|requiredDuringSchedulingIgnoredDuringExecution|"
		spread    = "spec|topologySpreadConstraints|"
	)
	for _, c := range []struct {
		name, path string
		object     any
		want       any
	}{
		{"node name", "metadata|name", Node(37), "node-00037"},
		{"node labels", "metadata|labels", Node(37), map[string]any{
			"kubernetes.io/hostname": "node-00037", "topology.kubernetes.io/zone": "zone-7", "topology.kubernetes.io/region": "region-0",
		}},
		{"node resources", "status|allocatable", Node(0), map[string]any{"cpu": "4", "memory": "32Gi", "pods": "110"}},
		{"init name", "metadata|name", InitPod(12, 10), "init-000012"},
		{"init node", "spec|nodeName", InitPod(12, 10), "node-00002"},
		{"init label", "metadata|labels", InitPod(12, 10), map[string]any{"app": "init"}},
		{"pod name", "metadata|name", Pod(Basic, 3), "basic-000003"},
		{"pod namespace", "metadata|namespace", Pod(Basic, 3), "default"},
		{"pod requests", "spec|containers|resources|requests", Pod(Basic, 3), map[string]any{"cpu": "100m", "memory": "500Mi"}},
		{"pod image", "spec|containers|image", Pod(Basic, 3), "registry.k8s.io/pause:3.10"},
		{"basic", "spec|affinity", Pod(Basic, 3), nil},
		{"node affinity", nodeTerms + "values", Pod(NodeAffinity, 0), []any{"zone-0", "zone-1", "zone-2", "zone-3", "zone-4"}},
		{"hard spreading", spread + "whenUnsatisfiable", Pod(SpreadHard, 0), "DoNotSchedule"},
		{"soft spreading", spread + "whenUnsatisfiable", Pod(SpreadSoft, 0), "ScheduleAnyway"},
		{"skew", spread + "maxSkew", Pod(SpreadSoft, 0), 5.0},
		{"spread selector", spread + "labelSelector|matchLabels", Pod(SpreadSoft, 0), map[string]any{"app": "spread-soft"}},
		{"attraction", attract + "labelSelector|matchLabels", Pod(PrefAffinity, 0), map[string]any{"app": "pref-affinity"}},
		{"repulsion", repel + "topologyKey", Pod(PrefAntiAffinity, 0), "kubernetes.io/hostname"},
		{"group", "metadata|labels|group", Pod(ReqAntiAffinity, 57), "g7"},
		{"exclusion", exclude + "labelSelector|matchLabels", Pod(ReqAntiAffinity, 57), map[string]any{"group": "g7"}},
		{"turn 0", "metadata|labels|app", Pod(Mixed, 7), "basic"},
		{"turn 6", "metadata|name", Pod(Mixed, 13), "req-antiaffinity-000013"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, field(t, c.object, c.path)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.path, diff)
			}
		})
	}
}

func TestDecodes(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			for i := range 7 {
				p := Pod(k, i)
				data, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				got, err := api.DecodeObject[api.Pod](data)
				if err != nil {
					t.Fatal(err)
				}
				again, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(data), string(again)); diff != "" {
					t.Errorf("pod %d after a round trip (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	for _, k := range Kinds() {
		if got, err := Parse(string(k)); got != k || err != nil {
			t.Errorf("Parse(%q) = %q, %v", k, got, err)
		}
	}
	if _, err := Parse("web"); err == nil || !strings.Contains(err.Error(), "spread-hard") {
		t.Errorf("Parse(web): error %v, want one that lists the names", err)
	}
}
