package framework_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// tooSmall rejects every node, and says by how much it is too small.
type tooSmall struct{}

func (tooSmall) Name() string { return "TooSmall" }

func (tooSmall) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("Insufficient cpu")
}

func (tooSmall) Details(pod *framework.PodInfo, node *framework.NodeInfo) []framework.Detail {
	return []framework.Detail{{
		Subject: "cpu", Unit: framework.UnitMilli, Asked: 30000, Used: 21000, Limit: 32000,
		Facts: []framework.Fact{{Name: "pods", Value: 12}},
	}}
}

func ExampleDetailer() {
	var filter framework.Detailer = tooSmall{}
	for _, d := range filter.Details(nil, nil) {
		text, _ := json.Marshal(d)
		fmt.Println(d)
		fmt.Println(string(text))
	}
	// Output:
	// cpu: asked 30, free 11 of 32, pods 12
	// {"subject":"cpu","unit":"m","asked":30000,"used":21000,"limit":32000,"facts":[{"name":"pods","value":12}]}
}

func TestDetailText(t *testing.T) {
	tests := []struct {
		detail framework.Detail
		want   string
	}{
		{framework.Detail{Subject: "taint gpu:NoSchedule"}, "taint gpu:NoSchedule"},
		{framework.Detail{Subject: "memory", Unit: framework.UnitBytes, Asked: 10<<30 + 1, Used: 1, Limit: 32386664 << 10}, "memory: asked 10240Mi, free 31627.601Mi of 31627.601Mi"},
		{framework.Detail{Subject: "memory", Unit: framework.UnitBytes, Asked: 512, Used: 3<<20 + 1<<19, Limit: 1 << 20}, "memory: asked 512, free -2.5Mi of 1Mi"},
		{framework.Detail{Subject: "memory", Unit: framework.UnitBytes, Asked: 3 << 30, Used: 1 << 30, Limit: 2 << 30}, "memory: asked 3Gi, free 1Gi of 2Gi"},
		{framework.Detail{Subject: "x", Asked: 1, Used: 9, Limit: 4}, "x: asked 1, free -5 of 4"},
		{
			framework.Detail{Subject: "metric expired", Facts: []framework.Fact{{Name: "age", Value: 40, Unit: framework.UnitSeconds}, {Name: "usage", Value: 71, Unit: framework.UnitPercent}}},
			"metric expired, age 40 s, usage 71 %",
		},
		{framework.Detail{Subject: "odd", Asked: 1, Used: 9223372036854775807, Limit: -9223372036854775808}, "odd: asked 1, free -9223372036854775808 of -9223372036854775808"},
	}
	for _, test := range tests {
		if got := test.detail.String(); got != test.want {
			t.Errorf("%#v.String() = %q, want %q", test.detail, got, test.want)
		}
	}
	for name, want := range map[string]framework.Unit{"cpu": "m", "memory": "bytes", "hugepages-2Mi": "bytes", "pods": "pods", "example.com/gpu": ""} {
		if got := framework.UnitOf(resource.Name(name)); got != want {
			t.Errorf("UnitOf(%s) = %q, want %q", name, got, want)
		}
	}
}
