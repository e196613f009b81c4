//go:build full

package preemption

import (
	"sort"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// kube-scheduler sorts victims with sort.Slice, which is not stable: rank must leave
// equals in the very same order, however many there are. In kube-scheduler, a pod
// that has not started gets the time of its comparison, one after the other.
func TestRankOfEquals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type looked struct {
			at       int
			priority int32
			start    time.Time
		}
		var pods []placed
		var want []looked
		for i := range rapid.IntRange(0, 80).Draw(t, "pods") {
			b := api.MakePod("p").Priority(rapid.Int32Range(0, 1).Draw(t, "priority"))
			start := time.Unix(10, int64(i))
			if s := rapid.Int64Range(-1, 4).Draw(t, "start"); s >= 0 {
				start = time.Unix(s/2, s%2)
				b = b.Started(start)
			}
			p := b.Obj()
			pods = append(pods, place(&framework.PodInfo{Pod: p, Priority: *p.Spec.Priority}, i))
			want = append(want, looked{i, *p.Spec.Priority, start})
		}
		sort.Slice(want, func(i, j int) bool {
			if want[i].priority != want[j].priority {
				return want[i].priority > want[j].priority
			}
			return want[i].start.Before(want[j].start)
		})
		new(run).rank(pods)
		var got, places []int
		for i := range pods {
			got, places = append(got, int(pods[i].at)), append(places, want[i].at)
		}
		if diff := cmp.Diff(places, got); diff != "" {
			t.Errorf("places of the ranked pods (-want +got):\n%s", diff)
		}
	})
}
