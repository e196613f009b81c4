//go:build full

package input

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/simulate"
)

const (
	openBNodes = "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\r\nn2,64000,262144,0,\n"
	openBTable = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
		"p1,12000,16384,2,460,,LS,Running,0,12537496,0\n" +
		"p2,6000,12288,0,0,,BE,Failed,1,2,\n" +
		"p3,100,1,1,1000,V100M16|V100M32,LS,Pending,3,4,\n"
)

func TestOpenB(t *testing.T) {
	var c Cluster
	for _, text := range []string{openBNodes, openBTable} {
		if err := c.Read("f.csv", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	snap, pending, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	gpu, ok := snap.Schema().Index("alibabacloud.com/gpu-milli")
	if !ok {
		t.Fatal("no resource alibabacloud.com/gpu-milli")
	}
	type amounts struct {
		Name             string
		CPU, Memory, GPU int64
	}
	of := func(name string, v resource.Vector) amounts {
		return amounts{name, v.At(resource.IndexCPU), v.At(resource.IndexMemory), v.At(gpu)}
	}
	var got []amounts
	for _, n := range snap.All() {
		got = append(got, of(n.Name(), n.Allocatable))
	}
	for _, p := range pending {
		got = append(got, of(p.Pod.Name, p.Requests))
	}
	want := []amounts{
		{"n1", 96000, 393216 << 20, 8000},
		{"n2", 64000, 262144 << 20, 0},
		{"p1", 12000, 16384 << 20, 920},
		{"p2", 6000, 12288 << 20, 0},
		{"p3", 100, 1 << 20, 1000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("amounts (-want +got):\n%s", diff)
	}
	if got := snap.Node("n1").AllowedPods; got != 1001 {
		t.Errorf("node n1 takes %d pods, want 1001", got)
	}
	if got := snap.Node("n1").Node.Labels["alibabacloud.com/gpu-card-model"]; got != "G2" {
		t.Errorf("model of node n1 = %q, want G2", got)
	}
	terms := pending[2].Pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if diff := cmp.Diff([]string{"V100M16", "V100M32"}, terms[0].MatchExpressions[0].Values); diff != "" {
		t.Errorf("models of pod p3 (-want +got):\n%s", diff)
	}
}

func TestOpenBErrors(t *testing.T) {
	const header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
	tests := []struct{ name, text, want string }{
		{"letters", header + "p,1,2,0,0\nq,1x,2,0,0\n", `f: line 3: pod default/q: cpu_milli: "1x": want a whole number from 0 to 2147483647`},
		{"negative", header + "p,1,-2,0,0\n", `f: line 2: pod default/p: memory_mib: "-2": want`},
		{"large", header + "p,1,2,2147483648,0\n", `f: line 2: pod default/p: num_gpu: "2147483648": want`},
		{"empty", header + "p,1,2,0,\n", `f: line 2: pod default/p: gpu_milli: want`},
		{"node", "sn,cpu_milli,memory_mib,gpu\nn,1,2,many\n", `f: line 2: node n: gpu: "many": want`},
		{"no name", header + ",1,2,0,0\n", `f: line 2: name: is missing`},
		{"no column", "name,cpu_milli,memory_mib\np,1,2\n", `f: line 1: columns: "name,cpu_milli,memory_mib": there is no num_gpu, gpu_milli; a table of pods has the columns name,cpu_milli,memory_mib,num_gpu,gpu_milli`},
		{"no column of nodes", "sn,cpu_milli,gpu\nn,1,2\n", `f: line 1: columns: "sn,cpu_milli,gpu": there is no memory_mib; a table of nodes has the columns sn,cpu_milli,memory_mib,gpu`},
		{"nodes without names", "cpu_milli,memory_mib,gpu\n1,2,3\n", `f: line 1: columns: "cpu_milli,memory_mib,gpu": there is no sn; a table of nodes has`},
		{"neither", "id,num_gpu\n1,2\n", `f: line 1: columns: "id,num_gpu": there is no name, cpu_milli, memory_mib, gpu_milli; a table of pods has`},
		{"quote", header + "$\"\n", `f: `},
		{"short row", header + "p,1\n", `f: line 2: 2 fields, want 5, as many as columns in line 1`},
		{"a share of no GPU", header + "p,1,2,0,500\n", `f: line 2: pod default/p: gpu_milli: "500": num_gpu is 0`},
		{"more than a GPU", header + "p,1,2,1,1001\n", `f: line 2: pod default/p: gpu_milli: "1001": want thousandths of each GPU, at most 1000`},
		{"a model with a space", strings.TrimSpace(header) + ",gpu_spec\np,1,2,1,1000,G2| T4\n", `f: line 2: pod default/p: gpu_spec: "G2| T4": want names of models, with | between them`},
		{"an empty model", strings.TrimSpace(header) + ",gpu_spec\np,1,2,1,1000,G2|\n", `f: line 2: pod default/p: gpu_spec: "G2|": want names`},
		{"twice", header + "p,1,2,0,0\np,1,2,0,0\n", `f: pod default/p: metadata.name: "p": `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { expectError(t, test.text, test.want) })
	}
}

// FuzzOpenB checks that no table makes the reader panic, and that every accepted
// table fits into a snapshot unless a name occurs twice.
func FuzzOpenB(f *testing.F) {
	f.Add(openBNodes)
	f.Add(openBTable)
	f.Add("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,2147483647,2147483647,2147483647,2147483647\n")
	f.Add("cpu_milli,memory_mib")
	f.Fuzz(func(t *testing.T, text string) {
		var o api.Objects
		if !simulate.IsOpenB([]byte(text)) || simulate.DecodeOpenB(&o, []byte(text)) != nil {
			return
		}
		names := map[string]bool{}
		for _, n := range o.Nodes {
			names[n.Name] = true
		}
		for _, p := range o.Pods {
			names[p.Name] = true
		}
		if _, _, err := framework.SnapshotOf(&o, framework.Arrival); err != nil && len(names) == len(o.Nodes)+len(o.Pods) {
			t.Errorf("Snapshot: %v, want success", err)
		}
	})
}
