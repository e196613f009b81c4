package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestFilteringKeptAfterTermsHaveGone: a Filtering that is kept says what a new one does, long after a pod has left
// whose affinity term concerned its pod, and whatever others are asked about meanwhile.
func TestFilteringKeptAfterTermsHaveGone(t *testing.T) {
	for _, tt := range []struct {
		name string
		own  bool // the pod has a term of its own
		pods bool // the others come to a node, and leave
	}{{"others fit nowhere", true, false}, {"others come and leave", false, true}} {
		for _, every := range []int{100, 1000} { // so many decisions are between two questions
			s, sched := balanceCluster(t, 4), build(t, scheduling.Kubernetes137())
			for _, n := range s.All() {
				named := api.Clone(n.Node)
				named.Labels = map[string]string{api.LabelHostname: n.Name()}
				if err := s.UpdateNode(named); err != nil {
					t.Fatal(err)
				}
			}
			add := func(p *framework.PodInfo) {
				t.Helper()
				if err := s.AddPod(p, "n0"); err != nil {
					t.Fatal(err)
				}
			}
			web := api.MakePod("web").Labels("app", "web").Requests("1", "1Mi")
			if tt.own {
				web = web.PodAntiAffinity(api.LabelHostname, "app=none")
			}
			guard := podInfo(t, s, api.MakePod("guard").PodAntiAffinity(api.LabelHostname, "app=web").Obj())
			add(podInfo(t, s, api.MakePod("some").Labels("app", "some").Obj()))
			add(guard)
			kept, err := sched.Filtering(s, podInfo(t, s, web.Obj()))
			if err != nil {
				t.Fatal(err)
			}
			ask := func(decisions int, fits bool) {
				t.Helper()
				v, err := kept.Node(s.Node("n0"))
				if err != nil || v.Status.IsSuccess() != fits {
					t.Fatalf("%s: after %d decisions: %q %v, error %v; want success: %t", tt.name, decisions, v.Plugin, v.Status.Reasons(), err, fits)
				}
			}
			ask(0, false)
			if err := s.RemovePod(guard, "n0"); err != nil {
				t.Fatal(err)
			}
			for i := range 3000 {
				cpu := "1k"
				if tt.pods {
					cpu = "1m"
				}
				p := podInfo(t, s, api.MakePod(fmt.Sprint("other", i)).Labels("app", "other").Requests(cpu, "1Mi").
					PreferPodAntiAffinity(1, api.LabelHostname, fmt.Sprint("app in (some,", i, ")")).Obj())
				_, err := sched.Schedule(s, p)
				if tt.pods != (err == nil) {
					t.Fatal(err)
				}
				if tt.pods {
					add(p)
					if err := s.RemovePod(p, "n0"); err != nil {
						t.Fatal(err)
					}
				}
				if i%every == every-1 {
					ask(i+1, true)
				}
			}
		}
	}
}
