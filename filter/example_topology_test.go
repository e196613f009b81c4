package filter_test

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// twoZonesOf is a cluster of two zones whose pods run in zone a.
func twoZonesOf(running ...api.PodBuilder) *framework.Snapshot {
	var pods []*api.Pod
	for _, p := range running {
		pods = append(pods, p.Node("n1").Obj())
	}
	return snapshotOf(exampleFailer{}, []*api.Node{
		api.MakeNode("n1", "4", "8Gi").Zone("a").Obj(), api.MakeNode("n2", "4", "8Gi").Zone("b").Obj(),
	}, pods...)
}

// Zone a has two pods already, so a third would make the skew 3.
func ExamplePodTopologySpread() {
	web := api.MakePod("web").Labels("app", "web").Spread(2, api.LabelTopologyZone, api.DoNotSchedule, "app=web")
	s := twoZonesOf(web.Name("web-1"), web.Name("web-2"))
	showIn(s, filter.PodTopologySpread{}, web.Name("web-3").Obj())
	// Output:
	// n1: Unschedulable: node(s) didn't match pod topology spread constraints
	// n2: Success
}

// The web server must run where the cache is, but not where another web server is.
func ExampleInterPodAffinity() {
	s := twoZonesOf(api.MakePod("cache").Labels("app", "cache"))
	web := api.MakePod("web").Labels("app", "web").PodAffinity(api.LabelTopologyZone, "app=cache")
	showIn(s, filter.InterPodAffinity{}, web.Obj())
	showIn(s, filter.InterPodAffinity{}, web.PodAntiAffinity(api.LabelTopologyZone, "app in (web, cache)").Obj())
	// Output:
	// n1: Success
	// n2: UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules
	// n1: Unschedulable: node(s) didn't match pod anti-affinity rules
	// n2: UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules
}
