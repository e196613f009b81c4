//go:build full

package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// TestGroupOfNeighborsWaits: the pods of a group need one another near them. While a last victim takes its time, no
// node takes one of them alone, and yet no further pods are evicted.
func TestGroupOfNeighborsWaits(t *testing.T) {
	for _, choice := range []groups.Choice{groups.Kubernetes137, groups.BestFit, groups.MostPacked} {
		c := &slowCluster{t: t, clock: virtualclock.New(epoch)}
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: c.clock, Binder: c, Groups: &groups.Rules{Choice: choice},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.d = d
		d.Apply(lifecycle.Update(api.MakeNode("tiny", "100m", "16Gi").Obj()))
		for i := range 6 {
			n := fmt.Sprint("n", i)
			d.Apply(lifecycle.Update(api.MakeNode(n, "2", "16Gi").Zone(fmt.Sprint("z", i%2)).Labels(api.LabelHostname, n).Obj()))
			for k := range 2 {
				name := fmt.Sprint("low", i, k)
				c.put(api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Node(n).Obj())
			}
		}
		d.Apply(lifecycle.Update(podGroup("g", 3, 10)))
		for i, key := range []string{"", api.LabelHostname, api.LabelTopologyZone} { // where the first one must be near
			p := groupPod(fmt.Sprint("high", i), "g", "1", 10)
			p.UID, p.Labels = api.UID(p.Name), map[string]string{"app": fmt.Sprint("a", i)}
			if key != "" {
				p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{
					{TopologyKey: key, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "a0"}}},
				}}}
			}
			c.put(p)
		}
		c.work(30 * time.Second)
		first := c.evicted
		if len(first) != 3 {
			t.Fatalf("%v: %d pods are evicted, want 3", choice, len(first))
		}
		for _, v := range first[1:] {
			d.Apply(lifecycle.Delete(v))
		}
		c.work(5 * time.Minute)
		if len(c.evicted) != 3 {
			t.Errorf("%v: %d pods are evicted while the last of 3 victims is leaving", choice, len(c.evicted))
		}
		d.Apply(lifecycle.Delete(first[0]))
		c.work(time.Minute)
		if n := d.Snapshot().Nominations(); n != 0 {
			t.Errorf("%v: the group does not stand though its victims have left", choice)
		}
	}
}
