package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestTermsWithoutNodes: terms with a topology key that no node has touch no pod and no class
// key. Once a node has it, by an update or because it comes, they count like all others.
func TestTermsWithoutNodes(t *testing.T) {
	for _, how := range []string{"a node is updated", "a node comes", "a node comes back"} {
		t.Run(how, func(t *testing.T) {
			s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
			tables := Of(s)
			ask := func() *Affinity {
				return Of(s).Affinity(info(t, s, api.MakePod("asked").Labels("app", "x").Obj()))
			}
			add(t, s, api.MakePod("first").Labels("app", "x").PodAntiAffinity(zone, "app").Obj(), "b")
			ask()
			version, key := KeyVersion(s), string(AppendAffinityKey(nil, s, info(t, s, api.MakePod("k").Labels("app", "x").Obj())))
			for i := range 3 {
				add(t, s, api.MakePod(fmt.Sprint("rack", i)).Labels("app", "x").PodAntiAffinity("rack", "app").Obj(), "a")
				add(t, s, api.MakePod(fmt.Sprint("own", i)).Labels("app", "x").PodAntiAffinity(fmt.Sprint("own", i), "app").Obj(), "a")
			}
			if now := string(AppendAffinityKey(nil, s, info(t, s, api.MakePod("k").Labels("app", "x").Obj()))); KeyVersion(s) != version || now != key {
				t.Error("the class key has changed by terms that say nothing of any node")
			}
			if n := len(ask().Barred); n != 1 {
				t.Errorf("%d terms bar nodes, want 1", n)
			}
			checkTables(t, tables)
			node := api.Clone(s.Node("a").Node)
			node.Labels["rack"] = "1"
			var err error
			switch how {
			case "a node is updated":
				err = s.UpdateNode(node)
			case "a node comes":
				node.Name = "c"
				err = s.AddNode(node)
			default:
				pods := append([]*framework.PodInfo(nil), s.Node("a").Pods...)
				if err = s.RemoveNode("a"); err == nil {
					err = s.AddNode(node)
				}
				for _, p := range pods {
					if err == nil {
						err = s.AddPod(p, "a")
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := len(ask().Barred); n != 2 {
				t.Errorf("%d terms bar nodes, want that of the key rack, too", n)
			}
			checkTables(t, tables)
			f := s.Fork()
			if n := len(Of(f).Affinity(info(t, f, api.MakePod("asked").Labels("app", "x").Obj())).Barred); n != 2 {
				t.Errorf("%d terms bar nodes in a fork, want 2", n)
			}
			for _, p := range append([]*framework.PodInfo(nil), s.Node("a").Pods...) {
				if err := s.RemovePod(p, "a"); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 { // classes without pods are given up
				tables.tick += usual.weighEvery
				tables.lookup()
			}
			if n := len(ask().Barred); n != 1 {
				t.Errorf("%d terms bar nodes after their pods have gone, want 1", n)
			}
			checkTables(t, tables)
		})
	}
}
