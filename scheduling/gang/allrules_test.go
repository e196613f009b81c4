//go:build full

package gang_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

var choices = []gang.Choice{gang.Kubernetes137, gang.BestFit, gang.MostPacked, gang.LeastFree}

// A group without pods that wait stands by every rule if its minimum does, with levels and
// without, alone and in a set.
func TestEmptyGroups(t *testing.T) {
	s := racks(1, 1)
	old := info(s, api.MakePod("old").Requests("1", "1Gi").Obj())
	if err := s.AddPod(old, "r1-0"); err != nil {
		t.Fatal(err)
	}
	for _, choice := range choices {
		for _, levels := range [][]gang.Level{nil, {{Key: rack}}} {
			for _, present := range [][]gang.Member{nil, {{Pod: old, Node: "r1-0"}}} {
				before := imageOf(s)
				p, g := placer(gang.Rules{Choice: choice}), &gang.Group{Name: "g", Topology: levels, Present: present}
				out, err := p.Place(s, g)
				if err != nil || out.Status != gang.Placed || len(out.Placed) != 0 {
					t.Errorf("%v, %d levels, %d members: Place = %+v, %v, want Placed", choice, len(levels), len(present), out, err)
				}
				for _, key := range []string{"", rack} {
					set, err := p.PlaceSet(s, &gang.Set{Name: "s", Topology: key, Children: []gang.Child{g}})
					if err != nil || set.Status != gang.Placed {
						t.Errorf("%v, %d levels, %d members, set in %q: PlaceSet = %+v, %v, want Placed", choice, len(levels), len(present), key, set, err)
					}
				}
				unchanged(t, s, before, "an empty group")
			}
		}
	}
}

// Groups of a set that have one name, in two namespaces or as a set, stand by every rule,
// each with its own pods.
func TestNamesakes(t *testing.T) {
	for _, choice := range choices {
		s := racks(2, 2)
		var set gang.Set
		set.Name = "x"
		for _, namespace := range []string{"one", "two"} {
			g := &gang.Group{Namespace: namespace, Name: "x"}
			for _, name := range []string{"p-0", "p-1"} {
				g.Pods = append(g.Pods, info(s, api.MakePod(name).Namespace(namespace).Requests("1", "1Gi").Obj()))
			}
			set.Children = append(set.Children, g)
		}
		set.Children = append(set.Children, &gang.Set{Name: "x", Children: []gang.Child{groupNamed(s, "x", 1)}})
		out, err := placer(gang.Rules{Choice: choice}).PlaceSet(s, &set)
		if err != nil || out.Status != gang.Placed || out.Stand != 3 {
			t.Fatalf("%v: PlaceSet = %+v, %v", choice, out, err)
		}
		for _, key := range []string{"one/p-0", "one/p-1", "two/p-0", "two/p-1", "default/x-0"} {
			if _, n := s.Pod(key); n == nil {
				t.Errorf("%v: %s is on no node", choice, key)
			}
		}
		if one, two := out.Children[0].Group.Group, out.Children[1].Group.Group; one != "one/x" || two != "two/x" {
			t.Errorf("%v: groups %s and %s", choice, one, two)
		}
	}
}

// Nodes without the label of a level take no pods of the group, whatever the level's mode,
// and however the pods are placed; a refusal counts them.
func TestUnlabelledNodes(t *testing.T) {
	labelled := func(name string, labels ...string) *api.Node {
		return api.MakeNode(name, "2", "16Gi").Labels(append(labels, api.LabelHostname, name)...).Obj()
	}
	for _, mixed := range []bool{false, true} {
		for _, search := range []int{0, 1000} {
			for _, level := range []gang.Level{{Key: rack, Mode: gang.Preferred}, {Key: rack, Mode: gang.Counted}, {Key: rack, Mode: gang.Counted, Slice: 1}} {
				for _, choice := range choices[1:] {
					s := cluster([]*api.Node{labelled("a", block, "b0", rack, "r0"), labelled("b", block, "b0"), labelled("c", rack, "r1")})
					pods := workers(s, 3, "1")
					if mixed {
						pods[2] = info(s, api.MakePod("other").Requests("1", "2Gi").Obj())
					}
					p := placer(gang.Rules{Choice: choice, Search: search})
					g := &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: block, Mode: level.Mode}, level}}
					out, err := p.Try(s, g)
					if err != nil || out.Status != gang.Short || !strings.HasSuffix(out.Text, " 1 node has no label example.com/block. 1 node has no label example.com/rack.") {
						t.Errorf("mixed %t, search %d, %+v, %v: Try = %+v, %v, want Short", mixed, search, level, choice, out, err)
					}
					g.Pods = pods[:2]
					out, err = p.Try(s, g)
					if err != nil || out.Status != gang.Placed || counts(out)["a"] != 2 {
						t.Errorf("mixed %t, search %d, %+v, %v: Try of two = %+v, %v, want both on a", mixed, search, level, choice, out, err)
					}
				}
			}
		}
	}
	// Without any labelled node there is no domain.
	s := cluster([]*api.Node{labelled("a"), labelled("b")})
	for _, mode := range []gang.Mode{gang.Required, gang.Preferred, gang.Counted} {
		out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{info(s, api.MakePod("p").Obj())}, Topology: []gang.Level{{Key: rack, Mode: mode}}})
		if err != nil || out.Status != gang.NoDomain || !out.Proved {
			t.Errorf("%v: Try = %+v, %v, want NoDomain", mode, out, err)
		}
	}
}
