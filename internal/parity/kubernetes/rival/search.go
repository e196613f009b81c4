package rival

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/berth-sched/berth/internal/golden"
)

// beginning is DefaultPreemption whose search begins at a given place, where
// that of the original begins at a random one.
type beginning struct {
	preemption.Interface
	offset int
}

func (b beginning) GetOffsetAndNumCandidates(nodes int32) (offset, count int32) {
	_, count = b.Interface.GetOffsetAndNumCandidates(nodes)
	return int32(b.offset), count
}

// inOrder lists nodes in the order of the snapshot, where the original follows
// that of a map.
type inOrder struct{ fwk.NodeToStatusReader }

func (o inOrder) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) (list []fwk.NodeInfo, err error) {
	nodes, err := lister.List()
	for _, n := range nodes {
		if o.Get(n.Node().Name).Code() == code {
			list = append(list, n)
		}
	}
	return list, err
}

// evictor takes over what preemption does about victims: it notes them, at once.
// The original deletes them in the background.
type evictor struct{ keys []string }

func (e *evictor) takeOver(p *defaultpreemption.DefaultPreemption) {
	e.keys = nil
	field[feature.Features](p.Executor, "fts").EnableAsyncPreemption = false
	p.Executor.PreemptPod = func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		e.keys = append(e.keys, victim.Namespace+"/"+victim.Name)
		return false, nil
	}
}

// searches lets DefaultPreemption search from several places among the n
// potential nodes, with its own bound on the number of candidates.
func (q *question) searches(p *defaultpreemption.DefaultPreemption, statuses *framework.NodeToStatus, potential []fwk.NodeInfo) ([]golden.PreemptionSearch, error) {
	plugin := p.Evaluator.Interface
	defer func() { p.Evaluator.Interface = plugin }()
	picked := map[string][]string{} // by candidates
	var list []golden.PreemptionSearch
	for _, offset := range places(len(potential)) {
		b := beginning{plugin, offset}
		p.Evaluator.Interface = b
		from, count := b.GetOffsetAndNumCandidates(int32(len(potential)))
		candidates, _, err := p.Evaluator.DryRunPreemption(q.ctx, q.state, q.pod, potential, q.budgets(), from, count)
		if err != nil && len(candidates) == 0 {
			return nil, err
		}
		s := golden.PreemptionSearch{Offset: offset}
		for _, c := range candidates {
			s.Candidates = append(s.Candidates, c.Name())
		}
		if len(candidates) > 0 {
			key := strings.Join(slices.Sorted(slices.Values(s.Candidates)), ",")
			if picked[key] == nil {
				picked[key] = q.picked(p, candidates)
			}
			s.Picked = picked[key]
		}
		var e evictor
		e.takeOver(p)
		result, status := p.PostFilter(q.ctx, q.state, q.pod, inOrder{statuses})
		s.Code, s.Message, s.Evicted = status.Code().String(), status.Message(), e.keys
		if result != nil && result.NominatingInfo != nil {
			s.Nominated = result.NominatingInfo.NominatedNodeName
		}
		list = append(list, s)
	}
	return list, nil
}

// places are some of the places of n where a search may begin, all of few.
func places(n int) []int {
	if n <= 4 {
		return []int{0, 1, 2, 3}[:n]
	}
	return []int{0, 1, n / 2, n - 1}
}
