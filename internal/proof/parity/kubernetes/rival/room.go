package rival

import (
	"context"
	"errors"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// A Room is the result of preemption after Place has found no node.
type Room struct {
	Code, Message string
	// Nominated is the node that the pod is nominated to. Override says that an
	// earlier nomination has ended.
	Nominated  string
	Override   bool
	Candidates []golden.PreemptionCandidate // in the order in which they are offered

	found     []preemption.Candidate
	evaluator *preemption.Evaluator
	ctx       context.Context
}

// Picks reports whether the node may be chosen: any candidate may, if no criterion
// tells them apart.
func (r *Room) Picks(node string) bool {
	for range 300 {
		if c := r.evaluator.SelectCandidate(r.ctx, r.found); c != nil && c.Name() == node {
			return true
		}
	}
	return false
}

// MakeRoom lets DefaultPreemption search from a place among the potential nodes. It
// evicts no pods.
func (s *Scheduler) MakeRoom(p *Pending, offset int) (*Room, error) {
	plugin, ok := plugins(p.profile)["DefaultPreemption"].(*defaultpreemption.DefaultPreemption)
	if !ok || p.fit == nil {
		return nil, errors.New("there is no DefaultPreemption, or nothing for it to do")
	}
	// Preemption asks the API server for it.
	if err := s.pods.Add(p.info.Pod); err != nil {
		return nil, err
	}
	q := &question{Scheduler: s, profile: p.profile, pod: p.info.Pod, state: p.state}
	own := plugin.Evaluator.Interface
	defer func() { plugin.Evaluator.Interface = own }()
	b := beginning{Interface: own, offset: offset}
	plugin.Evaluator.Interface = b
	var e evictor
	e.takeOver(plugin)
	statuses := inOrder{p.fit.Diagnosis.NodeToStatus}
	result, status := plugin.PostFilter(s.ctx, p.state, q.pod, statuses)
	r := &Room{Code: status.Code().String(), Message: status.Message(), evaluator: plugin.Evaluator, ctx: s.ctx}
	if result != nil && result.NominatingInfo != nil {
		r.Override, r.Nominated = result.Mode() == fwk.ModeOverride, result.NominatedNodeName
	}
	if r.Nominated == "" {
		return r, nil
	}
	potential, err := statuses.NodesForStatusCode(s.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return nil, err
	}
	from, count := b.GetOffsetAndNumCandidates(int32(len(potential)))
	r.found, _, err = plugin.Evaluator.DryRunPreemption(s.ctx, p.state, q.pod, potential, q.budgets(), from, count)
	if len(r.found) == 0 {
		return nil, err
	}
	for _, c := range r.found {
		r.Candidates = append(r.Candidates, candidate(c))
	}
	return r, nil
}

// candidate converts a candidate to its recorded form.
func candidate(c preemption.Candidate) golden.PreemptionCandidate {
	out := golden.PreemptionCandidate{Node: c.Name(), Violations: int(c.Victims().NumPDBViolations)}
	for _, v := range c.Victims().Pods {
		out.Victims = append(out.Victims, v.Namespace+"/"+v.Name)
	}
	return out
}
