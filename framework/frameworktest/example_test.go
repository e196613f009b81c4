package frameworktest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
)

// Spare prefers nodes with few pods, but forgets that there can be many.
type Spare struct{}

func (Spare) Name() string { return "Spare" }

func (Spare) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return 4 - int64(len(node.Pods))
}

// In a test, one line is enough:
func ExampleRun() {
	_ = func(t *testing.T) { frameworktest.Run(t, Spare{}) }
}

func ExampleCheck() {
	err := frameworktest.Check(Spare{})
	var f *frameworktest.Failure
	if errors.As(err, &f) {
		fmt.Println(f.Plugin, "fails", f.Check+":", f.What, "is", f.Got)
	}
	// Output: Spare fails bounds: score, which nothing normalizes, is -1
}

func ExampleFailure() {
	f := &frameworktest.Failure{
		Plugin: "Spare", Check: "bounds", Cluster: 3, Pod: "prod/pod-02", Node: "node-07",
		What: "normalized score", Got: "120", Want: "0 to 100",
	}
	fmt.Println(f)
	// Output: Spare: bounds: cluster 3, pod prod/pod-02, node node-07: normalized score = 120, want 0 to 100
}

// A plugin about a label that the usual clusters do not have brings its own.
func ExampleOptions() {
	options := frameworktest.Config{
		Clusters: 8,
		Generate: func(seed uint64) *api.Objects {
			o := frameworktest.Cluster(seed)
			for i, n := range o.Nodes {
				if i%2 == 0 {
					n.Labels = map[string]string{"quay": "north"}
				}
			}
			return o
		},
	}
	fmt.Println(frameworktest.Check(silent{}, options))
	// Output: <nil>
}

type silent struct{}

func (silent) Name() string { return "Silent" }

func ExampleCluster() {
	s, pending, err := frameworktest.Snapshot(frameworktest.Cluster(1))
	fmt.Println(s.Len() > 0, len(pending) > 0, err)
	// Output: true true <nil>
}

func ExampleNode() {
	r := rand.New(rand.NewPCG(1, 2))
	node, pod := frameworktest.Node(r, "n1"), frameworktest.Pod(r, "web")
	fmt.Println(node.Name, pod.Name)
	// Output: n1 web
}
