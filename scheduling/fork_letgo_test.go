//go:build full

package scheduling_test

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// TestForksAreLetGo: a scheduler keeps no snapshot alive but the last two, also if it is never asked again about the
// pods that it was asked about there.
func TestForksAreLetGo(t *testing.T) {
	for _, c := range treeApps() {
		s := visited(t, 400, c)
		sched := build(t, scheduling.Kubernetes137())
		var forks []weak.Pointer[framework.Snapshot]
		for i := range 8 {
			f := s.Fork()
			for k := range 3 { // the first takes the reference path
				p := c.pod(fmt.Sprint("asks-", i, "-", k))
				p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse(fmt.Sprint(10+i, "m"))
				if _, err := sched.Schedule(f, podInfo(t, f, p)); err != nil {
					t.Fatal(err)
				}
			}
			forks = append(forks, weak.Make(f))
		}
		if kept := sched.Stats().Classes; kept < 4 {
			t.Errorf("%s: %d classes are kept, want some", c.name, kept)
		}
		runtime.GC()
		runtime.GC()
		alive := 0
		for _, f := range forks {
			if f.Value() != nil {
				alive++
			}
		}
		if alive > 3 { // a list of nodes may be that of the last decision on the reference path
			t.Errorf("%s: %d of 8 forks are alive, want the last two", c.name, alive)
		}
		runtime.KeepAlive(sched)
	}
}

// holder is a plugin that is bound to a snapshot.
type holder struct{}

func (holder) Name() string { return "Holder" }

func (holder) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (holder) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: holds{c.Snapshot}}, framework.Status{}
}

type holds struct{ s *framework.Snapshot }

func (h holds) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if h.s.Node(n.Name()) == nil {
		return framework.UnschedulableStatus("of another snapshot")
	}
	return framework.Status{}
}

// TestForkOfSchedulerLetsGo: what a fork of a scheduler starts from keeps no snapshot alive either.
func TestForkOfSchedulerLetsGo(t *testing.T) {
	c := companions()[0]
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, holder{})
	s, sched := visited(t, 400, c), build(t, profile)
	var forks []*scheduling.Scheduler
	var asked []weak.Pointer[framework.Snapshot]
	for i := range 6 {
		f := s.Fork()
		for k := range 3 {
			p := c.pod(fmt.Sprint("asks-", i, "-", k))
			p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse(fmt.Sprint(10+i, "m"))
			if _, err := sched.Schedule(f, podInfo(t, f, p)); err != nil {
				t.Fatal(err)
			}
		}
		forks, asked = append(forks, sched.Fork()), append(asked, weak.Make(f))
	}
	runtime.GC()
	runtime.GC()
	for i, f := range asked[:3] {
		if f.Value() != nil {
			t.Errorf("fork %d of the snapshot is alive", i)
		}
	}
	runtime.KeepAlive(forks)
}
