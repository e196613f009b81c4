package frameworktest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
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
	test := func(t *testing.T) { frameworktest.Run(t, Spare{}) }
	fmt.Println(test != nil)
	// Output: true
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

// Quay keeps pods on nodes of their own quay.
type Quay struct{}

func (Quay) Name() string { return "Quay" }

func (Quay) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if quay, ok := pod.Pod.Labels["quay"]; ok && node.Node.Labels["quay"] != quay {
		return framework.UnschedulableStatus("node(s) were at another quay")
	}
	return framework.Status{}
}

// A plugin names the labels that it reads, so that the clusters have them.
func ExampleConfig() {
	err := frameworktest.Check(Quay{}, frameworktest.Config{
		Clusters: 8,
		Labels:   map[string][]string{"quay": {"north", "south"}},
	})
	fmt.Println(err)
	// Output: <nil>
}

// A plugin that is never exercised fails. If that is as it should be, the config
// says why.
func ExampleExercise() {
	config := frameworktest.Config{Clusters: 8}
	var f *frameworktest.Failure
	if errors.As(frameworktest.Check(Quay{}, config), &f) {
		fmt.Println(f.Check+":", f.What, "=", f.Got)
	}
	config.Unexercised = map[frameworktest.Exercise]string{frameworktest.Rejects: "no pod here has a quay"}
	fmt.Println(frameworktest.Check(Quay{}, config))
	// Output:
	// exercise: nodes that it rejected = 0
	// <nil>
}

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
