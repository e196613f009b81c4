package soak

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// world is a cluster: the snapshot, and what a scheduler's driver keeps beside
// it.
type world struct {
	snap    *framework.Snapshot
	waiting []waiter
	leaving []leaver
	lost    []lostNode
}

// lostNode is a node that is missing for some time, with its pods.
type lostNode struct {
	name string
	pods []*framework.PodInfo // they do not change
	held []int                // of each pod, see unwritten
}

// waiter is a pod that has no node yet.
type waiter struct {
	info *framework.PodInfo
	node string // that is kept for it; "" for none
}

// leaver is a victim that has been asked to go, and is still there.
type leaver struct {
	info *framework.PodInfo
	node string
	due  int // the step in which it goes
}

// fork returns a world that can be changed on its own.
func (w *world) fork() *world {
	return &world{w.snap.Fork(), slices.Clone(w.waiting), slices.Clone(w.leaving), slices.Clone(w.lost)}
}

// try runs f and takes back all that it did to the cluster.
func (w *world) try(f func() error) error {
	waiting, leaving := slices.Clone(w.waiting), slices.Clone(w.leaving)
	mark := w.snap.Begin()
	defer func() {
		w.snap.Rollback(mark)
		w.waiting, w.leaving = waiting, leaving
	}()
	return f()
}

// leave takes those off their nodes whose time has come, if they are still there.
func (w *world) leave(now int) error {
	for i := 0; i < len(w.leaving); {
		l := w.leaving[i]
		if l.due > now {
			i++
			continue
		}
		w.leaving = slices.Delete(w.leaving, i, i+1)
		if n := w.snap.Node(l.node); n != nil && slices.Contains(n.Pods, l.info) {
			if err := w.snap.RemovePodAt(l.info, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// nominate keeps the node for the waiting pod, "" keeps none any longer. The pod
// knows of it, as it does through the API.
func (w *world) nominate(p waiter, node string) (waiter, error) {
	if w.snap.Node(node) == nil {
		node = ""
	}
	pod := *p.info.Pod
	pod.Status.NominatedNodeName = node
	info, err := w.snap.NewPodInfo(&pod)
	if err != nil {
		return p, err
	}
	if node == "" {
		w.snap.ClearNomination(info, p.node)
		return waiter{info, ""}, nil
	}
	return waiter{info, node}, w.snap.Nominate(info, node, p.node)
}
