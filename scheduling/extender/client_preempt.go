package extender

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// Preempt asks which candidates of a preemption remain, and with which victims. An
// identifier of a pod that is not on the node is an error. The candidates keep their
// order; nodes that were not candidates come after them, by name.
func (c *Client) Preempt(ctx context.Context, pod *framework.PodInfo, s *framework.Snapshot, candidates []*preemption.Candidate) ([]*preemption.Candidate, error) {
	if err := lacks(pod, nil); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, &api.InvalidError{Object: "snapshot", Err: errNil}
	}
	if i := slices.Index(candidates, nil); i >= 0 {
		return nil, &api.InvalidError{Object: fmt.Sprintf("candidates[%d]", i), Err: errNil}
	}
	var result PreemptionResult
	if err := c.call(ctx, c.config.PreemptVerb, c.preemptionArgs(pod, candidates), &result, len(candidates)); err != nil {
		return nil, err
	}
	answer := result.NodeNameToMetaVictims
	var kept []*preemption.Candidate
	keep := func(node string, before *preemption.Candidate) error {
		candidate, err := c.candidate(s, node, answer[node], before)
		if err == nil {
			kept = append(kept, candidate)
		}
		return err
	}
	for _, candidate := range candidates {
		if _, ok := answer[candidate.Node]; !ok {
			continue
		}
		if err := keep(candidate.Node, candidate); err != nil {
			return nil, err
		}
		delete(answer, candidate.Node)
	}
	for _, node := range slices.Sorted(maps.Keys(answer)) {
		if err := keep(node, nil); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func (c *Client) preemptionArgs(pod *framework.PodInfo, candidates []*preemption.Candidate) *PreemptionArgs {
	args := &PreemptionArgs{Pod: pod.Pod}
	if c.config.NodeCacheCapable {
		args.NodeNameToMetaVictims = make(map[string]*MetaVictims)
		for _, candidate := range candidates {
			v := &MetaVictims{Pods: []*MetaPod{}, NumPDBViolations: int64(candidate.Violations)}
			for _, victim := range candidate.Victims {
				v.Pods = append(v.Pods, &MetaPod{victim.Pod.Pod.UID})
			}
			args.NodeNameToMetaVictims[candidate.Node] = v
		}
		return args
	}
	args.NodeNameToVictims = make(map[string]*Victims)
	for _, candidate := range candidates {
		v := &Victims{Pods: []*api.Pod{}, NumPDBViolations: int64(candidate.Violations)}
		for _, victim := range candidate.Victims {
			v.Pods = append(v.Pods, victim.Pod.Pod)
		}
		args.NodeNameToVictims[candidate.Node] = v
	}
	return args
}

// candidate finds the pods of an answer. before is the node's former candidate, nil
// if it had none. An answer without victims gives a candidate without victims, which
// the caller has to judge.
func (c *Client) candidate(s *framework.Snapshot, node string, answer *MetaVictims, before *preemption.Candidate) (*preemption.Candidate, error) {
	n := s.Node(node)
	if n == nil {
		return nil, fmt.Errorf("extender: %s claims to preempt pods on node %q, but there is no such node", c.shown, cut(node))
	}
	out := &preemption.Candidate{Node: node}
	if answer == nil {
		return out, nil
	}
	out.Violations = int(min(max(answer.NumPDBViolations, 0), int64(len(n.Pods))))
	violates := make(map[api.UID]bool)
	if before != nil {
		for _, v := range before.Victims {
			violates[v.Pod.Pod.UID] = v.ViolatesBudget
		}
	}
	pods := make(map[api.UID]*framework.PodInfo, len(n.Pods))
	for _, p := range n.Pods {
		if pods[p.Pod.UID] == nil {
			pods[p.Pod.UID] = p
		}
	}
	given := make(map[api.UID]bool)
	for _, id := range answer.Pods {
		if id == nil || id.UID == "" {
			return nil, errors.New("extender: " + c.shown + " claims to preempt a pod without a UID on node " + node)
		}
		p := pods[id.UID]
		if p == nil {
			return nil, fmt.Errorf("extender: %s claims to preempt pod (UID: %s) on node: %s, but the pod is not found on that node", c.shown, shown(string(id.UID)), node)
		}
		if !given[id.UID] {
			given[id.UID] = true
			out.Victims = append(out.Victims, framework.Victim{Pod: p, ViolatesBudget: violates[id.UID]})
		}
	}
	return out, nil
}
