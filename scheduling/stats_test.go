//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestLooks: a hit looks at few nodes, unless pods change the scores of whole zones.
func TestLooks(t *testing.T) {
	const nodes, warm, pods = 600, 100, 50
	looks := func(prefer func(b api.PodBuilder) api.PodBuilder) int {
		snap := framework.NewSnapshot(framework.Arrival)
		for i := range nodes {
			n := api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Labels("zone", fmt.Sprint(i%3), api.LabelHostname, fmt.Sprint("n", i)).Obj()
			if err := snap.AddNode(n); err != nil {
				t.Fatal(err)
			}
		}
		s := build(t, scheduling.Kubernetes137())
		var before scheduling.Stats
		for i := range warm + pods {
			if i == warm {
				before = s.Stats()
			}
			placeNew(t, snap, s, prefer(api.MakePod(fmt.Sprint("p", i)).Labels("app", "a").Requests("10m", "1Mi")).Obj())
		}
		now := s.Stats()
		if now.Hits-before.Hits < pods {
			t.Errorf("%d hits, want %d", now.Hits-before.Hits, pods)
		}
		return int(now.Looks-before.Looks) / pods
	}
	plain := looks(func(b api.PodBuilder) api.PodBuilder { return b })
	zones := looks(func(b api.PodBuilder) api.PodBuilder {
		return b.PreferPodAntiAffinity(5, "zone", "app=a").PreferPodAntiAffinity(5, api.LabelHostname, "app=a")
	})
	if plain > 20 || zones < nodes/3 || zones > 10*nodes {
		t.Errorf("a hit takes %d looks, and %d with preferences for zones, want 20 at most and %d to %d", plain, zones, nodes/3, 10*nodes)
	}
}
