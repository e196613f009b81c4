package extender_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// rackOne is an extender as anyone might write it, in any language.
func rackOne(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"NodeNames": ["b"], "FailedNodes": {"a": "rack 2 is being moved"}}`)
}

// A profile that asks an HTTP server which nodes are feasible.
func ExampleClient() {
	server := httptest.NewServer(http.HandlerFunc(rackOne))
	defer server.Close()
	c, err := extender.New(extender.Config{URLPrefix: server.URL, FilterVerb: "filter", NodeCacheCapable: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	profile := scheduling.Kubernetes137()
	profile.Extenders = []scheduling.Extender{c.Extender()}
	s, err := scheduling.New(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b"} {
		if err := snapshot.AddNode(api.MakeNode(name, "4", "16Gi").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	pod, err := snapshot.NewPodInfo(api.MakePod("web").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := s.ScheduleContext(context.Background(), snapshot, pod)
	fmt.Println(d.Node, err)
	fmt.Println(s.ExplainDecision(snapshot, pod, d).Nodes[0].Reasons)
	// Output:
	// b <nil>
	// [rack 2 is being moved]
}

// A server for a stock kube-scheduler.
func ExampleHandler() {
	snapshot := framework.NewSnapshot(framework.Arrival)
	for name, cpu := range map[string]string{"large": "16", "small": "1"} {
		if err := snapshot.AddNode(api.MakeNode(name, cpu, "16Gi").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	s, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(&extender.Handler{
		Scheduler: s,
		Snapshot:  func(context.Context) (*framework.Snapshot, error) { return snapshot, nil },
	})
	defer server.Close()

	// A kube-scheduler calls it like this.
	c, err := extender.New(extender.Config{URLPrefix: server.URL, FilterVerb: "filter", NodeCacheCapable: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pod, err := snapshot.NewPodInfo(api.MakePod("web").Requests("2", "1Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := c.Filter(context.Background(), pod, []*framework.NodeInfo{snapshot.Node("large"), snapshot.Node("small")})
	fmt.Println(v.Nodes, v.Unresolvable, err)
	// Output:
	// [large] map[small:Insufficient cpu] <nil>
}
