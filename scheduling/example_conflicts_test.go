package scheduling_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A pod that keeps away from loud pods can be in conflict with those only.
func ExampleConflicts() {
	s := framework.NewSnapshot(framework.Arrival)
	derive := func(p *api.Pod) *framework.PodInfo {
		info, err := s.NewPodInfo(p)
		if err != nil {
			fmt.Println(err)
		}
		return info
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := sched.Filtering(s, derive(api.MakePod("web").PodAntiAffinity("zone", "noise=loud").Obj()))
	if err != nil {
		fmt.Println(err)
		return
	}
	var c scheduling.Conflicts
	fmt.Println("only conflicts matter:", c.Add(f))
	for _, noise := range []string{"loud", "low"} {
		fmt.Println(noise, c.With(derive(api.MakePod("other").Labels("noise", noise).Obj())))
	}
	// Output:
	// only conflicts matter: true
	// loud true
	// low false
}
