package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestServicesLeaveNothing: services of ever new labels come and go.
func TestServicesLeaveNothing(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	workloadsOf(s)
	for i := range 100 {
		o := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: fmt.Sprint("s", i)}}
		o.Spec.Selector = map[string]string{"app": fmt.Sprint("app", i/2)}
		if err := framework.Put(s, o); err != nil {
			t.Fatal(err)
		}
		if i >= 10 {
			framework.Delete[api.Service](s, fmt.Sprint("x/s", i-10))
		}
	}
	labels, keys := 0, 0
	for i := range shardCount {
		if part := workloadsOf(s).services.parts[i]; part != nil {
			labels += len(part.values)
		}
		if part := workloadsOf(s).keys.parts[i]; part != nil {
			keys += len(part.values)
		}
	}
	if labels != 5 || keys != 10 {
		t.Errorf("%d labels and %d keys are kept of 10 services of 5 apps", labels, keys)
	}
}
