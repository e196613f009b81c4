package rival

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// Answer returns all answers of kube-scheduler to a case: each plugin's alone, the
// whole profile's, the node that a cycle chooses, and the result of preemption. It
// empties the scheduler first. The scheduler must have been built with the case's
// configuration and one worker.
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
	q.pipeline(&e.Pipeline)
	fit, err := q.choice(&e.Pipeline)
	if err == nil && fit != nil {
		e.Preemption, err = q.preemption(fit.Diagnosis.NodeToStatus)
	}
	return e, err
}

// question is a pod and the cluster to place it in.
type question struct {
	*Scheduler
	profile framework.Framework
	plugins map[string]fwk.Plugin
	pod     *v1.Pod
	nodes   []fwk.NodeInfo
	state   fwk.CycleState // state of the pipeline
}

// outcome returns a status as text.
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

// sorted moves the reasons about extended resources, which come in the random order
// of a map, after the others and sorts them.
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
func (q *question) pipeline(p *golden.Pipeline) {
	q.state = newState()
	restricted, status, _ := q.profile.RunPreFilterPlugins(q.ctx, q.state, q.pod)
	switch {
	case status.IsRejected():
		s := outcome(status)
		p.PreFilter = &s
		return
	case !status.IsSuccess():
		s := outcome(status)
		p.Err = &s
		return
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
		case p.Err == nil:
			s := outcome(status)
			p.Err = &s
		}
	}
	if len(feasible) > 0 && p.Err == nil {
		q.score(p, feasible)
	}
}

// score scores the feasible nodes, even if there is only one.
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

// choice runs the whole cycle. If the cycle finds no node, choice returns its error.
// If a PreFilter leaves several nodes, they are searched in random order, and the
// choice among equals is random too.
func (q *question) choice(p *golden.Pipeline) (*framework.FitError, error) {
	if len(q.nodes) == 0 {
		return nil, nil
	}
	pending, err := q.Prepare(q.pod)
	if err != nil {
		return nil, err
	}
	q.setStart(0)
	r, err := q.sched.SchedulePod(q.ctx, q.profile, newState(), pending.info)
	var fit *framework.FitError
	switch {
	case errors.As(err, &fit):
		p.Message = fit.Error()
	case err != nil:
		p.Failure = err.Error()
	case len(p.PreFilterNodes) < 2:
		p.Chosen = r.SuggestedHost
	}
	return fit, nil
}
