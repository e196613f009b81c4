package volumes

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/cow"
)

// Uses counts, for each claim, the pods on nodes that mount it. A pod that mounts a
// claim twice counts twice; claims of ephemeral volumes do not count. The counts
// are made on first use, and follow pods from then on.
//
// Source: kube-scheduler 1.37, backend/cache, usedPVCRefCounts.
type Uses struct{ counts cow.Map[string, int] }

var usesKey = framework.NewExtensionKey(func(s *framework.Snapshot) *Uses {
	u := new(Uses)
	for _, n := range s.All() {
		for _, p := range n.Pods {
			u.PodAdded(s, n, p)
		}
	}
	return u
})

// UsesIn returns the counts of a snapshot.
func UsesIn(s *framework.Snapshot) *Uses { return usesKey.Of(s) }

// Count returns how often pods on nodes mount the claim of that key.
func (u *Uses) Count(claim string) int {
	n, _ := u.counts.Get(claim)
	return n
}

// Fork implements [framework.Extension].
func (u *Uses) Fork(*framework.Snapshot) framework.Extension {
	return &Uses{u.counts.Fork()}
}

// PodAdded counts the claims of a pod added to a node.
func (u *Uses) PodAdded(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	for _, claim := range Of(p).Keys {
		u.counts.Set(claim, u.Count(claim)+1)
	}
}

// PodRemoved removes the counts of a removed pod.
func (u *Uses) PodRemoved(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	for _, claim := range Of(p).Keys {
		if n := u.Count(claim); n > 1 {
			u.counts.Set(claim, n-1)
		} else {
			u.counts.Remove(claim)
		}
	}
}
