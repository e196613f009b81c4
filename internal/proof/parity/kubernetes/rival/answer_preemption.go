package rival

import (
	"fmt"
	"slices"

	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
)

// preemption returns DefaultPreemption's answer after a failed search, nil without
// that plugin. It evicts no pods.
func (q *question) preemption(statuses *framework.NodeToStatus) (*golden.Preemption, error) {
	p, ok := q.plugins["DefaultPreemption"].(*defaultpreemption.DefaultPreemption)
	if !ok {
		return nil, nil
	}
	a := &golden.Preemption{}
	a.Eligible, a.IneligibleMsg = p.PodEligibleToPreemptOthers(q.ctx, q.pod, statuses.Get(q.pod.Status.NominatedNodeName))
	var potential []fwk.NodeInfo
	for _, n := range q.nodes {
		if statuses.Get(n.Node().Name).Code() == fwk.Unschedulable {
			potential = append(potential, n)
			a.Potential = append(a.Potential, n.Node().Name)
		}
	}
	var candidates []preemption.Candidate
	if a.Eligible && len(potential) > 0 {
		// All of them, in order: nothing stops the search. If there is an error
		// without a candidate, the plugin itself reports it below.
		list, failed, err := p.Evaluator.DryRunPreemption(q.ctx, q.state, q.pod, potential, q.budgets(), 0, int32(len(potential)))
		candidates = list
		a.Failed = map[string]golden.Status{}
		failed.ForEachExplicitNode(func(name string, s *fwk.Status) { a.Failed[name] = outcome(s) })
		if len(candidates) > 0 {
			if a.Searches, err = q.searches(p, statuses, potential); err != nil {
				return nil, fmt.Errorf("search: %w", err)
			}
		}
	}
	if len(candidates) == 0 {
		// Now call the plugin itself: it has no side effects.
		_, status := p.PostFilter(q.ctx, q.state, q.pod, statuses)
		a.PostFilterCode, a.PostFilterMsg = status.Code().String(), status.Message()
		return a, nil
	}
	a.PostFilterCode = fwk.Success.String()
	for _, c := range candidates {
		a.Candidates = append(a.Candidates, candidate(c))
	}
	a.Picked = q.picked(p, candidates)
	if s := a.Searches[0]; s.Nominated == "" && q.pod.Annotations[pipeline.AnnCutters] == "" { // it may keep too few of them: none
		a.PostFilterCode, a.PostFilterMsg = s.Code, s.Message
	}
	return a, nil
}

// picked lists the nodes that may be chosen. The choice among equals follows the
// order of a map; this many tries find all of them.
func (q *question) picked(p *defaultpreemption.DefaultPreemption, candidates []preemption.Candidate) []string {
	tries := 300
	if len(candidates) == 1 {
		tries = 1
	}
	seen := map[string]bool{}
	var list []string
	for range tries {
		name := p.Evaluator.SelectCandidate(q.ctx, candidates).Name()
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// budgets lists the budgets in the order of their keys.
func (q *question) budgets() []*policy.PodDisruptionBudget {
	var list []*policy.PodDisruptionBudget
	for _, object := range q.known.of(runtime.Object(&policy.PodDisruptionBudget{})).List() {
		list = append(list, object.(*policy.PodDisruptionBudget))
	}
	return list
}
