package simulate

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// TestRecorderForgetsPods: pods that name a node that does not exist, and go, leave nothing.
func TestRecorderForgetsPods(t *testing.T) {
	r := NewRecorder(io.Discard, time.Unix(0, 0))
	for i := range 10 {
		for range 2 { // the second time it changes
			p := api.MakePod(fmt.Sprint("p", i)).Obj()
			p.Spec.NodeName = "nowhere"
			r.Applied(time.Unix(1, 0), &api.Objects{Pods: []*api.Pod{p}})
		}
		if got := len(r.check.awaited["nowhere"]); got != 1 {
			t.Fatalf("%d pods wait for the node, want 1", got)
		}
		r.Deleted(time.Unix(2, 0), Ref{"Pod", fmt.Sprint("default/p", i)})
	}
	if len(r.check.awaited) > 0 || len(r.check.orphans) > 0 {
		t.Errorf("%v and %v are kept, want nothing", r.check.awaited, r.check.orphans)
	}
}
