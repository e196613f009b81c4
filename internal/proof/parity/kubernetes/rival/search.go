package rival

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
)

// beginning is DefaultPreemption with a search that begins at a given place. The
// original begins at a random one.
type beginning struct {
	preemption.Interface
	offset int
	asked  *[][]preemption.Candidate // if not nil, records the arguments of CandidatesToVictimsMap
}

func (b beginning) GetOffsetAndNumCandidates(nodes int32) (offset, count int32) {
	_, count = b.Interface.GetOffsetAndNumCandidates(nodes)
	return int32(b.offset), count
}

func (b beginning) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extender.Victims {
	if b.asked != nil {
		*b.asked = append(*b.asked, candidates)
	}
	return b.Interface.CandidatesToVictimsMap(candidates)
}

// inOrder lists nodes in the order of the snapshot. The original follows the order
// of a map.
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

// evictor replaces the eviction of victims: it records them, at once. The original
// deletes them in the background.
type evictor struct{ keys []string }

func (e *evictor) takeOver(p *defaultpreemption.DefaultPreemption) {
	e.keys = nil
	field[feature.Features](p.Executor, "fts").EnableAsyncPreemption = false
	p.Executor.PreemptPod = func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		e.keys = append(e.keys, victim.Namespace+"/"+victim.Name)
		return false, nil
	}
}

// searches lets DefaultPreemption search from several places among the n potential
// nodes, with its own bound on the number of candidates.
func (q *question) searches(p *defaultpreemption.DefaultPreemption, statuses *framework.NodeToStatus, potential []fwk.NodeInfo) ([]golden.PreemptionSearch, error) {
	plugin := p.Evaluator.Interface
	defer func() { p.Evaluator.Interface = plugin }()
	picked := map[string][]string{} // by candidates
	cutters := len(pipeline.Cutters(q.pod.Annotations)) > 0
	defer cut(q.profile, q.pod)()
	var list []golden.PreemptionSearch
	for _, offset := range places(len(potential)) {
		b := beginning{Interface: plugin, offset: offset}
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
		b.asked = new([][]preemption.Candidate)
		p.Evaluator.Interface = b
		result, status := p.PostFilter(q.ctx, q.state, q.pod, inOrder{statuses})
		s.Code, s.Message, s.Evicted = status.Code().String(), status.Message(), e.keys
		if result != nil && result.NominatingInfo != nil {
			s.Nominated = result.NominatingInfo.NominatedNodeName
		}
		if cutters { // the plugin asks once more about the candidates they left, unless there is only one
			s.Picked = nil
			if n := len(*b.asked); n > 1 {
				s.Picked = q.picked(p, (*b.asked)[n-1])
			} else if s.Nominated != "" {
				s.Picked = []string{s.Nominated}
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// places returns places out of n where a search may begin: all if n is small,
// otherwise some.
func places(n int) []int {
	if n <= 4 {
		return []int{0, 1, 2, 3}[:n]
	}
	return []int{0, 1, n / 2, n - 1}
}
