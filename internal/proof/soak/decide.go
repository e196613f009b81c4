package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// decide decides for a pod that is not in the list of waiting pods, now and then among some of
// the nodes. Two times of three it places the pod if it can and may; if there is no node for it
// among all, the pod makes room.
func (h *history) decide(p waiter, mayPlace bool) error {
	h.res.Decisions++
	if h.snap.Nominations() > 0 {
		h.res.Preemption.Beside++
	}
	within, err := h.someSet(p.info)
	if err != nil {
		return err
	}
	h.reference.Seek(h.incremental.Position())
	hits := h.incremental.Stats().Hits
	d, err := h.ask(h.incremental, p.info, within)
	h.note(p.info, d, within, h.incremental.Stats().Hits > hits)
	if different, err := h.different(err); different || err != nil {
		return err
	}
	plain, plainErr := h.ask(h.reference, p.info, within)
	if a, b := outcome(plain, plainErr), outcome(d, err); a != b {
		h.res.note(&scheduling.DifferenceError{What: "the decision of another scheduler", Reference: a, Incremental: b})
		return nil
	}
	if a, b := h.reference.Position(), h.incremental.Position(); a != b {
		h.res.note(&scheduling.DifferenceError{What: "the position of another scheduler after the decision", Reference: fmt.Sprint(a), Incremental: fmt.Sprint(b)})
		return nil
	}
	if err != nil {
		h.res.Unschedulable++
		if within == nil {
			if p, err = h.makeRoom(p, d); err != nil {
				return err
			}
		}
		return h.wait(p)
	}
	h.res.Placed++
	if !mayPlace || chance(h.r, 3) {
		if p.node != "" {
			h.waiting = append(h.waiting, p)
		}
		return nil
	}
	if p.node != "" {
		h.snap.ClearNomination(p.info, p.node)
		h.res.Preemption.Claimed++
	}
	if err := h.incremental.Assume(h.snap, p.info, d); err != nil {
		return err
	}
	h.countDevices(p.info)
	if chance(h.r, 2) {
		return h.checkGiven(p.info)
	}
	return nil
}

// ask asks a scheduler about all nodes, or those of a set.
func (h *history) ask(s *scheduling.Scheduler, p *framework.PodInfo, within *scheduling.NodeSet) (scheduling.Decision, error) {
	if within == nil {
		return s.Schedule(h.snap, p)
	}
	return s.ScheduleWithin(h.snap, p, within)
}

// someSet returns now and then a set of nodes to decide among: none, few, or a part of all.
// Otherwise it returns nil.
func (h *history) someSet(p *framework.PodInfo) (*scheduling.NodeSet, error) {
	if !chance(h.r, 12) {
		return nil, nil
	}
	if _, named := rowOf(p); named && h.named {
		h.res.Reached.NamedWithin++
	}
	r := rand.New(rand.NewPCG(h.r.Uint64(), 0)) // one number of the history, however many nodes there are
	size := pick(r, 0, 1, 3, h.snap.Len()/4, h.snap.Len()/2, h.snap.Len()/2, h.snap.Len())
	var nodes []*framework.NodeInfo
	for _, i := range r.Perm(h.snap.Len())[:min(size, h.snap.Len())] {
		nodes = append(nodes, h.snap.At(i))
	}
	return scheduling.NewNodeSet(h.snap, nodes)
}

// note counts what a decision reached. hit says that a kept class made it.
func (h *history) note(p *framework.PodInfo, d scheduling.Decision, within *scheduling.NodeSet, hit bool) {
	r := &h.res.Reached
	if !hit {
		return
	}
	if within != nil {
		r.Within++
	}
	if d.TiedNodes > 1 {
		r.Ties[d.TieRule]++
	}
	if within == nil && d.Evaluated < h.snap.Len() {
		r.Samples++
	}
	if h.snap.Nominations() > 0 {
		r.Beside++
	}
	if within == nil && p.IsNominated() && d.Node != p.Pod.Status.NominatedNodeName && d.Evaluated < h.snap.Len() {
		r.SamplesElsewhere++
	}
	if h.extended {
		r.Extended++
	}
	if h.gpus != nil && h.gpus.Demand(p).GPU.Count > 0 {
		r.Shares++
		if h.snap.Nominations() > 0 {
			r.SharesBeside++
		}
	}
	if len(p.Pod.Spec.Volumes) > 0 {
		r.Volumes++
	}
	if len(p.Pod.Status.ResourceClaimStatuses) > 0 {
		r.OwnClaims++
	}
	if len(p.Pod.Spec.TopologySpreadConstraints) > 0 || p.HasPodAffinity() {
		r.Neighbours++
	}
	if h.forked {
		r.Forks++
	}
	if h.timed {
		r.Timed++
	}
	h.forked, h.timed = false, false
}

// different reports whether err is a difference or a fault, which it keeps. Any other
// error ends the run, except that no node fits, that a set has none, and that a claim asks
// for all devices of a pool that changes, or that cannot be together: in kube-scheduler, too,
// the plugin fails then.
func (h *history) different(err error) (bool, error) {
	var fit *scheduling.FitError
	var different *scheduling.DifferenceError
	var fault *scheduling.FaultError
	switch {
	case errors.As(err, &fault):
		h.res.noteFault(fault)
		return true, nil
	case errors.As(err, &different):
		h.res.note(different)
		return true, nil
	case errors.As(err, &fit), errors.Is(err, scheduling.ErrNoNodes):
		return false, nil
	case err != nil && strings.Contains(err.Error(), `running "DynamicResources" filter plugin: claim `):
		return false, nil
	}
	return false, err
}

// outcome is all that a decision said.
func outcome(d scheduling.Decision, err error) string {
	text := fmt.Sprintf("%q, score %d, %d feasible, %d evaluated, %d tied: %v", d.Node, d.Score, d.Feasible, d.Evaluated, d.TiedNodes, err)
	var fit *scheduling.FitError
	if errors.As(err, &fit) {
		text += fmt.Sprintf(", %v of %d nodes, PreFilter %q, restricting %v", fit.Rejections, fit.Nodes, fit.PreFilter, fit.Restricting)
	}
	return text
}
