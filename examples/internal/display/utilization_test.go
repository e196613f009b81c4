package display

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// fill puts one pod on each node, with the requests listed under the node's name.
func fill(t *testing.T, pods map[string]api.PodBuilder, nodes ...*api.Node) *framework.Snapshot {
	t.Helper()
	var o api.Objects
	o.Nodes = nodes
	for _, n := range nodes {
		if p, ok := pods[n.Name]; ok {
			o.Pods = append(o.Pods, p.Name("on-"+n.Name).Node(n.Name).Obj())
		}
	}
	snap, _, err := framework.SnapshotOf(&o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func TestUtilization(t *testing.T) {
	snap := fill(
		t,
		map[string]api.PodBuilder{
			"half": api.MakePod("").Requests("2", "1Gi"),
			"over": api.MakePod("").Requests("6", ""),
			"gpu":  api.MakePod("").Request("nvidia.com/gpu", "3"),
		},
		api.MakeNode("idle", "4", "4Gi").Obj(),
		api.MakeNode("half", "4", "4Gi").Obj(),
		api.MakeNode("gpu", "4", "4Gi").Resource("nvidia.com/gpu", "4").Resource("example.com/unused", "1").Obj(),
		api.MakeNode("over", "4", "").Obj(),
	)
	tests := []struct {
		name  string
		limit int
		want  string
	}{
		{"all", 4, `
NODE   PODS  CPU                        MEMORY                     NVIDIA.COM/GPU
(all)  3     ██████████··········  50%  ██··················   8%  ███████████████·····  75%
over   1     ████████████████████ 150%  -                          -
gpu    1     ····················   0%  ····················   0%  ███████████████·····  75%
half   1     ██████████··········  50%  █████···············  25%  -
idle   0     ····················   0%  ····················   0%  -
`},
		{"some", 1, `
NODE   PODS  CPU                        MEMORY                     NVIDIA.COM/GPU
(all)  3     ██████████··········  50%  ██··················   8%  ███████████████·····  75%
over   1     ████████████████████ 150%  -                          -
... and 3 more nodes

NODES BY USE  CPU                     MEMORY                  NVIDIA.COM/GPU
0-10%         ████████████████████ 2  ████████████████████ 2  ···················· 0
10-20%        ···················· 0  ···················· 0  ···················· 0
20-30%        ···················· 0  ██████████·········· 1  ···················· 0
30-40%        ···················· 0  ···················· 0  ···················· 0
40-50%        ···················· 0  ···················· 0  ···················· 0
50-60%        ██████████·········· 1  ···················· 0  ···················· 0
60-70%        ···················· 0  ···················· 0  ···················· 0
70-80%        ···················· 0  ···················· 0  ████████████████████ 1
80-90%        ···················· 0  ···················· 0  ···················· 0
90-100%       ···················· 0  ···················· 0  ···················· 0
over 100%     ██████████·········· 1  ···················· 0  ···················· 0
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			if err := Utilization(&b, snap, test.limit); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), b.String()); diff != "" {
				t.Errorf("utilization (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUtilizationOfNothing checks a cluster without nodes.
func TestUtilizationOfNothing(t *testing.T) {
	var b strings.Builder
	if err := Utilization(&b, fill(t, nil), 10); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "NODE   PODS  CPU  MEMORY\n(all)  0     -    -\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// TestManyResources checks that the table has no more columns than fit a screen.
func TestManyResources(t *testing.T) {
	node, pod := api.MakeNode("n", "1", "1Gi"), api.MakePod("")
	for i := range 5 {
		name := fmt.Sprintf("example.com/r%d", i)
		node, pod = node.Resource(resource.Name(name), "1"), pod.Request(resource.Name(name), "1")
	}
	var b strings.Builder
	if err := Utilization(&b, fill(t, map[string]api.PodBuilder{"n": pod}, node.Obj()), 10); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "R1\n") || strings.Contains(b.String(), "R2") {
		t.Errorf("columns are not cpu, memory, r0 and r1:\n%s", b.String())
	}
}
