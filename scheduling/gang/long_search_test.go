//go:build full

package gang_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// TestLongSearch: a search that goes on for long does not forget that pods on a node keep
// a pod of the group off it, although their terms were looked up long ago.
func TestLongSearch(t *testing.T) {
	for _, own := range []bool{false, true} {
		s := framework.NewSnapshot(framework.Arrival)
		add := func(name, cpu string) {
			if err := s.AddNode(api.MakeNode(name, cpu, "640Gi").Labels(api.LabelHostname, name).Obj()); err != nil {
				t.Fatal(err)
			}
		}
		add("n0", "9")
		add("n1", "9")
		for i := range 7 {
			add(fmt.Sprint("s", i), "3")
		}
		for i := range 20 { // they keep app=web off n1
			p := info(s, api.MakePod(fmt.Sprint("p", i)).Labels("x", "y").Request("cpu", "1m").PodAntiAffinity(api.LabelHostname, fmt.Sprintf("app=web,n!=%d", i)).Obj())
			if err := s.AddPod(p, "n1"); err != nil {
				t.Fatal(err)
			}
		}
		web := api.MakePod("web").Labels("app", "web").Requests("4", "1Gi")
		if own {
			web = web.PodAntiAffinity(api.LabelHostname, "x=y")
		}
		pods := []*framework.PodInfo{info(s, web.Obj())}
		for i := range 5 {
			pods = append(pods, info(s, api.MakePod(fmt.Sprint("w", i)).Labels("w", fmt.Sprint(i)).Requests(fmt.Sprint(100+i, "m"), "1Gi").NodeAffinity("kubernetes.io/hostname in (s0,s1,s2,s3,s4,s5,s6)").Obj()))
		}
		pods = append(pods, info(s, api.MakePod("last").Labels("w", "l").Requests("8", "1Gi").NodeAffinity("kubernetes.io/hostname in (n0)").Obj()))
		out, err := placer(gang.Rules{Choice: gang.BestFit, Search: 200_000}).Place(s, &gang.Group{Name: "g", Pods: pods, Min: len(pods)})
		if err != nil || out.Status != gang.Short {
			t.Errorf("own terms %t: %+v, %v, want that there is no place", own, out, err)
		}
	}
}
