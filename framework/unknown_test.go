package framework_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// crowded returns a snapshot whose schema takes no more names from pods.
func crowded(t rapid.TB) *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	p := api.MakePod("names")
	for i := range 900 {
		p = p.Request(resource.Name(fmt.Sprintf("names.example/%d", i)), "1")
	}
	if _, err := s.NewPodInfo(p.Obj()); err != nil {
		t.Fatal(err)
	}
	return s
}

// A request for nothing is no unknown request: pods with any number of them fit everywhere.
func TestUnknownRequestForNothing(t *testing.T) {
	s := crowded(t)
	p, err := s.NewPodInfo(api.MakePod("p").Request("example.com/x", "0").Request("example.com/y", "2").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Unknown) != 1 || p.Unknown[0] != (framework.UnknownRequest{Name: "example.com/y", Requested: 2, Used: 2}) {
		t.Errorf("unknown requests are %+v, want that of y", p.Unknown)
	}
}

// TestUnknownTotals lets a node get and lose resources while pods that were derived before and
// after come and go, with amounts up to the largest. The totals are those of the pods.
func TestUnknownTotals(t *testing.T) {
	names := []resource.Name{"example.com/x", "example.com/y"}
	rapid.Check(t, func(t *rapid.T) {
		s := crowded(t)
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()))
		var on []*framework.PodInfo
		add := func(t *rapid.T) {
			b := api.MakePod(fmt.Sprint("p", rapid.IntRange(0, 1<<30).Draw(t, "name"))).UID(api.UID(fmt.Sprint(len(on), rapid.Uint32().Draw(t, "uid"))))
			for _, name := range append(names, resource.CPU) {
				b = b.Request(name, rapid.SampledFrom([]string{"0", "1", "3", "4611686018427387904", "9223372036854775807"}).Draw(t, string(name)))
			}
			p, err := s.NewPodInfo(b.Obj())
			must(err)
			must(s.AddPod(p, "n"))
			on = append(on, p)
		}
		remove := func(t *rapid.T) {
			if len(on) == 0 {
				return
			}
			i := rapid.IntRange(0, len(on)-1).Draw(t, "leaves")
			must(s.RemovePod(on[i], "n"))
			on = append(on[:i:i], on[i+1:]...)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { must(s.Check()) },
			"node": func(t *rapid.T) {
				b := api.MakeNode("n", "4", "8Gi")
				for _, name := range names {
					if rapid.Bool().Draw(t, string(name)) {
						b = b.Resource(name, "4")
					}
				}
				must(s.UpdateNode(b.Obj()))
			},
			"add":    add,
			"remove": remove,
			"undone": func(t *rapid.T) {
				before, was := slices.Clone(s.Node("n").Requested), slices.Clone(on)
				m := s.Begin()
				for range rapid.IntRange(1, 4).Draw(t, "steps") {
					rapid.SampledFrom([]func(*rapid.T){add, remove}).Draw(t, "step")(t)
				}
				s.Rollback(m)
				if on = was; !s.Node("n").Requested.Equal(before) {
					t.Fatalf("the totals are %d after a rollback, were %d", s.Node("n").Requested, before)
				}
			},
			"fork": func(*rapid.T) { s = s.Fork() },
		})
	})
}

// TestLostResource: a node loses a resource for a while, as when its device plugin starts again,
// and the pod that used it goes meanwhile.
func TestLostResource(t *testing.T) {
	s := crowded(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	without, with := api.MakeNode("n", "4", "8Gi").Obj(), api.MakeNode("n", "4", "8Gi").Resource("example.com/x", "4").Obj()
	must(s.AddNode(without))
	p, err := s.NewPodInfo(api.MakePod("p").Request("example.com/x", "3").Obj())
	must(err)
	must(s.AddPod(p, "n"))
	must(s.UpdateNode(with))
	i, _ := s.Schema().Index("example.com/x")
	if got := s.Node("n").Requested.At(i); got != 3 {
		t.Errorf("%d are requested, want 3", got)
	}
	must(s.UpdateNode(without))
	must(s.RemovePod(p, "n"))
	must(s.UpdateNode(with))
	if got := s.Node("n").Requested.At(i); got != 0 {
		t.Errorf("%d are requested of an empty node", got)
	}
	must(s.Check())
}
