package whatif_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// TestDrainCordons compares drains that leave the nodes as they are with those that cordon
// them, message by message: with spread constraints that honor taints and that do not, pods
// that tolerate a cordon, and pods that fit nowhere.
func TestDrainCordons(t *testing.T) {
	barred, cordoned, stuck, moved := 0, 0, 0, 0
	shows := func() bool {
		return barred >= effort.Of(70, 200) && cordoned >= effort.Of(20, 60) && stuck >= effort.Of(35, 100) && moved >= effort.Of(70, 200)
	}
	for seed := range uint64(600) {
		if effort.Suffices(shows()) {
			break
		}
		r := rand.New(rand.NewPCG(seed, 29))
		c := newSpreadCase(r)
		for i := range 2 + r.IntN(6) {
			p := api.Clone(c.pod.Pod)
			p.Name, p.Spec.NodeName = fmt.Sprint("web-", i), ""
			switch {
			case r.IntN(8) == 0:
				p.Spec.Tolerations = append(p.Spec.Tolerations, api.Toleration{Key: api.TaintNodeUnschedulable, Operator: api.TolerationOpExists})
			case r.IntN(3) == 0:
				p.Spec.TopologySpreadConstraints = nil
			}
			names := c.s.Slots()
			node := c.s.AtSlot(names[r.IntN(len(names))]).Name()
			info, err := c.s.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.s.AddPod(info, node); err != nil {
				t.Fatal(err)
			}
		}
		var names []string
		for _, n := range c.s.All() {
			if r.IntN(3) == 0 {
				names = append(names, n.Name())
			}
		}
		p := planner(c.s)
		before := content(c.s)
		got, err := p.Drain(names...)
		if err != nil {
			t.Fatal(err)
		}
		want, same, err := planner(c.s).DrainCordoned(names...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d: drain of %v (-with a cordon +got):\n%s", seed, names, diff)
		}
		if content(c.s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
		again, err := p.Drain(names...)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("seed %d: asked again (-first +second):\n%s", seed, diff)
		}
		if same {
			cordoned++
			continue
		}
		barred, stuck, moved = barred+1, stuck+len(got.Stuck), moved+len(got.Moves)
	}
	t.Logf("%d drains without a cordon, with %d moves and %d pods stuck; %d with one", barred, moved, stuck, cordoned)
	if !shows() {
		t.Error("the test shows too little")
	}
}
