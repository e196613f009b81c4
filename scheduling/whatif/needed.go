package whatif

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/nodename"
)

// A NodeCount is how many nodes of one type to add.
type NodeCount struct {
	Type  string `json:"type"`
	Nodes int    `json:"nodes"`
}

// A NodesNeeded is which nodes to add so that pods fit.
type NodesNeeded struct {
	// Counts holds every type, in the order given.
	Counts []NodeCount `json:"counts"`
	// Price is what they cost together, and LowerBound what any choice of the types
	// costs at least. Exact is set if no choice costs less than Price, and, with one type,
	// if no number of nodes places more pods.
	Price      int64 `json:"price"`
	LowerBound int64 `json:"lowerBound"`
	Exact      bool  `json:"exact"`
	// Placement is where the pods go with these nodes. Pods that are unplaced fit on none
	// of them, or keep others off them.
	Placement Placement `json:"placement"`
}

// NodesNeeded finds which nodes to add so that as many of the pods are placed as with
// all the nodes that the types allow, or all of one type; all pods, if as many nodes of a type of
// each zone place them. With one type, it is as many as
// with any number of them. Every choice is judged by adding the nodes to a fork and placing
// the pods in their order. Pods that neither a node of the snapshot nor a new one takes are
// found first, and placed last.
//
// With one type it finds a number that suffices, though one node less does not, and then
// tries every smaller number from a lower bound on: more nodes need not be better in the
// eyes of a scheduler. If the numbers are too many for a bounded amount of work, it stops,
// and LowerBound says how far it came; otherwise the answer is exact. With several types the
// answer is the cheapest choice found, with a lower bound from the resources: each type
// alone, as many of a type of each zone if pods must spread over zones, then greedily the nodes that
// hold the most for their price, then with nodes left out or replaced by cheaper ones as long as the
// pods fit. The same bound ends this search, and the answer is the cheapest choice found until then.
// Until it has found one, it may take six times as much work.
//
// Replicas of one pod are counted, as by [Planner.Headroom], in place of placing each for
// every choice. If what a node takes of them does not depend on other nodes, the answer is
// exact with several types too.
//
// Lower bounds, and the search for pods that fit on no node, take for granted that a pod
// without pod affinity, spread constraints, volumes and claims fits no better because
// other pods or nodes are there. A choice has no more nodes of a type than pods that fit, and besides at most
// 1,000 for constraints with minDomains, because such nodes help as domains. Nor has it more than about
// 500,000 nodes and pods that come with them, as [workload.WeightOf] counts these, divided equally among the types.
//
// A type without a name or node, two types of one name, and negative numbers are an
// [*api.InvalidError].
func (p *Planner) NodesNeeded(pods []*framework.PodInfo, types ...NodeType) (*NodesNeeded, error) {
	if err := p.check(pods); err != nil {
		return nil, err
	}
	x := &nodeSearch{planner: p, pods: pods, types: types, tried: map[string]int{}, left: nodename.LeftIn(p.snapshot)}
	if err := x.checkTypes(); err != nil {
		return nil, err
	}
	counts, err := x.search()
	if err != nil {
		return nil, err
	}
	result, err := x.place(counts)
	if err != nil {
		return nil, err
	}
	n := &NodesNeeded{Counts: []NodeCount{}, Price: x.price(counts), LowerBound: x.lowerPrice(), Placement: *result}
	for i, t := range types {
		n.Counts = append(n.Counts, NodeCount{t.Name, counts[i]})
	}
	switch {
	case len(types) == 1:
		n.LowerBound = x.price([]int{x.from}) // all smaller numbers were tried
	case x.cheapest:
		n.LowerBound = n.Price
	}
	n.Exact = n.Price == n.LowerBound && !x.open
	return n, nil
}

// nodeSearch is the work on a NodesNeeded.
type nodeSearch struct {
	planner *Planner
	pods    []*framework.PodInfo
	never   []*framework.PodInfo // fit on no node, whatever is added
	types   []NodeType
	left    nodename.Left         // of nodes that are gone
	most    []int                 // by type
	sets    [][]int               // types that may help only together
	useful  map[string]bool       // the nodes that may take one of the pods
	fresh   []*framework.NodeInfo // a new node of each type
	goal    int                   // how many pods are to be placed
	reached int                   // a number of nodes of the only type that raised the goal
	open    bool                  // a number of nodes that was not tried may place more
	from    int                   // of the only type: with fewer nodes the goal is out of reach
	tried   map[string]int
	found   bool // nodes of one type suffice; with one type it is not looked for
	spent   int  // verdicts of nodes, about: decisions ask again about the nodes that changed
	classes int  // of the pods

	alike    *alikePods // nil if the pods differ, or cannot be counted
	cheapest bool       // every choice was considered
}

// maxPrice bounds prices, so that sums cannot overflow.
const maxPrice = 1 << 40

func (x *nodeSearch) checkTypes() error {
	names := map[string]bool{}
	for i := range x.types {
		t := &x.types[i]
		invalid := func(field, value, text string) error {
			return &api.InvalidError{Object: fmt.Sprintf("types[%d]", i), Field: field, Value: value, Err: errors.New(text)}
		}
		switch {
		case t.Name == "":
			return invalid("name", "", "must not be empty")
		case names[t.Name]:
			return invalid("name", t.Name, "two types have this name")
		case t.Node == nil:
			return invalid("node", "", "is nil")
		case t.Price < 0 || t.Price > maxPrice:
			return invalid("price", strconv.FormatInt(t.Price, 10), "must not be negative, nor above 2^40")
		case t.Max < 0:
			return invalid("max", strconv.Itoa(t.Max), "must not be negative")
		}
		names[t.Name] = true
	}
	return nil
}

// comeCost is what a node that comes costs, and each pod that comes with it, in verdicts.
const comeCost = 100

// claimCost is what a claim costs that is made for an ephemeral volume, in verdicts.
const claimCost = 60

// with calls f with a fork that has so many nodes of each type more.
func (x *nodeSearch) with(counts []int, f func(s *framework.Snapshot) error) error {
	return x.planner.inFork(func(s *framework.Snapshot) error {
		for i, n := range counts {
			x.spent += n * comeCost * (1 + len(x.types[i].Pods))
			if _, err := x.addNodes(s, i, n); err != nil {
				return err
			}
		}
		defer func() { x.spent += claimCost * x.planner.made }()
		return f(s)
	})
}

// place places all pods with so many nodes more.
func (x *nodeSearch) place(counts []int) (result *Placement, err error) {
	err = x.with(counts, func(s *framework.Snapshot) (err error) {
		result, err = x.planner.placeAll(s, slices.Concat(x.pods, x.never))
		return err
	})
	return result, err
}

// suffices reports whether so many nodes reach the goal.
func (x *nodeSearch) suffices(counts []int) (bool, error) {
	key := fmt.Sprint(counts)
	placed, known := x.tried[key]
	if !known {
		var err error
		if placed, err = x.count(counts); err != nil {
			return false, err
		}
		x.tried[key] = placed
	}
	return placed >= x.goal, nil
}

// count returns how many pods are placed with so many nodes more. It stops when the goal is
// out of reach.
func (x *nodeSearch) count(counts []int) (placed int, err error) {
	if placed, ok, err := x.countAlike(counts); ok || err != nil {
		return placed, err
	}
	err = x.with(counts, func(s *framework.Snapshot) error {
		x.spent += x.classes * s.Len()
		for i, pod := range x.pods {
			if placed+len(x.pods)-i < x.goal {
				break // too many have failed
			}
			x.spend(s, pod)
			_, err := x.planner.assume(s, pod)
			if err == nil {
				placed++
			} else if _, err = missed(pod, err); err != nil {
				return err
			}
		}
		return nil
	})
	return placed, err
}

// spend counts what it costs to place the pod. If it spreads, each pod that is placed may change the
// verdicts of many nodes.
func (x *nodeSearch) spend(s *framework.Snapshot, pod *framework.PodInfo) {
	x.spent += x.classes
	if x.planner.spreads(pod) {
		x.spent += s.Len()
	}
}

func (x *nodeSearch) price(counts []int) (sum int64) {
	for i, n := range counts {
		sum += x.types[i].price() * int64(n)
	}
	return sum
}

// WriteTable writes the answer as text for people.
func (n *NodesNeeded) WriteTable(w io.Writer) error {
	var t table
	found := "the cheapest found; none costs less than " + strconv.FormatInt(n.LowerBound, 10)
	if n.Exact {
		found = "none costs less"
	}
	t.line("price %d, %s", n.Price, found)
	t.row("TYPE", "NODES")
	for _, c := range n.Counts {
		t.row(c.Type, c.Nodes)
	}
	t.line("%d pods placed, %d fit on none", len(n.Placement.Placed), len(n.Placement.Unplaced))
	for _, u := range n.Placement.Unplaced {
		t.row(u.Pod, u.Message)
	}
	return t.write(w)
}
