package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// TestRejectionsOfUnknownNames: pods that request a resource without a number fit nowhere. What
// the plugin answers is made anew for each pod, and rows keep earlier answers; both paths count
// them as one.
func TestRejectionsOfUnknownNames(t *testing.T) {
	p := scheduling.Kubernetes137()
	fast := build(t, p)
	p.Cache.Off = true
	plain := build(t, p)
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 8 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	flood := api.MakePod("flood")
	for i := range 900 {
		flood = flood.Request(resource.Name(fmt.Sprintf("example.com/a%04d", i)), "1")
	}
	if err := snap.AddPod(podInfo(t, snap, flood.Obj()), "n0"); err != nil {
		t.Fatal(err)
	}
	serial := 0
	decide := func() {
		t.Helper()
		serial++
		info := podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Request("example.com/x", "2").Obj())
		plain.Seek(fast.Position())
		_, e1 := fast.Schedule(snap, info)
		_, e2 := plain.Schedule(snap, info)
		var a, b *scheduling.FitError
		errors.As(e1, &a)
		errors.As(e2, &b)
		if x, y := fmt.Sprint(a.Rejections), fmt.Sprint(b.Rejections); x != y {
			t.Errorf("decision %d:\n incremental %s\n reference   %s", serial, x, y)
		}
	}
	for range 4 {
		decide()
	}
	if err := snap.UpdateNode(api.MakeNode("n3", "4", "8Gi").Obj()); err != nil { // anything
		t.Fatal(err)
	}
	decide()
	if err := snap.UpdateNode(api.MakeNode("n3", "4", "8Gi").Resource("example.com/x", "1").Obj()); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		decide()
	}
	for i := range 3 {
		one := podInfo(t, snap, api.MakePod(fmt.Sprint("q", i)).Requests("100m", "64Mi").Obj())
		if err := snap.AddPod(one, fmt.Sprint("n", 4+i%2)); err != nil {
			t.Fatal(err)
		}
		decide()
	}
}

// joined rejects two nodes for one reason with a comma, and the others for two reasons.
type joined struct{}

func (joined) Name() string { return "Joined" }

func (joined) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() == "n0" || n.Name() == "n3" {
		return framework.UnschedulableStatus(framework.Text("a, b"))
	}
	return framework.NewStatus(framework.Unschedulable, framework.Texts("a", "b"))
}

// Reasons that read alike when they are joined are counted each by itself.
func TestRejectionsThatReadAlike(t *testing.T) {
	snap := balanceCluster(t, 5)
	for _, off := range []bool{false, true} {
		p := scheduling.Kubernetes137()
		p.Cache.Off = off
		p.Filter = append(p.Filter, joined{})
		s := build(t, p)
		for range 3 {
			_, err := s.Schedule(snap, podInfo(t, snap, api.MakePod("p").Requests("1", "1Mi").Obj()))
			if want := "0/5 nodes are available: 2 a, b, 3 a, 3 b."; err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
}
