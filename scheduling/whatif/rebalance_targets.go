package whatif

import (
	"math/big"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// targets are the nodes that take pods in one pass of a Rebalance.
//
// Invariant: a target is barred exactly if shut says so, and that it does not take a pod of the last use. spare is
// the sum of what the targets have to spare of each resource.
type targets struct {
	s     *framework.Snapshot
	prod  bool // the pass is about prod pods
	list  []*nodeUse
	at    map[string]int // places in list, by name
	shut  []bool
	last  podDemand
	spare []big.Int
}

// A podDemand is what a pod adds to the use of its node.
type podDemand struct {
	amounts []int64
	prod    bool
}

// newTargets are targets that are not barred.
func newTargets(s *framework.Snapshot, prod bool, list []*nodeUse, resources int) *targets {
	t := &targets{s: s, prod: prod, list: list, at: make(map[string]int, len(list)), shut: make([]bool, len(list)), spare: make([]big.Int, resources)}
	for i, n := range list {
		t.at[n.name] = i
		t.count(n, 1)
	}
	return t
}

// count adds what a target has to spare to the sums, or takes it off.
func (t *targets) count(n *nodeUse, sign int64) {
	var x big.Int
	for i := range t.spare {
		x.SetInt64(n.spare(i, t.prod))
		t.spare[i].Add(&t.spare[i], x.Mul(&x, big.NewInt(sign)))
	}
}

// haveSpare reports whether the targets together have use to spare of every resource.
func (t *targets) haveSpare() bool {
	for i := range t.spare {
		if t.spare[i].Sign() <= 0 {
			return false
		}
	}
	return true
}

// open bars the targets that a pod would make too full, and no others. Pods of equal use that come one after the
// other cost nothing.
func (t *targets) open(d podDemand) {
	if t.last.prod == d.prod && t.last.amounts != nil && slices.Equal(t.last.amounts, d.amounts) {
		return
	}
	t.last = d
	for i := range t.list {
		t.follow(i)
	}
}

// follow bars a target, or opens it, for the last use.
func (t *targets) follow(i int) {
	n := t.list[i]
	if shut := !n.takes(t.last.amounts, t.last.prod); shut != t.shut[i] {
		t.shut[i] = shut
		barred.Of(t.s).Set(t.s.AtSlot(n.slot), shut)
	}
}

// put counts a pod of the last use on a target.
func (t *targets) put(name string) {
	i, ok := t.at[name]
	if !ok {
		return
	}
	n := t.list[i]
	t.count(n, -1)
	n.add(t.last.amounts, 1, t.last.prod)
	t.count(n, 1)
	t.follow(i)
}
