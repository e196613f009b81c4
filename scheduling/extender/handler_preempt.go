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
	args := new(preemptionRequest)
	if err := h.read(ctx, body, args); err != nil {
		return nil, err
	}
	candidates, err := args.candidates()
	if err != nil {
		return nil, err
	}
	info, err := h.derive(args.Pod)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	q, err := h.begin(ctx, args.Pod, info)
	if err != nil {
		return nil, err
	}
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

// A preemptionRequest is what the handler reads of [PreemptionArgs]: victims are known
// by their identifiers.
type preemptionRequest struct {
	Pod                   *api.Pod
	NodeNameToVictims     map[string]*victims
	NodeNameToMetaVictims map[string]*MetaVictims
}

// victims is what the handler reads of [Victims].
type victims struct {
	Pods             []*victim
	NumPDBViolations int64
}

type victim struct {
	Metadata struct {
		UID api.UID `json:"uid"`
	} `json:"metadata"`
}

// candidates returns the candidates by the identifiers of their victims.
func (a *preemptionRequest) candidates() (map[string]*MetaVictims, error) {
	switch {
	case a.NodeNameToVictims != nil && a.NodeNameToMetaVictims != nil:
		return nil, &requestError{errors.New("there are both NodeNameToVictims and NodeNameToMetaVictims")}
	case a.NodeNameToVictims == nil && a.NodeNameToMetaVictims == nil:
		return nil, &requestError{errors.New("there are neither NodeNameToVictims nor NodeNameToMetaVictims")}
	}
	out := make(map[string]*MetaVictims)
	for node, v := range a.NodeNameToVictims {
		if v == nil || slices.Contains(v.Pods, nil) {
			return nil, &requestError{errors.New("NodeNameToVictims: null for victims of node " + cut(node))}
		}
		m := &MetaVictims{Pods: []*MetaPod{}, NumPDBViolations: v.NumPDBViolations}
		for _, p := range v.Pods {
			m.Pods = append(m.Pods, &MetaPod{p.Metadata.UID})
		}
		out[node] = m
	}
	for node, v := range a.NodeNameToMetaVictims {
		if v == nil || slices.Contains(v.Pods, nil) {
			return nil, &requestError{errors.New("NodeNameToMetaVictims: null for victims of node " + cut(node))}
		}
		out[node] = v
	}
	return out, nil
}

// fitsWithout reports whether the pod is feasible on the node once the victims have
// gone. Victims that are no longer on the node count as gone.
func (h *Handler) fitsWithout(q question, node string, victims *MetaVictims) (bool, error) {
	n := q.snap.Node(node)
	if n == nil {
		return false, nil
	}
	leaving := make(map[api.UID]bool, len(victims.Pods))
	for _, v := range victims.Pods {
		leaving[v.UID] = v.UID != ""
	}
	mark := q.snap.Begin()
	defer q.snap.Rollback(mark)
	for _, p := range slices.Clone(n.Pods) {
		if !leaving[p.Pod.UID] {
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
