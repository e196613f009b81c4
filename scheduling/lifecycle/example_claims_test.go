package lifecycle_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// printingReleaser is a Binder that also releases claims.
type printingReleaser struct{ lifecycle.BinderFunc }

func (printingReleaser) ReleaseClaim(_ context.Context, c framework.ClaimRelease, pod *api.Pod) error {
	fmt.Printf("release %s for %s\n", c.Claim, pod.Name)
	return nil
}

// A PostFilter plugin wants the devices of a claim back, as DynamicResources does if no
// node can use them. The Binder is asked to release them.
func ExampleClaimReleaser() {
	var binder lifecycle.ClaimReleaser = printingReleaser{}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{Filter: []framework.Plugin{claimer{}}, PostFilter: []framework.Plugin{claimer{}}}},
		Binder:   binder.(lifecycle.Binder), Clock: virtualclock.New(time.Unix(0, 0)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Apply(lifecycle.Add(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Add(api.MakePod("trainer").Obj()))
	a, _ := d.ScheduleOne(context.Background())
	fmt.Println(a.State)
	// Output:
	// release default/a for trainer
	// release default/b for trainer
	// Failed
}
