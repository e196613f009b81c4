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
	of := func(c *capacity) *musts { return &c.musts }
	r := rank(rarity{}, list[:1:1], of)
	if got := list[0].musts.rarest; got != (label{"a-region", "r"}) {
		t.Errorf("an item alone is found by %v", got)
	}
	old := slices.Clone(list)
	r = rank(r, list, of)
	for i, c := range list[:10] {
		if want := (label{"host", fmt.Sprint(i)}); c.musts.rarest != want {
			t.Errorf("item %d is found by %v, want %v", i, c.musts.rarest, want)
		}
	}
	if list[0] == old[0] || old[0].musts.rarest != (label{"a-region", "r"}) {
		t.Error("an item that others may have was changed")
	}
	if a, b := list[10].musts.rarest, list[11].musts.rarest; a != (label{"a-region", "r"}) || b != (label{}) {
		t.Errorf("items with one label and none are found by %v and %v", a, b)
	}
	for i := range 40 { // and now and then all are counted anew
		before, counted := slices.Clone(list), r.items
		list = append(list, item(map[string]string{"a-region": "r", "host": fmt.Sprint("new", i)}))
		r = rank(r, list, of)
		if got, want := list[len(list)-1].musts.rarest, (label{"host", fmt.Sprint("new", i)}); got != want {
			t.Errorf("new item %d is found by %v, want %v", i, got, want)
		}
		if !slices.Equal(before, list[:len(before)]) {
			t.Errorf("new item %d: items were copied that have not changed", i)
		}
		if r.others > counted/recountPart {
			t.Errorf("%d items have come since %d were counted", r.others, counted)
		}
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
		volumes, capacities := catalogKey.Of(s).freeOf("").all, catalogKey.Of(s).capacitiesIn()
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
