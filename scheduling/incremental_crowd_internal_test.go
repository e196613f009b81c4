//go:build full

package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
)

// TestCrowdsAgree makes every decision about many nominated pods on both paths: pods of
// several priorities, ports and terms, on nodes that change.
func TestCrowdsAgree(t *testing.T) {
	seen := map[string]int{}
	want := map[string]int{"asked in the fork": 200, "rejected there": 50, "taken": 50}
	enough.Check(t, seen, want, func(t *rapid.T) {
		profile := Kubernetes137()
		profile.Cache.Verify = true
		sched, err := New(profile)
		if err != nil {
			t.Fatal(err)
		}
		s := framework.NewSnapshot(framework.Arrival)
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		const nodes = 2
		node := func(i int) *api.Node {
			b := api.MakeNode(fmt.Sprint("n", i), rapid.SampledFrom([]string{"8", "20", "40"}).Draw(t, "cpu"), "64Gi")
			if rapid.IntRange(0, 4).Draw(t, "taint") == 0 {
				b = b.Taint("a=b:NoSchedule")
			}
			if rapid.IntRange(0, 4).Draw(t, "device") == 0 {
				b = b.Resource("example.com/gpu", "9")
			}
			return b.Obj()
		}
		for i := range nodes {
			check(s.AddNode(node(i)))
		}
		at := map[*framework.PodInfo]string{}     // nominated
		placed := map[*framework.PodInfo]string{} // on nodes
		var waiting []*framework.PodInfo
		number := 0
		pod := func(to string) *framework.PodInfo {
			b := api.MakePod(fmt.Sprint("p", number)).UID(api.UID(fmt.Sprint("u", number))).Requests(rapid.SampledFrom([]string{"500m", "1"}).Draw(t, "asks"), "1Mi").
				Priority(rapid.Int32Range(4, 6).Draw(t, "priority"))
			number++
			switch rapid.IntRange(0, 30).Draw(t, "special") {
			case 0:
				b = b.HostPort(80)
			case 1:
				b = b.Labels("app", "x").PodAntiAffinity(api.LabelHostname, "app=x")
			case 2:
				b = b.Request("example.com/gpu", "1")
			}
			p := b.Obj()
			p.Status.NominatedNodeName = to
			info, err := s.NewPodInfo(p)
			check(err)
			return info
		}
		for range rapid.IntRange(10, 60).Draw(t, "nominated") {
			to := fmt.Sprint("n", rapid.IntRange(0, nodes-1).Draw(t, "to"))
			p := pod(to)
			check(s.Nominate(p, to, ""))
			at[p] = to
			waiting = append(waiting, p)
		}
		some := func(list []*framework.PodInfo) *framework.PodInfo {
			return list[rapid.IntRange(0, len(list)-1).Draw(t, "which")]
		}
		for range 30 {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				check(s.UpdateNode(node(rapid.IntRange(0, nodes-1).Draw(t, "node"))))
			case 1:
				if p := some(waiting); at[p] != "" {
					s.ClearNomination(p, at[p])
					delete(at, p)
				}
			case 2:
				if p := some(waiting); placed[p] != "" {
					check(s.RemovePod(p, placed[p]))
					delete(placed, p)
				}
			case 3:
				waiting = append(waiting, pod(""))
			default:
				p := some(waiting)
				if placed[p] != "" {
					continue
				}
				x := &sched.incremental.nominations.crowds
				d, err := sched.Schedule(s, p)
				if fit := (*FitError)(nil); err != nil && !errors.As(err, &fit) {
					t.Fatal(err)
				}
				if x.fork != nil && len(x.at) > 0 && x.knows(s, p) {
					seen["asked in the fork"]++
					if err != nil {
						seen["rejected there"]++
					}
				}
				if err == nil {
					seen["taken"]++
					if at[p] != "" {
						s.ClearNomination(p, at[p])
						delete(at, p)
					}
					check(s.AddPod(p, d.Node))
					placed[p] = d.Node
				}
			}
		}
	})
}

// knows reports whether a node of the fork has the nominated pods that count for the pod.
func (x *crowds) knows(s *framework.Snapshot, pod *framework.PodInfo) bool {
	for slot, k := range x.at {
		want := slices.DeleteFunc(slices.Clone(s.AtSlot(slot).Nominated), func(q *framework.PodInfo) bool { return !reckonsWith(pod, q) })
		if len(want) > 0 && slices.Equal(k.nominated, want) {
			return true
		}
	}
	return false
}
