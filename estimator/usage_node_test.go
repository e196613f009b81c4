package estimator_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The limits of a node are in the order of their names, also those of resources that only
// the node's own thresholds name: a filter gives the first that is exceeded as its reason.
func TestLimitsAreInOrder(t *testing.T) {
	load, err := estimator.NewLoad(estimator.LoadConfig{Rules: estimator.Koordinator16})
	if err != nil {
		t.Fatal(err)
	}
	n := api.MakeNode("n", "10", "10Gi").Resource("a.example.com/x", "5").Obj()
	n.Annotations = map[string]string{estimator.AnnotationUsageThresholds: `{"usageThresholds":{"memory":10,"a.example.com/x":20,"cpu":30}}`}
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(n); err != nil {
		t.Fatal(err)
	}
	d := load.Node(s.Node("n"))
	var got []resource.Name
	for _, l := range d.Whole.Limits {
		got = append(got, d.Resources[l.Resource])
	}
	if want := []resource.Name{"a.example.com/x", "cpu", "memory"}; !slices.Equal(got, want) {
		t.Errorf("limits of %v, want %v", got, want)
	}
}
