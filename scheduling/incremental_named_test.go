package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
)

// counting counts how often a filter is asked.
type counting struct{ times *int }

func (counting) Name() string { return "Counting" }

func (c counting) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	*c.times++
	return framework.Status{}
}

// TestNamedNodes: only the nodes that a PreFilter names are asked, and the answers are
// those of the reference path.
func TestNamedNodes(t *testing.T) {
	for _, tt := range []struct {
		name, affinity, cpu, node, err string
		asked                          int
	}{
		{"one", "metadata.name=n7", "1", "n7", "", 1},
		{"one, and too small", "metadata.name=n7", "9", "", "0/50 nodes are available: 1 Insufficient cpu, 49 node(s) didn't satisfy plugin(s) [NodeAffinity].", 0},
		{"gone", "metadata.name=gone", "1", "", "0/50 nodes are available: 50 node(s) didn't satisfy plugin(s) [NodeAffinity].", 0},
		{"none", "metadata.name=n7,metadata.name=n8", "1", "", "0/50 nodes are available: pod affinity terms conflict.", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, verify := range []bool{false, true} {
				p, times := scheduling.Kubernetes137(), 0
				p.Filter = append(p.Filter, counting{&times})
				p.Cache.Verify = verify
				sched := build(t, p)
				s := framework.NewSnapshot(framework.Arrival)
				for i := range 50 {
					if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
						t.Fatal(err)
					}
				}
				for i := range 3 {
					times = 0
					name := fmt.Sprint("p", i)
					pod := podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Requests(tt.cpu, "1Gi").NodeAffinity(tt.affinity).Obj())
					d, err := sched.Schedule(s, pod)
					var fit *scheduling.FitError
					if d.Node != tt.node || tt.err == "" && err != nil || tt.err != "" && (!errors.As(err, &fit) || err.Error() != tt.err) {
						t.Fatalf("verify %t: %q, %v, want %q, %s", verify, d.Node, err, tt.node, tt.err)
					}
					if !verify && times != tt.asked {
						t.Errorf("the filter is asked %d times, want %d", times, tt.asked)
					}
				}
			}
		})
	}
}

// TestSeveralNamedNodes: the search goes around the named nodes, in the order of the
// snapshot and from where it stopped.
func TestSeveralNamedNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, rule := range []scheduling.TieRule{scheduling.First, scheduling.Heap, scheduling.ByName, scheduling.Random} {
		p := scheduling.Kubernetes137()
		p.Cache.Verify, p.TieRule, p.Percentage = true, rule, 10
		sched := build(t, p)
		s := framework.NewSnapshot(framework.Arrival)
		for i := range effort.Of(500, 2000) {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 40 {
			name := fmt.Sprint("p", i)
			b := api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi")
			for k := range 1 + i%3*60 { // with more than a hundred, a sample is taken
				b = b.NodeAffinity(fmt.Sprintf("metadata.name=n%d", k*7+i))
			}
			if _, err := sched.Place(s, podInfo(t, s, b.Obj())); err != nil {
				t.Fatal(err)
			}
		}
	}
}
