package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// maxColumns is the number of resources to show.
const maxColumns = 4

// A NodeShare says how full a node is.
type NodeShare struct {
	Node string `json:"node"`
	// Pods counts its pods.
	Pods int `json:"pods"`
	// Requested is what they request, as a share of what is allocatable, by resource. A
	// resource that the node does not have is left out.
	Requested map[resource.Name]float64 `json:"requested"`
}

// A usage is how full the nodes of a snapshot are.
type usage struct {
	columns []resource.Name
	nodes   []NodeShare // by name
	total   NodeShare
}

// usageOf measures a snapshot: CPU, memory, and what else some pod requests.
func usageOf(snap *framework.Snapshot) *usage { return usagesOf(snap)[0] }

// usagesOf measures snapshots of one schema by the same resources.
func usagesOf(snaps ...*framework.Snapshot) (list []*usage) {
	columns := []int{resource.IndexCPU, resource.IndexMemory}
	for i := resource.IndexMemory + 1; i < snaps[0].Schema().Len() && len(columns) < maxColumns; i++ {
		if slices.ContainsFunc(snaps, func(s *framework.Snapshot) bool { return isRequested(s, i) }) {
			columns = append(columns, i)
		}
	}
	for _, s := range snaps {
		list = append(list, measure(s, columns))
	}
	return list
}

// isRequested reports whether some pod requests a resource.
func isRequested(snap *framework.Snapshot, i int) bool {
	for _, n := range snap.All() {
		if n.Requested.At(i) > 0 {
			return true
		}
	}
	return false
}

func measure(snap *framework.Snapshot, columns []int) *usage {
	u := &usage{total: NodeShare{Node: "(all)", Requested: map[resource.Name]float64{}}}
	schema := snap.Schema()
	requested, allocatable := make([]float64, schema.Len()), make([]float64, schema.Len())
	for _, n := range snap.All() {
		u.total.Pods += len(n.Pods)
		for i := range requested {
			requested[i] += float64(n.Requested.At(i))
			allocatable[i] += float64(n.Allocatable.At(i))
		}
	}
	for _, i := range columns {
		u.columns = append(u.columns, schema.Name(i))
		if allocatable[i] > 0 {
			u.total.Requested[schema.Name(i)] = requested[i] / allocatable[i]
		}
	}
	for _, n := range snap.All() {
		share := NodeShare{n.Name(), len(n.Pods), map[resource.Name]float64{}}
		for _, i := range columns {
			if has := n.Allocatable.At(i); has > 0 {
				share.Requested[schema.Name(i)] = float64(n.Requested.At(i)) / float64(has)
			}
		}
		u.nodes = append(u.nodes, share)
	}
	slices.SortFunc(u.nodes, func(a, b NodeShare) int { return compareNames(a.Node, b.Node) })
	return u
}

// compareNames sorts node-2 before node-10.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		i, j := digits(x), digits(y)
		if i > 0 && j > 0 {
			m, n := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[i:], y[j:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits is the length of the number that a text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// share returns the share of a resource, -1 if the node has none of it.
func (n *NodeShare) share(name resource.Name) float64 {
	if v, ok := n.Requested[name]; ok {
		return v
	}
	return -1
}

// layers returns a layer for each resource of the heat map.
func (u *usage) layers(prefix string) (list []page.Layer) {
	for _, c := range u.columns {
		l := page.Layer{Name: prefix + string(c)}
		for i := range u.nodes {
			l.Values = append(l.Values, u.nodes[i].share(c))
		}
		list = append(list, l)
	}
	return list
}

func (u *usage) names() (names []string) {
	for i := range u.nodes {
		names = append(names, u.nodes[i].Node)
	}
	return names
}

// table lists all nodes together, then single ones, the fullest first.
func (u *usage) table() page.Table {
	t := page.Table{Head: []string{"node", "pods"}, Top: 1}
	for _, c := range u.columns {
		t.Head = append(t.Head, string(c))
	}
	fullest := func(n *NodeShare) (most float64) {
		for _, c := range u.columns {
			most = max(most, n.share(c))
		}
		return most
	}
	sorted := slices.Clone(u.nodes)
	slices.SortStableFunc(sorted, func(a, b NodeShare) int { return cmp.Compare(fullest(&b), fullest(&a)) })
	for _, n := range append([]NodeShare{u.total}, sorted...) {
		row := []page.Cell{n.Node, n.Pods}
		for _, c := range u.columns {
			row = append(row, page.Percent(n.share(c)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// section shows how full the nodes are.
func (u *usage) section(title, note string) page.Section {
	return page.Section{Title: title, Note: note, Table: u.table(), Figure: &page.HeatMap{Names: u.names(), Layers: u.layers("")}}
}

// beside pairs the shares of two moments, or two profiles, node by node. Nodes that only
// the second has come last.
func beside(before, then *framework.Snapshot, nameA, nameB string, marked map[string]bool, markedAs string) page.Section {
	both := usagesOf(before, then)
	a, b := both[0], both[1]
	h := &page.HeatMap{Paired: true}
	if len(marked) > 0 {
		h.MarkedAs = markedAs
	}
	inB := map[string]*NodeShare{}
	for i := range b.nodes {
		inB[b.nodes[i].Node] = &b.nodes[i]
	}
	all, inA := slices.Clone(a.nodes), map[string]bool{}
	for i := range a.nodes {
		inA[a.nodes[i].Node] = true
	}
	for i := range b.nodes {
		if !inA[b.nodes[i].Node] {
			all = append(all, NodeShare{Node: b.nodes[i].Node})
		}
	}
	columns := a.columns // those of b are the same
	t := page.Table{Head: []string{"node", "pods " + nameA, "pods " + nameB}, Top: 1}
	for _, c := range columns {
		t.Head = append(t.Head, string(c)+" "+nameA, string(c)+" "+nameB)
		h.Layers = append(h.Layers, page.Layer{Name: string(c) + ", " + nameA}, page.Layer{Name: string(c) + ", " + nameB})
	}
	row := func(name string, x, y *NodeShare) {
		cells := []page.Cell{name, x.Pods, y.Pods}
		for _, c := range columns {
			cells = append(cells, page.Percent(x.share(c)), page.Percent(y.share(c)))
		}
		t.Rows = append(t.Rows, cells)
	}
	row("(all)", &a.total, &b.total)
	var same [][]page.Cell
	for i := range all {
		n := &all[i]
		m := inB[n.Node]
		if m == nil {
			m = &NodeShare{Node: n.Node}
		}
		h.Names = append(h.Names, n.Node)
		h.Marked = append(h.Marked, marked[n.Node])
		for k, c := range columns {
			h.Layers[2*k].Values = append(h.Layers[2*k].Values, n.share(c))
			h.Layers[2*k+1].Values = append(h.Layers[2*k+1].Values, m.share(c))
		}
		row(n.Node, n, m)
		changed := n.Pods != m.Pods || slices.ContainsFunc(columns, func(c resource.Name) bool { return n.share(c) != m.share(c) })
		if !changed { // nodes that change come first
			same, t.Rows = append(same, t.Rows[len(t.Rows)-1]), t.Rows[:len(t.Rows)-1]
		}
	}
	t.Rows, t.Same = append(t.Rows, same...), len(same)
	return page.Section{Table: t, Figure: h}
}

// after returns the cluster with the moves made, and the pods of gone evicted for good.
func after(snap *framework.Snapshot, moves []whatif.Move, gone []whatif.Stuck) (*framework.Snapshot, error) {
	fork := snap.Fork()
	leave := func(key string) (*framework.PodInfo, error) {
		pod, node := fork.Pod(key)
		if pod == nil {
			return nil, fmt.Errorf("pod %s is on no node", key)
		}
		return pod, fork.RemovePodAt(pod, node)
	}
	for _, x := range gone {
		if x.Evicted {
			if _, err := leave(x.Pod); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range moves {
		pod, err := leave(m.Pod)
		if err != nil {
			return nil, err
		}
		if err := fork.AddPod(pod.Pending(), m.To); err != nil {
			return nil, err
		}
	}
	return fork, nil
}

// with returns the cluster with the pods placed.
func with(snap *framework.Snapshot, pods []*framework.PodInfo, placed []whatif.Placed) (*framework.Snapshot, error) {
	fork := snap.Fork()
	byKey := map[string]*framework.PodInfo{}
	for _, p := range pods {
		byKey[p.Pod.Key()] = p
	}
	for _, x := range placed {
		if err := fork.AddPod(byKey[x.Pod], x.Node); err != nil {
			return nil, err
		}
	}
	return fork, nil
}

// movesTable lists moves, with their batches if there are any.
func movesTable(moves []whatif.Move) page.Table {
	t := page.Table{Head: []string{"pod", "from", "to"}}
	batches := slices.ContainsFunc(moves, func(m whatif.Move) bool { return m.Batch > 0 })
	if batches {
		t.Head = append(t.Head, "batch")
	}
	for _, m := range moves {
		pod := m.Pod
		if m.Bare {
			pod += " (no controller)"
		}
		row := []page.Cell{pod, m.From, m.To}
		if batches {
			row = append(row, m.Batch)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func stuckTable(stuck []whatif.Stuck) page.Table {
	t := page.Table{Head: []string{"pod", "node", "why"}}
	for _, x := range stuck {
		t.Add(x.Pod, x.From, x.Message)
	}
	return t
}
