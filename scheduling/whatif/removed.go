package whatif

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// manyRemoved is how many pods are removed in a fork that is kept: trials in a row remove nearly the same
// pods, often all of a node but one.
const manyRemoved = 16

// removalSteps is what it takes to remove a pod or to put it back, without its claims; claimSteps what one takes.
const (
	removalSteps = 20
	claimSteps   = 10
)

// stepsOf is what it takes to remove a pod.
func stepsOf(p *framework.PodInfo) int {
	return removalSteps + claimSteps*(len(p.Pod.Spec.Volumes)+len(p.Pod.Spec.ResourceClaims)+len(p.Pod.Status.ResourceClaimStatuses))
}

// removed is a fork without some pods.
type removed struct {
	from, snapshot *framework.Snapshot
	pods           map[Change]*removedPod
	round          int
}

// A removedPod is one that the fork does not have, and the last round in which that was wanted.
type removedPod struct {
	pod   *framework.PodInfo
	round int
}

// without returns the snapshot without the pods of the changes.
func (x *whyNot) without(s *framework.Snapshot, changes []Change) (*framework.Snapshot, error) {
	if x.removed == nil || x.removed.from != s {
		x.removed = &removed{from: s, snapshot: s.Fork(), pods: map[Change]*removedPod{}}
	}
	r := x.removed
	x.removed = nil // unless all goes well
	r.round++
	if err := x.spend(len(changes) / 4); err != nil {
		return nil, err
	}
	for _, c := range changes {
		if p := r.pods[c]; p != nil {
			p.round = r.round
			continue
		}
		pod, err := x.removePod(r.snapshot, c)
		if err != nil {
			return nil, err
		}
		r.pods[c] = &removedPod{pod, r.round}
	}
	if len(r.pods) > len(changes) {
		if all, err := x.putBack(r); !all {
			if err != nil {
				return nil, err
			}
			return x.without(s, changes)
		}
	}
	x.removed = r
	return r.snapshot, nil
}

// putBack puts back the pods that are wanted again. It returns false if one holds claims, which have changed.
func (x *whyNot) putBack(r *removed) (all bool, err error) {
	var back []Change
	for c, p := range r.pods {
		if p.round == r.round {
			continue
		}
		if back = append(back, c); holdsClaims(p.pod) {
			return false, nil
		}
	}
	slices.SortFunc(back, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range back {
		if err := x.spend(removalSteps); err != nil {
			return false, err
		}
		if err := r.snapshot.AddPod(r.pods[c].pod, c.From); err != nil {
			return false, err
		}
		delete(r.pods, c)
	}
	return true, nil
}

// removePod takes the pod of a change off its node.
func (x *whyNot) removePod(s *framework.Snapshot, c Change) (*framework.PodInfo, error) {
	if n := s.Node(c.From); n != nil {
		namespace, name, _ := strings.Cut(c.Name, "/")
		for _, other := range n.Pods {
			if other.Pod.Name == name && other.Pod.Namespace == namespace {
				if err := x.spend(stepsOf(other)); err != nil {
					return nil, err
				}
				return other, x.planner.release(s, other, n.Name())
			}
		}
	}
	return nil, &api.InvalidError{Object: "pod " + c.Name, Field: "spec.nodeName", Value: c.From, Err: errors.New("the pod is not on this node")}
}

// holdsClaims reports whether a pod holds claims, so that they change when it leaves.
func holdsClaims(p *framework.PodInfo) bool {
	return p.HasClaims() || p.HasExtended() || p.HasVolumeClaims()
}
