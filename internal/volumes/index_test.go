//go:build full

package volumes

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestRarest: an item is found by the label that tells it apart, whichever that is.
func TestRarest(t *testing.T) {
	item := func(labels map[string]string) *capacity {
		return compileCapacity(&api.CSIStorageCapacity{NodeTopology: &api.LabelSelector{MatchLabels: labels}})
	}
	var list []*capacity
	for i := range 10 {
		list = append(list, item(map[string]string{"a-region": "r", "host": fmt.Sprint(i), fmt.Sprint("z-own-", i): "x"}))
	}
	list = append(list, item(map[string]string{"a-region": "r"}), item(nil))
	old := slices.Clone(list)
	of := func(c *capacity) *musts { return &c.musts }
	findRarest(list, of)
	for i, c := range list[:10] {
		if want := (label{"host", fmt.Sprint(i)}); c.musts.rarest != want {
			t.Errorf("item %d is found by %v, want %v", i, c.musts.rarest, want)
		}
		if c == old[i] || old[i].musts.rarest != (label{"a-region", "r"}) {
			t.Errorf("item %d was changed, and not copied", i)
		}
	}
	if a, b := list[10].musts.rarest, list[11].musts.rarest; a != (label{"a-region", "r"}) || b != (label{}) {
		t.Errorf("items with one label and none are found by %v and %v", a, b)
	}
	again := slices.Clone(list)
	if findRarest(again, of); !slices.Equal(again, list) {
		t.Error("items were copied that have not changed")
	}
}

// TestCatalogFindsRarest: volumes and capacities are found by the labels of their nodes, also when
// others come.
func TestCatalogFindsRarest(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 5 {
		host := fmt.Sprint("h", i)
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("v", i)}}
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: "a-region", Operator: api.NodeSelectorOpIn, Values: []string{"r"}}, {Key: "host", Operator: api.NodeSelectorOpIn, Values: []string{host}},
		}}}}}
		c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Namespace: "n", Name: fmt.Sprint("c", i)}, NodeTopology: &api.LabelSelector{MatchLabels: map[string]string{"a-region": "r", "host": host}}}
		if err := errors.Join(framework.Put(s, v), framework.Put(s, c)); err != nil {
			t.Fatal(err)
		}
		volumes, capacities := volumesIn(s), capacitiesIn(s)
		for k := range volumes {
			if want := (label{"host", fmt.Sprint("h", k)}); i > 0 && (volumes[k].musts.rarest != want || capacities[k].musts.rarest != want) {
				t.Errorf("of %d, item %d is found by %v and %v, want %v", i+1, k, volumes[k].musts.rarest, capacities[k].musts.rarest, want)
			}
		}
	}
}

// TestIndex compares with a visit to every item.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.SampledFrom([]string{"", "host", "zone"}), rapid.SampledFrom([]string{"a", "b"})
		var x index
		must := make([]label, rapid.IntRange(0, 8).Draw(t, "items"))
		for rank := range must {
			if k := key.Draw(t, "key"); k != "" {
				must[rank] = label{k, value.Draw(t, "value")}
			}
			x.add(rank, must[rank])
		}
		labels := map[string]string{}
		for _, k := range []string{"host", "zone"} {
			if rapid.Bool().Draw(t, "has "+k) {
				labels[k] = value.Draw(t, k)
			}
		}
		refused := rapid.SliceOfN(rapid.Bool(), len(must), len(must)).Draw(t, "refused")
		want := -1
		for rank := len(must) - 1; rank >= 0; rank-- {
			have, ok := labels[must[rank].key]
			if !refused[rank] && (must[rank].key == "" || ok && have == must[rank].value) {
				want = rank
			}
		}
		if got := x.first(labels, func(rank int) bool { return !refused[rank] }); got != want {
			t.Fatalf("first(%v) = %d, want %d (%s)", labels, got, want, fmt.Sprint(must))
		}
	})
}
