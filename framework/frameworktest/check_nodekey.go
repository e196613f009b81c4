package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// checkNodeKey compares the scores of nodes with equal keys, in the cluster and in ones that
// differ in one thing.
func (k *kit) checkNodeKey() *Failure {
	snapshots := []*framework.Snapshot{k.snapshot}
	for _, c := range k.changes(k.random()) {
		if f := k.snapshot.Fork(); c.apply(f) == nil {
			snapshots = append(snapshots, f)
		}
	}
	for _, s := range snapshots {
		for _, p := range k.pods {
			a := k.ask(new(framework.Cycle), s, p, nil)
			keyer, ok := a.scorer.(incremental.NodeKeyer)
			if !ok {
				continue
			}
			if f := k.sameByKey(keyer, a); f != nil {
				return f
			}
		}
	}
	return nil
}

// sameByKey wants one score of all nodes with one key.
func (k *kit) sameByKey(keyer incremental.NodeKeyer, a *answers) *Failure {
	const prefix = "prefix"
	k.calling = "AppendNodeKey"
	first := map[string]int{}
	for i, n := range a.feasible {
		k.node = n.Name()
		key := string(keyer.AppendNodeKey(nil, k.pod, n))
		if got := string(keyer.AppendNodeKey([]byte(prefix), k.pod, n)); got != prefix+key {
			return k.fail("AppendNodeKey, asked again behind other bytes", fmt.Sprintf("%q", got), fmt.Sprintf("%q", prefix+key))
		}
		other, ok := first[key]
		if !ok {
			first[key] = i
			continue
		}
		if a.raw[i] != a.raw[other] {
			return k.fail("raw score of a node with the key of "+a.feasible[other].Name(), fmt.Sprint(a.raw[i]), fmt.Sprint(a.raw[other]))
		}
	}
	return nil
}
