package incremental_test

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// guests prefers nodes with few guests. It knows its changes, and those of the snapshot that it was forked
// from until then.
type guests struct {
	quiet
	number uint64 // of the fork
	parent uint64 // 0: it is no fork
	then   int    // how many changes there were
}

// fork is what an Extension does whose snapshot is forked.
func (g *guests) fork(number uint64) *guests {
	f := &guests{number: number, parent: g.number, then: len(g.changes)}
	f.pods, f.of, f.changes = map[int]int64{}, g.of, append([]int(nil), g.changes...)
	for slot, n := range g.pods {
		f.pods[slot] = n
	}
	return f
}

func (g *guests) arrive(n *framework.NodeInfo) {
	g.pods[n.Slot()]++
	g.changes = append(g.changes, n.Slot())
}

func guestState(b []byte, number uint64, changes int) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, number), uint64(changes))
}

func (g *guests) AppendState(b []byte) []byte { return guestState(b, g.number, len(g.changes)) }

func (g *guests) AppendOrigin(b []byte) []byte {
	if g.parent == 0 {
		return b
	}
	return guestState(b, g.parent, g.then)
}

// ChangedFrom can tell for states of its own, and for those of its parent before the fork.
func (g *guests) ChangedFrom(state []byte, dirty func(slot int)) bool {
	changes := int(binary.BigEndian.Uint64(state[8:]))
	own := bytes.HasPrefix(state, guestState(nil, g.number, 0)[:8])
	parents := g.parent > 0 && bytes.HasPrefix(state, guestState(nil, g.parent, 0)[:8]) && changes <= g.then
	return (own || parents) && g.Changed(uint64(changes), dirty)
}

func (g *guests) ExceptionsChangedFrom(state []byte, _ []int32, visit func(slot int)) bool {
	return g.ChangedFrom(state, visit)
}

// Two forks of a snapshot differ from it by what has changed in each of them since. So an answer of one of them
// holds in the other but for both.
func ExampleForkTracker() {
	snap := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b", "c"} {
		if err := snap.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
			fmt.Println(err)
			return
		}
	}
	root := &guests{number: 1, quiet: quiet{pods: map[int]int64{}, of: make([]int32, 3)}}
	root.arrive(snap.Node("a"))
	left, right := root.fork(2), root.fork(3)
	left.arrive(snap.Node("b"))
	right.arrive(snap.Node("c"))
	var one, other incremental.ForkTracker = left, right
	print := func(slot int) { fmt.Println(snap.AtSlot(slot).Name()) }
	fmt.Println("the other fork:", other.ChangedFrom(one.AppendState(nil), print))
	origin := one.AppendOrigin(nil)
	fmt.Println("before the fork:", one.ChangedFrom(origin, print), other.ChangedFrom(origin, print))
	// Output:
	// the other fork: false
	// b
	// c
	// before the fork: true true
}

// Where a scorer has exceptions, the same holds for them.
func ExampleForkExceptionScorer() {
	root := &guests{number: 1, quiet: quiet{pods: map[int]int64{0: 1}, of: make([]int32, 3), changes: []int{0}}}
	fork := root.fork(2)
	fork.pods[2], fork.changes = 1, append(fork.changes, 2) // as if a guest had come
	var scorer incremental.ForkExceptionScorer = fork
	ok := scorer.ExceptionsChangedFrom(root.AppendState(nil), []int32{0}, func(slot int) { fmt.Println("slot", slot) })
	fmt.Println(ok)
	// Output:
	// slot 2
	// true
}
