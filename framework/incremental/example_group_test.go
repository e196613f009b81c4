package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// rows scores a node by its row of racks alone, and so all nodes of a row
// alike.
type rows struct{ s *framework.Snapshot }

func (rows) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return int64(len(node.Node.Labels["row"]))
}

// Groups numbers the rows in the order in which their first nodes stand.
func (r rows) Groups() incremental.Groups {
	numbers := map[string]int32{}
	of := make([]int32, r.s.SlotLimit())
	for _, n := range r.s.All() {
		row := n.Node.Labels["row"]
		if _, known := numbers[row]; !known {
			numbers[row] = int32(len(numbers))
		}
		of[n.Slot()] = numbers[row]
	}
	return incremental.Groups{Of: of, Count: len(numbers)}
}

// A plugin whose answer is the same for all nodes of a row numbers the rows. The
// incremental path then asks it about one node of each row, however many there are.
func ExampleGrouper() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("n1", "4", "8Gi").Labels("row", "A"),
		api.MakeNode("n2", "4", "8Gi").Labels("row", "A"),
		api.MakeNode("n3", "4", "8Gi"),
	} {
		if err := s.AddNode(n.Obj()); err != nil {
			fmt.Println(err)
		}
	}
	var plugin incremental.Grouper = rows{s}
	groups := plugin.Groups()
	fmt.Println(groups.Count, "groups:", groups.Of[:3])
	// Output: 2 groups: [0 0 1]
}

// shares scores by how many nodes are feasible, which needs no list of them.
type shares struct{}

func (shares) Name() string { return "Shares" }

func (s shares) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return s.PreScoreGroups(c, each(feasible))
}

func (shares) PreScoreGroups(_ *framework.Cycle, feasible incremental.FeasibleNodes) (framework.NodeScorer, framework.Status) {
	nodes := 0
	feasible.Each(func(_ *framework.NodeInfo, ofGroup int) { nodes += ofGroup })
	return share{int64(100 / max(1, nodes))}, framework.Status{}
}

// each shows a plain list as groups of one node.
type each []*framework.NodeInfo

func (l each) Len() int { return len(l) }

func (l each) Each(f func(*framework.NodeInfo, int)) {
	for _, n := range l {
		f(n, 1)
	}
}

type share struct{ each int64 }

func (s share) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return s.each }

// With PreScoreGroups, the incremental path need not list 5,000 feasible nodes to say
// how many there are in each zone.
func ExampleGroupPreScorePlugin() {
	s, p := twoNodes()
	var plugin incremental.GroupPreScorePlugin = shares{}
	var c framework.Cycle
	c.Reset(p, s, 0, 0)
	scorer, status := plugin.PreScore(&c, []*framework.NodeInfo{s.At(0), s.At(1)})
	fmt.Println(status, scorer.Score(p, s.At(0)))
	// Output: Success 50
}
