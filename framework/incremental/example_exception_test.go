package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// quiet prefers nodes without pods of the app. All nodes are of one group, and those
// with such pods are its exceptions: the incremental path asks about these, and once for
// all others.
type quiet struct {
	pods    map[int]int64 // of the app, by slot
	of      []int32
	changes []int // slots; the version is how many there are
}

func (q *quiet) Score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	return q.GroupScore(pod, node) - q.pods[node.Slot()]
}

func (q *quiet) GroupScore(*framework.PodInfo, *framework.NodeInfo) int64 { return 10 }

func (q *quiet) Groups() incremental.Groups {
	return incremental.Groups{Of: q.of, Count: 1, Prepared: true}
}

func (q *quiet) Exceptions(visit func(slot int)) {
	for slot := range q.pods {
		visit(slot)
	}
}

func (q *quiet) Version() uint64 { return uint64(len(q.changes)) }

func (q *quiet) ExceptionsChanged(since uint64, _ []int32, visit func(slot int)) bool {
	for _, slot := range q.changes[since:] {
		visit(slot)
	}
	return true
}

func (q *quiet) Changed(since uint64, dirty func(slot int)) bool {
	return q.ExceptionsChanged(since, nil, dirty) // the score of the group never changes
}

func ExampleExceptionScorer() {
	snap := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b", "c"} {
		if err := snap.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
			fmt.Println(err)
			return
		}
	}
	q := &quiet{pods: map[int]int64{}, of: make([]int32, 3)}
	var scorer incremental.ExceptionScorer = q
	version := scorer.Version()
	b := snap.Node("b")
	q.pods[b.Slot()], q.changes = 4, append(q.changes, b.Slot()) // as if pods had come
	ok := scorer.ExceptionsChanged(version, nil, func(slot int) {
		fmt.Println(snap.AtSlot(slot).Name(), scorer.Score(nil, snap.AtSlot(slot)), "others", scorer.GroupScore(nil, b))
	})
	fmt.Println(ok)
	// Output:
	// b 6 others 10
	// true
}
