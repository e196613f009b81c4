package whatif

import (
	"cmp"
	"io"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Removal is whether a node may go, and where its pods would go.
type Removal struct {
	Node      string `json:"node"`
	Removable bool   `json:"removable"`
	// Moves holds the pods that find another node. It is complete only if the node may
	// go.
	Moves []Move `json:"moves"`
	// Stuck is the first pod that keeps the node; nil if it may go.
	Stuck *Stuck `json:"stuck,omitempty"`
}

// A Consolidation is which nodes may go together.
type Consolidation struct {
	// Removed lists the nodes in the order in which they go, cheapest first.
	Removed []string `json:"removed"`
	// Moves holds every pod that ends on another node, by pod.
	Moves []Move `json:"moves"`
	// Kept holds the nodes that stay, with the pod that keeps each.
	Kept []Stuck `json:"kept"`
}

// Removable asks for each of the nodes, as an autoscaler does, whether the cluster
// could do without it: whether each of its pods may be evicted and fits on another
// node. Each node is asked about on its own. Without names it asks about all nodes.
// Pods of DaemonSets and static pods go with their node, and so do pods that are being deleted, unless a
// StatefulSet makes them again. A pod with the annotation
// cluster-autoscaler.kubernetes.io/safe-to-evict: "false" keeps it.
//
// The node stays in the snapshot while its pods are placed, but takes none, as in the
// simulation of the cluster autoscaler. So its zone still counts for spread constraints.
//
// Differs: pods without a controller.
// Original: the cluster autoscaler keeps their node, unless safe-to-evict is "true".
// Here: they may leave, and [Move] says Bare.
// Why: snapshots of tests and plans seldom name controllers; the caller sees which pods
// nobody makes again, and decides.
//
// Differs: pods of kube-system without a PodDisruptionBudget, and with local storage.
// Original: by default the cluster autoscaler keeps their node.
// Here: they may leave.
// Why: moving them is often what is wanted, and the answer is a proposal.
func (p *Planner) Removable(names ...string) ([]Removal, error) {
	names, err := p.named(names)
	if err != nil {
		return nil, err
	}
	list := make([]Removal, len(names))
	budgets := budgetsOf(p.snapshot)
	for i, name := range names {
		err := p.try(func(s *framework.Snapshot) (err error) {
			list[i], err = p.remove(s, s.Node(name), budgets)
			budgets.undo(0)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// annotationSafeToEvict tells autoscalers whether they may evict a pod.
const annotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"

// refuses says why an autoscaler may not evict the pod; "" if it may. A pod that has
// ended keeps no node.
func refuses(p *api.Pod) (why string) {
	if p.Status.Phase.HasEnded() || p.Annotations[annotationSafeToEvict] != "false" {
		return ""
	}
	return "the pod has the annotation " + annotationSafeToEvict + `: "false"`
}

// named returns the names, each once, or those of all nodes.
func (p *Planner) named(names []string) ([]string, error) {
	if len(names) == 0 {
		for _, n := range p.snapshot.All() {
			names = append(names, n.Name())
		}
		return names, nil
	}
	list, err := nodes(p.snapshot, names)
	if err != nil {
		return nil, err
	}
	names = nil
	for _, n := range list {
		names = append(names, n.Name())
	}
	return names, nil
}

// remove bars the node and moves its pods elsewhere. It ends at the first that is
// stuck.
func (p *Planner) remove(s *framework.Snapshot, n *framework.NodeInfo, budgets *budgets) (Removal, error) {
	r := Removal{Node: n.Name(), Moves: []Move{}}
	pods, _ := leaving(s, []*framework.NodeInfo{n})
	for _, x := range pods {
		why := refuses(x.pod.Pod)
		if why == "" {
			why = budgets.take(x.pod.Pod)
		}
		if why != "" {
			r.Stuck = &Stuck{Pod: x.pod.Pod.Key(), From: r.Node, Message: why}
			return r, nil
		}
	}
	barred.Of(s).Set(s.AtSlot(n.Slot()), true)
	for _, x := range pods {
		if err := p.release(s, x.pod, r.Node); err != nil {
			return r, err
		}
	}
	for _, x := range pods {
		to, miss, err := p.place(s, x.pod.Pending())
		if err != nil {
			return r, err
		}
		if miss != nil {
			r.Stuck = &Stuck{Pod: miss.Pod, From: r.Node, Message: miss.Message, Reasons: miss.Reasons, Evicted: true}
			return r, nil
		}
		budgets.placed[x.pod.Pending().Pod] = true
		r.Moves = append(r.Moves, Move{Pod: x.pod.Pod.Key(), From: r.Node, To: to, Bare: x.pod.Pod.ControllerRef() == nil})
	}
	r.Removable = true
	return r, nil
}

// Consolidate removes as many of the nodes as it can, one after the other: those with
// the fewest pods to move first, among equals the emptiest. A node goes if Removable
// says so with the earlier ones gone. The budgets hold for all removals together.
// Without names it tries all nodes.
//
// The result is a plan that works, not the largest one: that is a bin-packing problem.
func (p *Planner) Consolidate(names ...string) (*Consolidation, error) {
	names, err := p.named(names)
	if err != nil {
		return nil, err
	}
	c := &Consolidation{Removed: []string{}, Moves: []Move{}, Kept: []Stuck{}}
	err = p.try(func(s *framework.Snapshot) error {
		moves := map[string]*Move{}
		budgets := budgetsOf(s)
		for _, name := range cheapestFirst(s, names) {
			mark := s.Begin()
			taken := len(budgets.taken)
			r, err := p.remove(s, s.Node(name), budgets)
			if err != nil {
				return err
			}
			if !r.Removable {
				s.Rollback(mark)
				budgets.undo(taken)
				c.Kept = append(c.Kept, *r.Stuck)
				continue
			}
			s.Commit(mark)
			c.Removed = append(c.Removed, name)
			for _, m := range r.Moves {
				if first := moves[m.Pod]; first != nil {
					first.To = m.To // it moves again
				} else {
					moves[m.Pod] = &m
				}
			}
		}
		for _, m := range moves {
			c.Moves = append(c.Moves, *m)
		}
		slices.SortFunc(c.Moves, func(a, b Move) int { return cmp.Compare(a.Pod, b.Pod) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// cheapestFirst orders nodes by the pods that must leave, then by the largest share of
// a resource that is requested, then by name.
func cheapestFirst(s *framework.Snapshot, names []string) []string {
	type cost struct {
		name  string
		pods  int
		share float64
	}
	costs := make([]cost, len(names))
	for i, name := range names {
		n := s.Node(name)
		pods, _ := leaving(s, []*framework.NodeInfo{n})
		costs[i] = cost{name, len(pods), largestShare(n)}
	}
	slices.SortFunc(costs, func(a, b cost) int {
		return cmp.Or(cmp.Compare(a.pods, b.pods), cmp.Compare(a.share, b.share), cmp.Compare(a.name, b.name))
	})
	ordered := make([]string, len(costs))
	for i, c := range costs {
		ordered[i] = c.name
	}
	return ordered
}

// largestShare is the largest share of a resource of the node that is requested.
func largestShare(n *framework.NodeInfo) (share float64) {
	for i, has := range n.Allocatable {
		if has > 0 {
			share = max(share, float64(n.Requested.At(i))/float64(has))
		}
	}
	return share
}

// WriteTable writes the consolidation as text for people.
func (c *Consolidation) WriteTable(w io.Writer) error {
	var t table
	t.line("%d of %d nodes can go; %d pods move", len(c.Removed), len(c.Removed)+len(c.Kept), len(c.Moves))
	if len(c.Removed) > 0 {
		t.row("REMOVED")
	}
	for _, name := range c.Removed {
		t.row(name)
	}
	t.end()
	writeMoves(&t, c.Moves)
	if len(c.Kept) > 0 {
		t.row("KEPT NODE", "BY POD", "WHY")
	}
	for _, x := range c.Kept {
		t.row(x.From, x.Pod, x.Message)
	}
	return t.write(w)
}
