package whatif_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestRemovalOfUnknownRequests: WhyNot names the same pods to remove whether they were derived
// before the node had the resource, when the schema took no more names, or after.
func TestRemovalOfUnknownRequests(t *testing.T) {
	const gpu resource.Name = "example.com/gpu"
	ask := func(late bool) string {
		s := framework.NewSnapshot(framework.Arrival)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		junk := api.MakePod("junk").UID("junk")
		for i := range 70 {
			junk = junk.Request(resource.Name(fmt.Sprint("junk.example/", i)), "1")
		}
		_, err := s.NewPodInfo(junk.Obj())
		must(err)
		with, without := api.MakeNode("n", "8", "16Gi").Resource(gpu, "4").Obj(), api.MakeNode("n", "8", "16Gi").Obj()
		if late {
			must(s.AddNode(without))
		} else {
			must(s.AddNode(with))
		}
		for i, g := range []string{"1", "1", "2"} {
			p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint("p", i))).Requests("1", "1Gi").Request(gpu, g).Priority(int32(i)).Node("n").Obj())
			must(err)
			must(s.AddPod(p, "n"))
		}
		if late {
			must(s.UpdateNode(with))
		}
		must(s.Check())
		pl, err := whatif.New(scheduling.Kubernetes137(), s)
		must(err)
		pod, err := s.NewPodInfo(api.MakePod("new").UID("new").Requests("1", "1Gi").Request(gpu, "2").Obj())
		must(err)
		w, err := pl.WhyNot(pod, "n")
		must(err)
		return fmt.Sprint(w.Remedies)
	}
	if before, after := ask(true), ask(false); before != after {
		t.Errorf("WhyNot says %s, want %s", before, after)
	}
}
