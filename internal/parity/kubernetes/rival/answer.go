package rival

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/internal/golden"
)

// Answer returns all that kube-scheduler has to say of a case: what each plugin
// answers alone, what the whole profile does, the node that a cycle chooses, and
// what preemption would do. The scheduler is emptied first; it must have been
// built with the case's configuration and one worker.
func (s *Scheduler) Answer(c *golden.Case) (golden.Expect, error) {
	if err := s.Reset(); err != nil {
		return golden.Expect{}, err
	}
	pod, err := s.Fill(c)
	if err != nil {
		return golden.Expect{}, err
	}
	profile, ok := s.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		return golden.Expect{}, fmt.Errorf("no profile %q", pod.Spec.SchedulerName)
	}
	if err := s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return golden.Expect{}, err
	}
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return golden.Expect{}, err
	}
	q := &question{Scheduler: s, profile: profile, plugins: plugins(profile), pod: pod, nodes: nodes}
	e := golden.Expect{
		Filter: map[string]golden.FilterAnswer{}, Score: map[string]golden.ScoreAnswer{}, Weights: map[string]int64{}, Nominations: true,
	}
	for _, n := range nodes {
		e.NodeOrder = append(e.NodeOrder, n.Node().Name)
	}
	q.eachPlugin(&e)
	status := q.pipeline(&e.Pipeline)
	if len(e.Pipeline.Feasible) == 0 && e.Pipeline.Err == nil && len(nodes) > 0 {
		if e.Preemption, err = q.preemption(status); err != nil {
			return e, err
		}
	}
	return e, q.choice(&e.Pipeline)
}

// question is a pod and the cluster that it is to be placed in.
type question struct {
	*Scheduler
	profile framework.Framework
	plugins map[string]fwk.Plugin
	pod     *v1.Pod
	nodes   []fwk.NodeInfo
	state   fwk.CycleState // of the pipeline
}

// outcome writes down a status.
func outcome(s *fwk.Status) golden.Status {
	if s == nil {
		return golden.Status{Code: fwk.Success.String()}
	}
	reasons := s.Reasons()
	if len(reasons) == 0 {
		reasons = nil
	}
	return golden.Status{Code: s.Code().String(), Plugin: s.Plugin(), Reasons: sorted(reasons)}
}

// sorted puts the reasons about extended resources, which come in the random
// order of a map, after the others and in order.
func sorted(reasons []string) []string {
	fixed := []string{"Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"}
	at := slices.IndexFunc(reasons, func(r string) bool { return strings.HasPrefix(r, "Insufficient ") && !slices.Contains(fixed, r) })
	if at < 0 {
		return reasons
	}
	list := slices.Clone(reasons)
	slices.Sort(list[at:])
	return list
}

// pipeline runs the profile over all nodes.
func (q *question) pipeline(p *golden.Pipeline) *framework.NodeToStatus {
	q.state = newState()
	statuses := framework.NewDefaultNodeToStatus()
	restricted, status, by := q.profile.RunPreFilterPlugins(q.ctx, q.state, q.pod)
	switch {
	case status.IsRejected():
		s := outcome(status)
		p.PreFilter = &s
		statuses.SetAbsentNodesStatus(status)
		return statuses
	case !status.IsSuccess():
		s := outcome(status)
		p.Err = &s
		return statuses
	}
	nodes := q.nodes
	if !restricted.AllNodes() {
		p.PreFilterNodes = names(restricted)
		nodes = nil
		for _, n := range q.nodes {
			if restricted.NodeNames.Has(n.Node().Name) {
				nodes = append(nodes, n)
			}
		}
		statuses.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", slices.Sorted(maps.Keys(by)))))
	}
	p.Failed = map[string]golden.Status{}
	var feasible []fwk.NodeInfo
	for _, n := range nodes {
		name := n.Node().Name
		status := q.profile.RunFilterPluginsWithNominatedPods(q.ctx, q.state, q.pod, n)
		switch {
		case status.IsSuccess():
			feasible = append(feasible, n)
			p.Feasible = append(p.Feasible, name)
		case status.IsRejected():
			p.Failed[name] = outcome(status)
			statuses.Set(name, status)
		case p.Err == nil:
			s := outcome(status)
			p.Err = &s
		}
	}
	if len(feasible) > 0 && p.Err == nil {
		q.score(p, feasible)
	}
	return statuses
}

// score scores the feasible nodes, be it a single one.
func (q *question) score(p *golden.Pipeline, feasible []fwk.NodeInfo) {
	status := q.profile.RunPreScorePlugins(q.ctx, q.state, q.pod, feasible)
	var scores []fwk.NodePluginScores
	if status.IsSuccess() {
		scores, status = q.profile.RunScorePlugins(q.ctx, q.state, q.pod, feasible)
	}
	if !status.IsSuccess() {
		s := outcome(status)
		p.Err = &s
		return
	}
	p.Scores = map[string]golden.PipelineScore{}
	for _, n := range scores {
		p.Totals = append(p.Totals, n.TotalScore)
		for i, s := range n.Scores {
			of := p.Scores[s.Name]
			of.Raw, of.Weighted = append(of.Raw, n.RawScores[i].Score), append(of.Weighted, s.Score)
			p.Scores[s.Name] = of
		}
	}
	best := slices.Max(p.Totals)
	for i, total := range p.Totals {
		if total == best {
			p.Best = append(p.Best, p.Feasible[i])
		}
	}
}

// choice runs the whole cycle. Where a PreFilter leaves several nodes, they are
// searched in random order, and so is the choice among equals.
func (q *question) choice(p *golden.Pipeline) error {
	if len(q.nodes) == 0 {
		return nil
	}
	pending, err := q.Prepare(q.pod)
	if err != nil {
		return err
	}
	q.setStart(0)
	r, err := q.sched.SchedulePod(q.ctx, q.profile, newState(), pending.info)
	var fit *framework.FitError
	switch {
	case errors.As(err, &fit):
		p.Message = fit.Error()
	case err == nil && len(p.PreFilterNodes) < 2:
		p.Chosen = r.SuggestedHost
	}
	return nil
}
