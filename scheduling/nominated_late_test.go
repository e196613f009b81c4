package scheduling_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// An extension that touches nodes is made while a filter is bound for a node with nominated pods, after the
// verdict about another such node was taken from those that a fork was asked for.
func TestExtensionMadeBesideNominations(t *testing.T) {
	p := scheduling.Kubernetes118()
	p.Percentage = scheduling.AllNodes
	if err := p.Replace(filter.NodeResourcesFit{}); err != nil { // asks for device classes
		t.Fatal(err)
	}
	s := lateCluster(t, 4)
	nominate := func(name, node string) {
		if err := s.Nominate(info(t, s, api.MakePod(name).Requests("100m", "100Mi").Priority(10).Obj()), node, ""); err != nil {
			t.Fatal(err)
		}
	}
	nominate("a", "n0")
	a, fork := &lateAsker{sched: build(t, p)}, s.Fork()
	const behind = "deviceclass.resource.kubernetes.io/dedicated"
	for range 5 {
		a.want(t, fork, "", 4)
	}
	for range 5 {
		a.want(t, fork, behind, 0)
	}
	if err := framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "dedicated"}}); err != nil {
		t.Fatal(err)
	}
	nominate("b", "n1")
	for range 3 {
		a.want(t, s, behind, 4)
	}
}
