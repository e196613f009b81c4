package soak

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
)

// shiftLabel has the seconds after which a node goes from work to rest and back.
const shiftLabel = "shift"

// shifts rejects nodes while they rest, and prefers those that work for long. Its
// answers hold up to a time, and it normalizes a list of nodes: no plugin of the
// presets of kube-scheduler does either.
type shifts struct{}

func (shifts) Name() string { return "Shifts" }

// Scope declares that answers read the node and the time.
func (shifts) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsTime}
}

func (shifts) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: boundShifts{c.Snapshot}}, framework.Status{}
}

func (shifts) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return boundShifts{c.Snapshot}, framework.Status{}
}

// boundShifts answers for the present time of a snapshot.
type boundShifts struct{ snapshot *framework.Snapshot }

// shift returns the number of the node's present shift, and how many seconds each
// takes; 0, 0 if the node always works.
func (b boundShifts) shift(n *framework.NodeInfo) (number, seconds int64) {
	seconds, err := strconv.ParseInt(n.Node.Labels[shiftLabel], 10, 64)
	if err != nil {
		return 0, 0
	}
	return b.snapshot.Now().Unix() / seconds, seconds
}

func (b boundShifts) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if number, _ := b.shift(n); number%2 != 0 {
		return framework.UnschedulableStatus(framework.Text("node(s) at rest"))
	}
	return framework.Status{}
}

func (b boundShifts) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	number, seconds := b.shift(n)
	return seconds + number%3
}

func (b boundShifts) NormalizeScores(_ []*framework.NodeInfo, scores []int64) {
	most := int64(1)
	for _, s := range scores {
		most = max(most, s)
	}
	for i := range scores {
		scores[i] = framework.MaxNodeScore * scores[i] / most
	}
}

// ValidUntil is the end of the present shift.
func (b boundShifts) ValidUntil(_ *framework.PodInfo, n *framework.NodeInfo) time.Time {
	number, seconds := b.shift(n)
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix((number+1)*seconds, 0)
}

// crowds prefers some nodes while few are feasible, and else takes no part in the decision: a
// scorer that skips one set of feasible nodes and ranks another.
type crowds struct{ few int }

func (crowds) Name() string { return "Crowds" }

// Scope declares that PreScore reads which nodes are feasible, and Score the node.
func (crowds) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsFeasible}
}

func (x crowds) PreScore(_ *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if len(feasible) > x.few {
		return nil, framework.SkipStatus()
	}
	return x, framework.Status{}
}

func (crowds) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(n.Name()[len(n.Name())-1]) % 11
}

// rows names the nodes of a pod's row, for some classes of pods: one node of every few, those of
// a row that is nearly empty, or names that no node has. It declares no scope.
type rows struct{ every int }

func (rows) Name() string { return "Rows" }

// rowOf is the row of a pod that has one.
func rowOf(p *framework.PodInfo) (row int, ok bool) {
	n, found := strings.CutPrefix(p.Pod.Labels["app"], "app-")
	row, err := strconv.Atoi(n)
	return row, found && err == nil && row%2 != 0
}

func (x rows) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	row, ok := rowOf(c.Pod)
	if !ok {
		return framework.PreFiltered{}, framework.Status{}
	}
	names := []string{"gone", "node-0"}
	for _, n := range c.Snapshot.All() {
		if len(n.Name())%2 == row/2%2 || (n.Name()[len(n.Name())-1]+byte(row))%byte(x.every) == 0 {
			names = append(names, n.Name())
		}
	}
	slices.Sort(names)
	return framework.PreFiltered{NodeNames: slices.Compact(names)}, framework.Status{}
}

func (rows) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// aisles is rows with a scope, so that its answers are kept.
type aisles struct{ rows }

func (aisles) Name() string { return "Aisles" }

// Scope declares that PreFilter reads labels and the names of all nodes.
func (aisles) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsNodeSet}
}
