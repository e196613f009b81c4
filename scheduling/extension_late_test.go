package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// lateCluster returns a cluster of nodes that are all alike.
func lateCluster(t *testing.T, nodes int) *framework.Snapshot {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	s.SetNow(time.Unix(1_700_000_000, 0))
	for i := range nodes {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// A lateAsker asks about pods that request a resource besides CPU and memory, or "".
type lateAsker struct {
	sched  *scheduling.Scheduler
	serial int
}

// want asks, and compares how many nodes are feasible.
func (a *lateAsker) want(t *testing.T, s *framework.Snapshot, request resource.Name, feasible int) {
	t.Helper()
	a.serial++
	b := api.MakePod(fmt.Sprint("p", a.serial)).Requests("100m", "100Mi")
	if request != "" {
		b = b.Request(request, "1")
	}
	if d, err := a.sched.Schedule(s, info(t, s, b.Obj())); d.Feasible != feasible {
		t.Errorf("pod %d: %d nodes are feasible, want %d: %v", a.serial, d.Feasible, feasible, err)
	}
}

// An extension that touches nodes is made while the engine binds a class for a fork. What is
// found out then is not taken for an answer about another fork, whose nodes are as they were before.
func TestExtensionMadeWhileBound(t *testing.T) {
	p := scheduling.Kubernetes118()
	p.Percentage = scheduling.AllNodes
	if err := p.Replace(filter.NodeResourcesFit{}); err != nil { // asks for device classes
		t.Fatal(err)
	}
	s := lateCluster(t, 4)
	a, fork := &lateAsker{sched: build(t, p)}, s.Fork()
	for range 30 {
		a.want(t, fork, "", 4)
	}
	a.want(t, fork, "example.com/x", 0) // classes are looked for there first
	if err := framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "dedicated"}}); err != nil {
		t.Fatal(err)
	}
	const behind = "deviceclass.resource.kubernetes.io/dedicated"
	a.want(t, s, behind, 4) // here the extension is made, and touches the nodes
	for range 3 {
		a.want(t, fork, behind, 0)
		a.want(t, s, behind, 4)
	}
}

// hot reports that a node uses 95 % of what it has.
func hot(t *testing.T, s *framework.Snapshot, name string) {
	t.Helper()
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
	m.Status.UpdateTime = new(s.Now())
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(7600), resource.Memory: resource.New(7600<<20, resource.BinarySI)})}
	if err := framework.Put(s, m); err != nil {
		t.Fatal(err)
	}
}

func loadAware(t *testing.T) *lateAsker {
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter, filter.LoadAware{})
	p.Score = append(p.Score, scheduling.Weighted{Plugin: scoring.LoadAware{}, Weight: 5})
	p.Percentage = scheduling.AllNodes
	return &lateAsker{sched: build(t, p)}
}

// Reports of use come to a fork before it is asked for the first time, when only its parent was.
func TestReportsBeforeTheFirstQuestion(t *testing.T) {
	s := lateCluster(t, 4)
	a, fork := loadAware(t), s.Fork()
	a.want(t, s, "", 4)
	for i := range 3 {
		hot(t, fork, fmt.Sprint("n", i))
	}
	for range 3 {
		a.want(t, fork, "", 1)
		a.want(t, s, "", 4)
	}
}

// Reports of a transaction in which the first question is asked do not stay after its rollback.
func TestReportsOfATransaction(t *testing.T) {
	s := lateCluster(t, 4)
	a := loadAware(t)
	hot(t, s, "n0")
	mark := s.Begin()
	framework.Delete[api.NodeMetric](s, "n0")
	for i := range 3 {
		hot(t, s, fmt.Sprint("n", 1+i))
	}
	a.want(t, s, "", 1)
	s.Rollback(mark)
	a.want(t, s, "", 3)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
