package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A stumbler is a filter that fails at some of its next calls.
type stumbler struct {
	passes, fails *int // so many calls pass, then so many fail
	panics        bool
}

func (stumbler) Name() string { return "stumbler" }

func (stumbler) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (x stumbler) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	switch {
	case *x.passes > 0:
		*x.passes--
	case *x.fails > 0:
		*x.fails--
		if x.panics {
			panic("it fell")
		}
		return framework.AsStatus(errors.New("it fell"))
	}
	return framework.Status{}
}

// TestFailuresWhilePreempting: a filter fails while PostFilter searches. The error comes back, or the rest of the
// search answers; but no later attempt is answered by what came of the failure.
func TestFailuresWhilePreempting(t *testing.T) {
	for _, off := range []bool{false, true} { // then the search asks all filters again
		for _, nodes := range []int{4, 30} {
			for _, warm := range []int{0, 5, 30} {
				t.Run(fmt.Sprint(off, nodes, warm), func(t *testing.T) {
					passes, fails := 0, 0
					profile := scheduling.Kubernetes137()
					profile.Filter = append([]framework.Plugin{stumbler{&passes, &fails, nodes == 4}}, profile.Filter...)
					profile.Cache.Off = off
					s, sched := framework.NewSnapshot(framework.Arrival), build(t, profile)
					for i := range nodes {
						name := fmt.Sprint("n", i)
						put(s.AddNode(api.MakeNode(name, "4", "8Gi").Obj()))
						put(s.AddPod(podInfo(t, s, api.MakePod("small-"+name).Requests("1", "1Gi").Obj()), name))
						large := api.MakePod("large-"+name).Requests("3", "1Gi").Priority(int32(nodes - i)) // the last is preempted
						put(s.AddPod(podInfo(t, s, large.Obj()), name))
					}
					high := podInfo(t, s, api.MakePod("high").Requests("3", "1Gi").Priority(100).Obj())
					attempt := func() (victims string, err error) {
						d, err := sched.Schedule(s, high)
						var fit *scheduling.FitError
						if !errors.As(err, &fit) {
							t.Fatal(err)
						}
						result, _, _, err := sched.PostFilter(t.Context(), s, high, d)
						for _, v := range result.Victims {
							victims += " " + v.Pod.Pod.Name
						}
						return result.Nominated + victims, err
					}
					last := fmt.Sprint("n", nodes-1)
					want := fmt.Sprintf("%s large-%[1]s", last)
					for range warm {
						if got, err := attempt(); got != want || err != nil {
							t.Fatalf("%q, %v, want %q", got, err, want)
						}
					}
					for _, failures := range []int{1, 2, 7} {
						for before := range 2*nodes + 10 {
							small := podInfo(t, s, api.MakePod(fmt.Sprint("touch-", before)).Obj())
							put(s.AddPod(small, last)) // what is kept of the last node is void
							put(s.RemovePod(small, last))
							d, _ := sched.Schedule(s, high)
							passes, fails = before, failures
							if _, _, status, err := sched.PostFilter(t.Context(), s, high, d); err == nil && !status.IsSuccess() {
								t.Errorf("%d failures after %d calls: refused with %v", failures, before, status)
							}
							passes, fails = 0, 0
							if got, err := attempt(); got != want || err != nil {
								t.Errorf("after %d failures after %d calls: %q, %v, want %q", failures, before, got, err, want)
							}
						}
					}
				})
			}
		}
	}
}
