//go:build full

package config_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/scheduling/config"
)

// drawProfile draws a profile of a few plugins; it may be invalid.
func drawProfile(t *rapid.T) map[string]any {
	names := rapid.SampledFrom([]string{"A", "B", "C", "Q", "NodeAffinity", "ImageLocality", "VolumeBinding", "NodeResourcesFit"})
	set := rapid.Custom(func(t *rapid.T) map[string]any {
		entry := rapid.Custom(func(t *rapid.T) map[string]any {
			e := map[string]any{"name": names.Draw(t, "name")}
			if rapid.Bool().Draw(t, "weighted") {
				e["weight"] = rapid.IntRange(0, 9).Draw(t, "weight")
			}
			return e
		})
		disabled := rapid.Custom(func(t *rapid.T) map[string]any {
			return map[string]any{"name": rapid.OneOf(names, rapid.Just("*")).Draw(t, "name")}
		})
		return map[string]any{
			"enabled":  rapid.SliceOfN(entry, 0, 3).Draw(t, "enabled"),
			"disabled": rapid.SliceOfN(disabled, 0, 2).Draw(t, "disabled"),
		}
	})
	points := rapid.SampledFrom([]string{"multiPoint", "score", "filter", "preScore", "reserve", "preFilter"})
	return map[string]any{"plugins": rapid.MapOfN(points, set, 0, 3).Draw(t, "plugins")}
}

// TestResolved checks every accepted profile. A plugin runs once at a point, only at
// points that it serves, with a weight where weights count. A point that disables
// "*" runs only what it enables itself. The same file as JSON, and the
// configuration's own JSON loaded again, resolve to the same.
func TestResolved(t *testing.T) {
	known := plugins("A:score B:filter,score C:preFilter,filter,preScore,score,reserve Q:score,permit")
	preset := config.Kubernetes137()
	rapid.Check(t, func(t *rapid.T) {
		file := map[string]any{
			"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
			"profiles": []any{drawProfile(t)},
		}
		text, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		o := config.LoadConfig{Plugins: known}
		c, err := config.Load(text, o)
		if err != nil {
			return
		}
		profile := c.Effective().Profiles[0]
		for point, list := range profile.Plugins {
			var names []string
			for _, p := range list {
				served, ok := known[p.Name]
				if !ok {
					served = preset.Plugins[p.Name]
				}
				if !slices.Contains(served.Points, point) {
					t.Errorf("%s runs at %s, which it does not serve", p.Name, point)
				}
				if (p.Weight != 0) != (point == config.Score || point == config.PlacementScore) {
					t.Errorf("%s has weight %d at %s", p.Name, p.Weight, point)
				}
				if slices.Contains(names, p.Name) {
					t.Errorf("%s runs twice at %s", p.Name, point)
				}
				names = append(names, p.Name)
			}
		}
		for _, point := range config.Points() {
			set := c.Profiles[0].Plugins.At(point)
			if slices.ContainsFunc(set.Disabled, func(p config.Plugin) bool { return p.Name == "*" }) {
				var got, want []string
				for _, p := range profile.Plugins[point] {
					got = append(got, p.Name)
				}
				for _, p := range set.Enabled {
					want = append(want, p.Name)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s disables \"*\" and runs %v, want %v", point, got, want)
				}
			}
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		c2, err := config.Load(again, o)
		if err != nil {
			t.Fatalf("its own JSON is refused: %v\n%s", err, again)
		}
		if diff := cmp.Diff(c.Effective(), c2.Effective()); diff != "" {
			t.Errorf("its own JSON means something else (-first +second):\n%s", diff)
		}
	})
}
