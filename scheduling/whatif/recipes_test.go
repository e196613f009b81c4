package whatif_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// dump stands for what "kubectl get nodes,pods,pdb -A -o json" prints.
var dump = []byte(`{"kind": "List", "items": [
{"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
{"kind": "Node", "metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}},
{"kind": "Node", "metadata": {"name": "c"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}},
{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"nodeName": "a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}]}`)

// Example_howManyFit asks how many more of a pod fit.
func Example_howManyFit() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	pod, err := snapshot.NewPodInfo(api.MakePod("job").Requests("2", "1Gi").Obj())
	check(err)
	room, err := plan.Headroom(pod, 0)
	check(err)
	fmt.Println(room.Total, "more:", room.Limits)
	// Output: 4 more: [{NodeResourcesFit Insufficient cpu 2} {TaintToleration node(s) had untolerated taint(s) 1}]
}

// Example_whichNodes asks which nodes to buy for a Deployment of 20.
func Example_whichNodes() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	pattern, err := snapshot.NewPodInfo(api.MakePod("job").Requests("2", "1Gi").Obj())
	check(err)
	pods, err := whatif.Replicas(pattern, 20)
	check(err)
	needed, err := plan.NodesNeeded(pods,
		whatif.NodeType{Name: "small", Node: api.MakeNode("", "8", "32Gi").Obj(), Price: 40},
		whatif.NodeType{Name: "large", Node: api.MakeNode("", "32", "128Gi").Obj(), Price: 120})
	check(err)
	fmt.Println(needed.Counts, "for", needed.Price)
	// Output: [{small 0} {large 1}] for 120
}

// Example_mayIDrain asks where the pods of a node would go.
func Example_mayIDrain() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	drain, err := plan.Drain("a")
	check(err)
	check(drain.WriteTable(os.Stdout))
	// Output:
	// 1 nodes drain in 1 batches: 1 pods move, 0 are stuck, 0 stay
	// POD          FROM  TO  BATCH
	// default/web  a     b   1
}

// Example_whyNotThere asks why a pod does not go to a node, and what would help.
func Example_whyNotThere() {
	objects, err := api.Decode(dump)
	check(err)
	check(objects.Default())
	snapshot, _, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	check(err)
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	check(err)
	pod, err := snapshot.NewPodInfo(api.MakePod("job").Requests("9", "1Gi").Obj())
	check(err)
	why, err := plan.WhyNot(pod, "c")
	check(err)
	check(why.WriteTable(os.Stdout))
	// Output:
	// pod default/job goes nowhere, so not to c
	// REJECTED BY       REASON                            NUMBERS
	// TaintToleration   node(s) had untolerated taint(s)  taint gpu:NoSchedule
	// NodeResourcesFit  Insufficient cpu                  cpu: asked 9, free 8 of 8
	// what would put it there, each alone:
	// - tolerate the taint gpu:NoSchedule, and request 8 of cpu instead of 9, and require the node by name
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// TestRecipes keeps each recipe within 25 lines.
func TestRecipes(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "recipes_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	recipes := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example_") {
			recipes++
			if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line; lines > 25 {
				t.Errorf("%s has %d lines, want at most 25", f.Name.Name, lines)
			}
		}
	}
	if recipes != 4 {
		t.Errorf("%d recipes, want 4; the fifth is in package simulate", recipes)
	}
}
