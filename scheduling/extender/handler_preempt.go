package extender

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

func (h *Handler) preempt(ctx context.Context, body []byte) ([]byte, error) {
	args := new(preemptionRequest)
	return h.ask(ctx, body, args, func(q question) (any, error) {
		if err := q.allow(len(args.NodeNameToVictims) + len(args.NodeNameToMetaVictims)); err != nil {
			return nil, err
		}
		result := &PreemptionResult{NodeNameToMetaVictims: map[string]*MetaVictims{}}
		candidates := args.candidates()
		f, err := h.Scheduler.Filtering(q.snap, q.pod)
		if err != nil {
			return nil, err
		}
		for _, node := range slices.Sorted(maps.Keys(candidates)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			fits, err := fitsWithout(f, q.snap.Node(node), candidates[node])
			if err != nil {
				return nil, err
			}
			if fits {
				result.NodeNameToMetaVictims[node] = candidates[node]
			}
		}
		return result, nil
	})
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

func (a *preemptionRequest) about() *api.Pod { return a.Pod }

func (a *preemptionRequest) check() error {
	switch {
	case a.NodeNameToVictims != nil && a.NodeNameToMetaVictims != nil:
		return errors.New("there are both NodeNameToVictims and NodeNameToMetaVictims")
	case a.NodeNameToVictims == nil && a.NodeNameToMetaVictims == nil:
		return errors.New("there are neither NodeNameToVictims nor NodeNameToMetaVictims")
	}
	var bad []string
	for node, v := range a.NodeNameToVictims {
		if v == nil || slices.Contains(v.Pods, nil) {
			bad = append(bad, "NodeNameToVictims: null for victims of node "+node)
		}
	}
	for node, v := range a.NodeNameToMetaVictims {
		if v == nil || slices.Contains(v.Pods, nil) {
			bad = append(bad, "NodeNameToMetaVictims: null for victims of node "+node)
		}
	}
	if len(bad) > 0 {
		return errors.New(slices.Min(bad))
	}
	return nil
}

// candidates returns the victims on each node of a checked request, by their
// identifiers.
func (a *preemptionRequest) candidates() map[string]*MetaVictims {
	if a.NodeNameToMetaVictims != nil {
		return a.NodeNameToMetaVictims
	}
	out := make(map[string]*MetaVictims)
	for node, v := range a.NodeNameToVictims {
		m := &MetaVictims{Pods: []*MetaPod{}, NumPDBViolations: v.NumPDBViolations}
		for _, p := range v.Pods {
			m.Pods = append(m.Pods, &MetaPod{p.Metadata.UID})
		}
		out[node] = m
	}
	return out
}

// fitsWithout reports whether the pod is feasible on the node once the victims have
// gone. Victims that are no longer on the node count as gone.
func fitsWithout(f *scheduling.Filtering, n *framework.NodeInfo, victims *MetaVictims) (bool, error) {
	if n == nil {
		return false, nil
	}
	leaving := make(map[api.UID]bool, len(victims.Pods))
	for _, v := range victims.Pods {
		leaving[v.UID] = v.UID != ""
	}
	var pods []*framework.PodInfo
	for _, p := range n.Pods {
		if leaving[p.Pod.UID] {
			pods = append(pods, p)
		}
	}
	v, err := f.Without(pods, n)
	return v.Status.IsSuccess(), err
}
