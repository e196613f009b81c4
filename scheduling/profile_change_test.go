package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
	"github.com/google/go-cmp/cmp"
)

func TestProfileReplace(t *testing.T) {
	p := scheduling.Kubernetes137()
	copied := p
	most := scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}
	if err := p.Replace(most); err != nil {
		t.Fatal(err)
	}
	for i, w := range p.Score {
		want := copied.Score[i]
		if w.Plugin.Name() == "NodeResourcesFit" {
			want.Plugin = most
		}
		if diff := cmp.Diff(fmt.Sprintf("%#v", want), fmt.Sprintf("%#v", w)); diff != "" {
			t.Errorf("Score[%d] (-want +got):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff(fmt.Sprintf("%#v", copied.Filter), fmt.Sprintf("%#v", p.Filter)); diff != "" {
		t.Errorf("a scorer changed the filters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fmt.Sprintf("%#v", scheduling.Kubernetes137()), fmt.Sprintf("%#v", copied)); diff != "" {
		t.Errorf("the copy has changed (-want +got):\n%s", diff)
	}

	// VolumeBinding filters, reserves and scores; Combined replaces all of them.
	both := scheduling.Combined{filter.VolumeBinding{}, scoring.VolumeBinding{Shape: scoring.Shape{{Utilization: 0, Score: 10}, {Utilization: 100, Score: 0}}}}
	if err := p.Replace(both); err != nil {
		t.Fatal(err)
	}
	if _, err := scheduling.New(p); err != nil {
		t.Error(err)
	}
	changed := 0
	for _, w := range p.Score {
		if v, ok := w.Plugin.(scoring.VolumeBinding); ok && len(v.Shape) == 2 {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d scorers were replaced by the Combined plugin, want 1", changed)
	}
}

func TestProfileRemoveAndReweigh(t *testing.T) {
	p := scheduling.Kubernetes137()
	if err := p.Remove("VolumeBinding"); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(append([]framework.Plugin{}, p.Filter...), p.Reserve...) {
		if f.Name() == "VolumeBinding" {
			t.Errorf("%T is still there", f)
		}
	}
	for _, w := range p.Score {
		if w.Plugin.Name() == "VolumeBinding" {
			t.Errorf("%T still scores", w.Plugin)
		}
	}
	if err := p.Reweigh("NodeAffinity", 7); err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Score {
		want := map[string]int64{"TaintToleration": 3, "NodeAffinity": 7, "PodTopologySpread": 2, "InterPodAffinity": 2, "DynamicResources": 2}[w.Plugin.Name()]
		if want = max(want, 1); w.Weight != want {
			t.Errorf("%s has the weight %d, want %d", w.Plugin.Name(), w.Weight, want)
		}
	}
	if again := scheduling.Kubernetes137(); len(again.Score) != 9 || again.Score[1].Weight != 2 {
		t.Errorf("the preset has changed: %v", again.Score)
	}
}

func TestProfileChangeErrors(t *testing.T) {
	p := scheduling.Profile{
		Name:       "mine",
		Filter:     []framework.Plugin{filter.NodeName{}},
		Score:      []scheduling.Weighted{{Plugin: scoring.NodeAffinity{}, Weight: 2}},
		PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
	}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"replace unknown", p.Replace(scoring.ImageLocality{}), `profile "mine": Replace: no plugin "ImageLocality"; the profile has DefaultPreemption, NodeAffinity, NodeName`},
		{"replace by another point", p.Replace(filter.NodeAffinity{}), `profile "mine": Replace: plugin "NodeAffinity" (filter.NodeAffinity) serves none of the points where the profile has it: Score`},
		{"replace by nil", p.Replace(nil), `profile "mine": Replace: the plugin is nil`},
		{"remove unknown", p.Remove("nodename"), `profile "mine": Remove: no plugin "nodename"; the profile has DefaultPreemption, NodeAffinity, NodeName`},
		{"reweigh a filter", p.Reweigh("NodeName", 2), `profile "mine": Reweigh: no plugin "NodeName"; the profile has NodeAffinity`},
		{"negative", p.Reweigh("NodeAffinity", -1), `profile "mine": Reweigh: plugin "NodeAffinity": weight -1: must not be negative`},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.name, test.err, test.want)
		}
	}
	if len(p.Filter) != 1 || len(p.Score) != 1 || p.Score[0].Weight != 2 {
		t.Errorf("an error has changed the profile: %+v", p)
	}
}

// A preset with another strategy, without one plugin, and with another weight.
func ExampleProfile_Replace() {
	p := scheduling.Kubernetes137()
	for _, err := range []error{
		p.Replace(scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}),
		p.Remove("ImageLocality"),
		p.Reweigh("NodeAffinity", 5),
		p.Reweigh("ImageLocality", 5),
	} {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output: profile "default-scheduler": Reweigh: no plugin "ImageLocality"; the profile has DynamicResources, InterPodAffinity, NodeAffinity, NodeResourcesBalancedAllocation, NodeResourcesFit, PodTopologySpread, TaintToleration, VolumeBinding
}
