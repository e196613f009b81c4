package extender

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func (h *Handler) preempt(ctx context.Context, body []byte) (any, error) {
	return ask(ctx, h, body, h.candidates)
}

func (h *Handler) candidates(ctx context.Context, q question, args *PreemptionArgs) (any, error) {
	candidates := args.candidates()
	result := &PreemptionResult{NodeNameToMetaVictims: map[string]*MetaVictims{}}
	for _, node := range slices.Sorted(maps.Keys(candidates)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fits, err := h.fitsWithout(q, node, candidates[node])
		if err != nil {
			return nil, err
		}
		if fits {
			result.NodeNameToMetaVictims[node] = candidates[node]
		}
	}
	return result, nil
}

func (a *PreemptionArgs) about() (*api.Pod, error) {
	switch {
	case a.NodeNameToVictims != nil && a.NodeNameToMetaVictims != nil:
		return nil, &requestError{errors.New("there are both NodeNameToVictims and NodeNameToMetaVictims")}
	case a.NodeNameToVictims == nil && a.NodeNameToMetaVictims == nil:
		return nil, &requestError{errors.New("there are neither NodeNameToVictims nor NodeNameToMetaVictims")}
	}
	for node, v := range a.NodeNameToVictims {
		if v == nil || slices.Contains(v.Pods, nil) {
			return nil, &requestError{errors.New("NodeNameToVictims: null for victims of node " + node)}
		}
	}
	for node, v := range a.NodeNameToMetaVictims {
		if v == nil || slices.Contains(v.Pods, nil) {
			return nil, &requestError{errors.New("NodeNameToMetaVictims: null for victims of node " + node)}
		}
	}
	return a.Pod, nil
}

// candidates returns the candidates by the identifiers of their victims.
func (a *PreemptionArgs) candidates() map[string]*MetaVictims {
	if a.NodeNameToMetaVictims != nil {
		return a.NodeNameToMetaVictims
	}
	out := make(map[string]*MetaVictims, len(a.NodeNameToVictims))
	for node, v := range a.NodeNameToVictims {
		m := &MetaVictims{Pods: []*MetaPod{}, NumPDBViolations: v.NumPDBViolations}
		for _, p := range v.Pods {
			m.Pods = append(m.Pods, &MetaPod{p.UID})
		}
		out[node] = m
	}
	return out
}

// fitsWithout reports whether the pod is feasible on the node once the victims have
// gone. Victims that are no longer on the node count as gone.
func (h *Handler) fitsWithout(q question, node string, victims *MetaVictims) (bool, error) {
	n := q.snap.Node(node)
	if n == nil {
		return false, nil
	}
	mark := q.snap.Begin()
	defer q.snap.Rollback(mark)
	for _, p := range slices.Clone(n.Pods) {
		if !slices.ContainsFunc(victims.Pods, func(v *MetaPod) bool { return v.UID != "" && v.UID == p.Pod.UID }) {
			continue
		}
		if err := q.snap.RemovePod(p, node); err != nil {
			return false, err
		}
	}
	verdicts, err := h.Scheduler.FilterNodes(q.snap, q.pod, []*framework.NodeInfo{q.snap.Node(node)})
	if err != nil {
		return false, err
	}
	return verdicts[0].Status.IsSuccess(), nil
}
