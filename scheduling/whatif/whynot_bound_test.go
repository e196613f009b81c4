//go:build full

package whatif_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestWhyNotOfHugePods asks about pods whose remedies could be searched for hours. The error
// says that it is too much.
func TestWhyNotOfHugePods(t *testing.T) {
	for name, change := range map[string]func(*api.Container, int){
		"host ports": func(c *api.Container, i int) { c.Ports = []api.ContainerPort{{HostPort: int32(1000 + i)}} },
		"requests": func(c *api.Container, i int) {
			c.Resources.Requests = resource.List{resource.CPU: resource.Milli(int64(1000 + i))}
		},
	} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("a", "1", "1Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		p := api.MakePod("p").Requests("2", "2Gi").Obj()
		for i := range 800 {
			c := api.Container{Name: fmt.Sprint("c", i)}
			change(&c, i)
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		pod, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		planner, err := whatif.New(scheduling.Kubernetes137(), s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = planner.WhyNot(pod, "a")
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
			t.Errorf("%s: error %v, want one that names the pod and the bound", name, err)
		}
	}
}
