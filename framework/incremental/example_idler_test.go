package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// Quarantine keeps pods away from zones that a service marks. Without services it has
// nothing to do, and says so.
type Quarantine struct{}

func (Quarantine) Name() string { return "Quarantine" }

func (Quarantine) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain | framework.ReadsObjects}
}

func (q Quarantine) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if q.Idle(c) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{}, framework.Status{} // and a filter, in earnest
}

func (Quarantine) Idle(c *framework.Cycle) bool {
	return len(framework.List[api.Service](c.Snapshot)) == 0
}

func ExampleIdler() {
	snap := framework.NewSnapshot(framework.Arrival)
	pod, err := snap.NewPodInfo(api.MakePod("web").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(pod, snap, 0, 0)
	idler, ok := framework.As[incremental.Idler](Quarantine{})
	fmt.Println(ok, idler.Idle(&c))

	service := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "web"}}
	if err := framework.Put(snap, service); err != nil {
		fmt.Println(err)
	}
	fmt.Println(idler.Idle(&c))
	// Output:
	// true true
	// false
}
