//go:build full

package gang_test

import (
	"cmp"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// What has returned may let another unit return that could not before: the pod of the
// group spreads over racks, beside pods that run.
func TestEvictionReturnsAgain(t *testing.T) {
	var nodes []*api.Node
	for i, cpu := range []string{"4", "2", "2"} { // only r0 has room for the pod
		name := fmt.Sprintf("r%d", i)
		nodes = append(nodes, api.MakeNode(name+"-0", cpu, "16Gi").Labels(rack, name).Obj())
	}
	s := cluster(nodes)
	add := func(name, node string, priority int32, labels ...string) {
		p := info(s, api.MakePod(name).Labels(labels...).Priority(priority).Requests("1", "1Gi").Obj())
		if err := s.AddPod(p, node); err != nil {
			t.Fatal(err)
		}
	}
	// The group's pod goes to r0, where a big pod has to leave. Beside it, web-0 may stay
	// only while each other rack has one such pod.
	big := info(s, api.MakePod("big").Priority(0).Requests("3", "1Gi").Obj())
	if err := s.AddPod(big, "r0-0"); err != nil {
		t.Fatal(err)
	}
	add("web-0", "r0-0", 4, "app", "web")
	add("web-1", "r1-0", 3, "app", "web")
	add("web-2", "r2-0", 2, "app", "web")
	pod := info(s, api.MakePod("new").Labels("app", "web").Priority(9).Requests("3", "1Gi").Spread(1, rack, api.DoNotSchedule, "app=web").Obj())
	g := &gang.Group{Name: "g", Priority: 9, Pods: []*framework.PodInfo{pod}}
	e, err := placer(gang.Rules{Choice: gang.BestFit}).Preempt(s, g)
	if err != nil || e.Status != framework.Success {
		t.Fatalf("Preempt = %+v, %v", e, err)
	}
	var victims []string
	for _, v := range e.Victims() {
		victims = append(victims, v.Pod.Pod.Name)
	}
	if fmt.Sprint(victims) != "[big]" {
		t.Errorf("victims %v, want big alone", victims)
	}
	// kube-scheduler puts back once, in order: web-0 is out.
	e, err = placer(gang.Rules{}).Preempt(s, g)
	if err != nil || len(e.Victims()) != 2 {
		t.Errorf("under Kubernetes137: victims %v, %v, want web-0 and big", e.Victims(), err)
	}
}

// The rack that each rule chooses for equal pods follows from the room and the use of each.
func TestBestRackAgreesWithArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type rackUse struct {
			name                    string
			room, cpu, used, memory int
			fill                    int64
		}
		var nodes []*api.Node
		var pods []*api.Pod
		uses := map[string]*rackUse{}
		for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
			r := rapid.SampledFrom([]string{"r0", "r1", "r2"}).Draw(t, "rack")
			size, used := rapid.IntRange(1, 4).Draw(t, "size"), 0
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(size), "8Gi").Labels(rack, r).Obj())
			for k := range rapid.IntRange(0, size).Draw(t, "used") {
				pods = append(pods, api.MakePod(fmt.Sprintf("old-%d-%d", i, k)).Requests("1", "1Gi").Node(fmt.Sprint("n", i)).Obj())
				used++
			}
			u := uses[r]
			if u == nil {
				u = &rackUse{name: r}
				uses[r] = u
			}
			u.room, u.cpu, u.used, u.memory = u.room+size-used, u.cpu+size, u.used+used, u.memory+8
		}
		s := cluster(nodes, pods...)
		n := rapid.IntRange(1, 6).Draw(t, "pods")
		g := &gang.Group{Name: "g", Pods: workers(s, n, "1"), Topology: []gang.Level{{Key: rack}}}
		for _, choice := range []gang.Choice{gang.BestFit, gang.LeastFree, gang.MostPacked} {
			var best *rackUse
			for _, u := range uses {
				u.fill = (int64(u.used)*100/int64(u.cpu) + int64(u.used)*100/int64(u.memory)) / 2
				if u.room < n {
					continue
				}
				better := func(a, b *rackUse) bool {
					size, fill := cmp.Compare(a.room, b.room), cmp.Compare(b.fill, a.fill)
					if choice == gang.MostPacked {
						size, fill = fill, size
					}
					return cmp.Or(size, fill, cmp.Compare(a.name, b.name)) < 0
				}
				if best == nil || better(u, best) {
					best = u
				}
			}
			out, err := placer(gang.Rules{Choice: choice}).Try(s, g)
			if err != nil || (out.Status == gang.Placed) != (best != nil) {
				t.Fatalf("%v: Try = %+v, %v, want placed %t", choice, out, err, best != nil)
			}
			if best != nil && out.Domain[0].Value != best.name {
				t.Fatalf("%v: Try takes %v, want %+v", choice, out.Domain, *best)
			}
		}
	})
}
