package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// occupied is a PreFilter that rejects all nodes while the cluster has as many pods as nodes.
type occupied struct {
	code  framework.Code
	calls *int
}

func (occupied) Name() string { return "occupied" }

func (o occupied) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	*o.calls++
	pods := 0
	for _, n := range c.Snapshot.All() {
		pods += len(n.Pods)
	}
	if pods < c.Snapshot.Len() {
		return framework.PreFiltered{}, framework.Status{}
	}
	return framework.PreFiltered{}, framework.UnschedulableStatus("occupied").WithCode(o.code)
}

// If a PreFilter has rejected the pod, and pods that leave may help, it is asked again about each
// node; if they may not, it is not asked again.
func TestWithoutAfterARejection(t *testing.T) {
	const nodes = 10
	for code, want := range map[framework.Code]string{framework.Unschedulable: "", framework.UnschedulableAndUnresolvable: "occupied"} {
		s := framework.NewSnapshot(framework.Arrival)
		var there []*framework.PodInfo
		for i := range nodes {
			name := fmt.Sprint("n", i)
			if err := s.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
			p := podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).Obj())
			if err := s.AddPod(p, name); err != nil {
				t.Fatal(err)
			}
			there = append(there, p)
		}
		calls := 0
		f, err := build(t, scheduling.Profile{Filter: []framework.Plugin{occupied{code, &calls}}}).Filtering(s, podInfo(t, s, api.MakePod("new").Obj()))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range there {
			v, err := f.Without([]*framework.PodInfo{p}, s.Node(fmt.Sprint("n", i)))
			if err != nil || v.Plugin != want {
				t.Errorf("%v, node n%d: %+v (%v), want plugin %q", code, i, v, err, want)
			}
			if v, err := f.Node(s.At(i)); err != nil || v.Plugin != "occupied" {
				t.Errorf("%v, node n%d with its pod: %+v (%v), want a rejection", code, i, v, err)
			}
		}
		if code == framework.UnschedulableAndUnresolvable && calls != 1 {
			t.Errorf("%v: PreFilter ran %d times, want once", code, calls)
		}
		if _, err := f.Without(there[1:2], s.At(0)); err == nil {
			t.Errorf("%v: a pod of another node leaves without an error", code)
		}
	}
}

// The pods that leave may be a part of the node's own list.
func TestWithoutOwnPods(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	put(s.AddNode(api.MakeNode("n", "6", "8Gi").Obj()))
	for i := range 6 {
		put(s.AddPod(podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Mi").Obj()), "n"))
	}
	f := made(build(t, scheduling.Kubernetes137()).Filtering(s, podInfo(t, s, api.MakePod("new").Requests("4", "1Mi").Obj())))
	for k := range 7 {
		n := s.Node("n")
		v, err := f.Without(n.Pods[:k], n)
		if err != nil || v.Status.IsSuccess() != (k >= 4) {
			t.Errorf("without %d pods: %+v, %v", k, v, err)
		}
	}
}

// A headcount rejects pods in PreFilter while the cluster has as many pods as it may.
type headcount struct {
	most  int
	reads framework.Reads
}

func (headcount) Name() string { return "headcount" }

func (h headcount) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{Reads: h.reads} }

func (h headcount) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	pods := 0
	for _, n := range c.Snapshot.All() {
		pods += len(n.Pods)
	}
	if pods >= h.most {
		return framework.PreFiltered{}, framework.UnschedulableStatus("too many pods")
	}
	return framework.PreFiltered{Filter: headsCounted{c.Snapshot}}, framework.Status{}
}

// headsCounted passes all nodes; what it reads of domains changes with the snapshot.
type headsCounted struct{ s *framework.Snapshot }

func (headsCounted) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (c headsCounted) Version() uint64 { return c.s.Version() }

func (c headsCounted) Changed(since uint64, _ func(slot int)) bool { return since == c.s.Version() }

// TestWithoutLeavesNothing: what PreFilter plugins found without some pods does not count for later questions. Nor does what
// they found before pods came.
func TestWithoutLeavesNothing(t *testing.T) {
	for _, reads := range []framework.Reads{framework.ReadsCluster, framework.ReadsDomain} {
		s := framework.NewSnapshot(framework.Arrival)
		var pods []*framework.PodInfo
		for _, n := range []string{"a", "b"} {
			put(s.AddNode(api.MakeNode(n, "4", "8Gi").Obj()))
			pods = append(pods, podInfo(t, s, api.MakePod("on "+n).Requests("1", "1Gi").Obj()))
			put(s.AddPod(pods[len(pods)-1], n))
		}
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, headcount{2, reads})
		f := made(build(t, profile).Filtering(s, podInfo(t, s, api.MakePod("new").Requests("1", "1Gi").Obj())))
		passes := func(question string, v scheduling.NodeVerdict, want bool) {
			if v.Status.IsSuccess() != want {
				t.Errorf("reads %b, %s: %v of %s", reads, question, v.Status, v.Plugin)
			}
		}
		for range 3 {
			for i, n := range []string{"a", "b"} {
				passes("too many", made(f.Node(s.Node(n))), false)
				passes("without none", made(f.Without(nil, s.Node(n))), false)
				passes("without one", made(f.Without(pods[i:i+1], s.Node(n))), true)
				passes("again", made(f.Node(s.Node(n))), false)
				put(s.RemovePod(pods[i], n))
				passes("one has left", made(f.Node(s.Node(n))), true)
				put(s.AddPod(pods[i], n))
			}
		}
	}
}
