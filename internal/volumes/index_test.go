//go:build full

package volumes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// Neither the order of access modes counts, nor how often a claim names one; a selector does.
func TestKinds(t *testing.T) {
	claim := func(selector *api.LabelSelector, modes ...api.PersistentVolumeAccessMode) *api.PersistentVolumeClaim {
		c := &api.PersistentVolumeClaim{}
		c.Spec.AccessModes, c.Spec.Selector = modes, selector
		return c
	}
	one, other := claim(nil, api.ReadWriteOnce, api.ReadOnlyMany), claim(nil, api.ReadOnlyMany, api.ReadWriteOnce, api.ReadOnlyMany)
	serves := func(c *api.PersistentVolumeClaim) bool {
		p := pool{claim: one, modes: modesOf(one.Spec.AccessModes)}
		return p.serves(c, modesOf(c.Spec.AccessModes))
	}
	if !serves(other) || serves(claim(nil, api.ReadWriteOnce)) {
		t.Error("a pool serves claims by the list of their access modes")
	}
	if kindOf(one) != kindOf(other) || kindOf(one) == kindOf(claim(nil, api.ReadWriteOnce)) {
		t.Error("claims have a kind by the list of their access modes")
	}
	if kindOf(one) == kindOf(claim(&api.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, one.Spec.AccessModes...)) {
		t.Error("a selector does not count")
	}
}

// On a node, each volume is looked at once for all selectors of a pod's claims, and given once.
func TestRemainder(t *testing.T) {
	const volumes = 200
	p := &pool{}
	for i := range volumes {
		p.free = append(p.free, &volume{object: &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint(i)}}})
		must := label{}
		if i%4 == 1 {
			must = label{"host", fmt.Sprint(i % 3)}
		}
		p.index.add(i, must)
	}
	node := api.MakeNode("n", "1", "1Gi").Labels("host", "2").Obj()
	all := &selection{ranks: make([]uint64, volumes/64+1)}
	for i := range all.ranks {
		all.ranks[i] = ^uint64(0)
	}
	var list []remainder
	asked, got := map[string]int{}, []string{}
	for from := range volumes {
		from /= 4 // several claims of one size
		v := remainderOf(&list, 0, p, node).take(all, from, func(v *volume) bool {
			asked[v.object.Name]++
			return len(asked)%3 != 0
		})
		if v != nil {
			got = append(got, v.object.Name)
		}
	}
	if len(list) != 1 || len(got) < volumes/4 {
		t.Errorf("%d remainders, %d volumes given, want 1 and most of %d", len(list), len(got), volumes)
	}
	seen := map[string]bool{}
	for _, name := range got {
		if seen[name] {
			t.Errorf("volume %s is given twice", name)
		}
		seen[name] = true
	}
	for name, n := range asked {
		if i, _ := strconv.Atoi(name); n > 1 || i%4 == 1 && i%3 != 2 {
			t.Errorf("volume %s was looked at %d times", name, n)
		}
	}
}

// TestModes compares sets of access modes with plain lists.
func TestModes(t *testing.T) {
	list := rapid.SliceOfN(rapid.SampledFrom([]api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadOnlyMany, api.ReadWriteMany, "Odd"}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		have, want := list.Draw(t, "have"), list.Draw(t, "want")
		all := !slices.ContainsFunc(want, func(m api.PersistentVolumeAccessMode) bool { return !slices.Contains(have, m) })
		if got := modesOf(have).has(modesOf(want)); got != all {
			t.Fatalf("%v has %v: %t, want %t", have, want, got, all)
		}
	})
	// A claim may repeat its modes as often as its object has room.
	many := slices.Repeat([]api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadWriteMany}, 50_000)
	if got := modesOf(many); len(got) != 2 {
		t.Errorf("%d modes, want 2", len(got))
	}
}
