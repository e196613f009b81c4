package whatif

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A Move is a pod that goes from one node to another.
type Move struct {
	// Pod is "namespace/name".
	Pod  string `json:"pod"`
	From string `json:"from"`
	To   string `json:"to"`
	// Batch numbers the evictions that happen at once, from 1; 0 if there are none.
	Batch int `json:"batch,omitempty"`
	// Bare is set if the pod has no controller, so nobody makes it again elsewhere.
	Bare bool `json:"bare,omitempty"`
}

// A Stuck is a pod that cannot leave its node, or would fit nowhere else.
type Stuck struct {
	// Pod is "namespace/name".
	Pod  string `json:"pod"`
	From string `json:"from"`
	// Message says why; Reasons are its parts if no node takes the pod.
	Message string   `json:"message"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Evicted is set if the budgets let the pod go, so it has left and waits.
	Evicted bool `json:"evicted,omitempty"`
}

// A Drain is what becomes of the pods of nodes that are drained together.
type Drain struct {
	Nodes []string `json:"nodes"`
	// Batches is how many rounds of evictions the budgets demand.
	Batches int `json:"batches"`
	// Moves holds the pods that find another node, in the order of their placement.
	Moves []Move `json:"moves"`
	// Stuck holds the pods for which draining fails.
	Stuck []Stuck `json:"stuck"`
	// Left lists pods that a drain leaves alone: those of DaemonSets, static pods, and pods that are
	// being deleted, unless a StatefulSet that is not being deleted itself will make them again.
	Left []string `json:"left,omitempty"`
}

// Clean reports whether every pod that must leave finds another node.
func (d *Drain) Clean() bool { return len(d.Stuck) == 0 }

// running is a pod with the node that it is on.
type running struct {
	pod  *framework.PodInfo
	node string
}

// isGoing reports whether the pod is being deleted, and needs no other place: its controller has made
// another pod already. A StatefulSet waits until it has gone, and makes none if it is being deleted itself, or has
// fewer replicas now.
func isGoing(s *framework.Snapshot, p *api.Pod) bool {
	owner := p.ControllerRef()
	if p.DeletionTimestamp == nil || owner == nil || owner.Kind != "StatefulSet" {
		return p.DeletionTimestamp != nil
	}
	set := framework.Lookup[api.StatefulSet](s, p.Namespace+"/"+owner.Name)
	return set != nil && (set.DeletionTimestamp != nil || !numbers(set, p.Name))
}

// numbers reports whether a StatefulSet has a replica of the pod's number, or the name has none.
func numbers(set *api.StatefulSet, pod string) bool {
	number, err := strconv.ParseInt(pod[strings.LastIndexByte(pod, '-')+1:], 10, 32)
	if err != nil {
		return true
	}
	start, replicas := int64(0), int64(1)
	if set.Spec.Ordinals != nil {
		start = int64(max(0, set.Spec.Ordinals.Start))
	}
	if set.Spec.Replicas != nil {
		replicas = int64(*set.Spec.Replicas)
	}
	return number >= start && number-start < replicas
}

// leaving splits the pods of nodes of a snapshot into those that must leave, as a queue takes them,
// and the keys of those that stay, sorted.
func leaving(s *framework.Snapshot, nodes []*framework.NodeInfo) (pods []running, left []string) {
	for _, n := range nodes {
		for _, p := range n.Pods {
			if workload.BelongsToNode(p.Pod) || isGoing(s, p.Pod) {
				left = append(left, p.Pod.Key())
			} else {
				pods = append(pods, running{p, n.Name()})
			}
		}
	}
	byPriority(pods)
	slices.Sort(left)
	return pods, left
}

// Drain cordons the nodes and evicts their pods, in as many batches as the
// PodDisruptionBudgets demand. All pods of a batch leave at once and are placed again by
// priority; those that run again count as healthy for the next batch. A pod that fits nowhere is tried
// again after each batch if other pods may have kept it off; all such pods together are tried again at
// most four times as often as there are pods. Pods that do not
// run or are not ready leave as the eviction API lets them: see
// [api.UnhealthyPodEvictionPolicy]. An unknown node is an [*api.InvalidError].
//
// A pod that tolerates the cordon and returns to a drained node is stuck.
//
// Differs: budgets of pods without a Ready condition.
// Original: the eviction API takes them for not ready, and may evict them past a budget.
// Here: they count as ready.
// Why: every kubelet sets the condition; only pods of manifests and plans lack it.
func (p *Planner) Drain(names ...string) (*Drain, error) {
	d, pods, err := p.newDrain(names)
	if err != nil {
		return nil, err
	}
	if p.likeCordon(pods) {
		err = p.drainBarred(d, pods)
	} else {
		err = p.drainCordoned(d, pods)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// newDrain is a drain that has not begun, and the pods that must leave.
func (p *Planner) newDrain(names []string) (d *Drain, pods []running, err error) {
	list, err := nodes(p.snapshot, names)
	if err != nil {
		return nil, nil, err
	}
	pods, left := leaving(p.snapshot, list)
	d = &Drain{Nodes: []string{}, Moves: []Move{}, Stuck: []Stuck{}, Left: left}
	for _, n := range list {
		d.Nodes = append(d.Nodes, n.Name())
	}
	return d, pods, nil
}

// drainBarred drains nodes that reject pods as if they were cordoned.
func (p *Planner) drainBarred(d *Drain, pods []running) error {
	return p.try(func(s *framework.Snapshot) error {
		state := cordons.Of(s)
		for _, name := range d.Nodes {
			state.Set(s.Node(name), true)
		}
		return p.drain(s, d, pods, budgetsOf(s))
	})
}

// drainCordoned drains nodes that are cordoned.
func (p *Planner) drainCordoned(d *Drain, pods []running) error {
	return p.inFork(func(s *framework.Snapshot) error {
		for _, name := range d.Nodes {
			if err := s.UpdateNode(cordoned(s.Node(name).Node)); err != nil {
				return err
			}
		}
		return p.drain(s, d, pods, budgetsOf(s))
	})
}

// cordoned returns the node as "kubectl cordon" and the node controller leave it.
func cordoned(n *api.Node) *api.Node {
	c := *n
	c.Spec.Unschedulable = true
	taint := api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule}
	if !slices.Contains(c.Spec.Taints, taint) {
		c.Spec.Taints = append(slices.Clone(c.Spec.Taints), taint)
	}
	return &c
}

func (p *Planner) drain(s *framework.Snapshot, d *Drain, pods []running, budgets *budgets) error {
	x := &draining{planner: p, snapshot: s, drain: d, exits: newExits(pods, budgets), tries: 4 * len(pods)}
	for batch := x.exits.open; len(batch) > 0; batch = x.exits.next() {
		d.Batches++
		if err := x.batch(batch); err != nil {
			return err
		}
	}
	for _, w := range x.waiting {
		d.Stuck = append(d.Stuck, w.why)
	}
	x.exits.refuse(d)
	return nil
}

// draining is the work on a Drain.
type draining struct {
	planner  *Planner
	snapshot *framework.Snapshot
	drain    *Drain
	exits    *exits
	waiting  []waiting
	tries    int // how often a pod that waits is tried again, at most
}

// waiting is a pod that has left its node and found no other, and why.
type waiting struct {
	exit  *exit
	why   Stuck
	later bool // it may fit once other pods have come or left
}

// batch takes all pods off their nodes and places them again, and pods of earlier batches that fit now.
func (x *draining) batch(batch []*exit) error {
	for _, pod := range batch {
		if err := x.planner.release(x.snapshot, pod.pod, pod.node); err != nil {
			return err
		}
	}
	for _, pod := range batch {
		if _, err := x.place(pod); err != nil {
			return err
		}
	}
	for again := true; again; {
		var err error
		if again, err = x.placeWaiting(); err != nil {
			return err
		}
	}
	return nil
}

// placeWaiting tries the pods that wait again, in their order, and reports whether one is placed: then
// others may follow it.
func (x *draining) placeWaiting() (some bool, err error) {
	list := x.waiting
	x.waiting = nil
	for _, w := range list {
		if x.tries == 0 || !w.later {
			x.waiting = append(x.waiting, w)
			continue
		}
		x.tries--
		placed, err := x.place(w.exit)
		if err != nil {
			return false, err
		}
		if placed {
			some = true
			x.exits.open = append(x.exits.open, w.exit) // it may let others go
		}
	}
	return some, nil
}

// mayFitLater reports whether a pod that fits nowhere may fit once other pods have come or left.
// Other nodes only get more pods, so if the filters look at one node each, nothing helps. A pod about which a plugin
// cannot decide is asked about again.
func (x *draining) mayFitLater(p *framework.PodInfo) (bool, error) {
	if holdsClaims(p) {
		return true, nil
	}
	f, err := x.planner.filters(x.snapshot, p)
	if err == nil {
		return !f.NodeOnly(), nil
	}
	_, err = missed(p, err)
	return true, err
}

// place places a pod that has left its node. One that runs again counts as healthy. One that fits nowhere
// waits.
func (x *draining) place(e *exit) (placed bool, err error) {
	d := x.drain
	to, miss, err := x.planner.place(x.snapshot, e.pod.Pending())
	stuck := Stuck{Pod: e.pod.Pod.Key(), From: e.node, Evicted: true}
	switch {
	case err != nil:
		return false, err
	case miss != nil:
		stuck.Message, stuck.Reasons = miss.Message, miss.Reasons
		later, err := x.mayFitLater(e.pod.Pending())
		x.waiting = append(x.waiting, waiting{e, stuck, later})
		return false, err
	case slices.Contains(d.Nodes, to):
		stuck.Message = "the pod tolerates the cordon and returns to " + to
		d.Stuck = append(d.Stuck, stuck)
	default:
		d.Moves = append(d.Moves, Move{stuck.Pod, e.node, to, d.Batches, e.pod.Pod.ControllerRef() == nil})
	}
	if e.line != nil {
		e.line.budget.allowed++
	}
	return true, nil
}

// WriteTable writes the drain as text for people.
func (d *Drain) WriteTable(w io.Writer) error {
	var t table
	t.line("%d nodes drain in %d batches: %d pods move, %d are stuck, %d stay", len(d.Nodes), d.Batches, len(d.Moves), len(d.Stuck), len(d.Left))
	writeMoves(&t, d.Moves)
	writeStuck(&t, d.Stuck)
	return t.write(w)
}

func writeMoves(t *table, moves []Move) {
	if len(moves) == 0 {
		return
	}
	t.row("POD", "FROM", "TO", "BATCH")
	for _, m := range moves {
		t.row(m.Pod, m.From, m.To, m.Batch)
	}
	t.end()
}

func writeStuck(t *table, stuck []Stuck) {
	if len(stuck) == 0 {
		return
	}
	t.row("STUCK POD", "FROM", "WHY")
	for _, x := range stuck {
		t.row(x.Pod, x.From, x.Message)
	}
	t.end()
}
