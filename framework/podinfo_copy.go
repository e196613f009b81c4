package framework

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
)

// Named returns the same pod under another name, without a UID: one more replica of
// it. It shares what the two have in common, so it costs far less than to derive a
// PodInfo anew. It is an [*api.InvalidError] if the name is empty.
func (p *PodInfo) Named(name string) (*PodInfo, error) {
	if name == "" {
		return nil, &api.InvalidError{Object: podObject(p.Pod), Field: "metadata.name", Err: errEmpty}
	}
	pod := *p.Pod
	pod.Name, pod.UID = name, ""
	return &PodInfo{
		Pod: &pod, Priority: p.Priority, UsedRequests: p.UsedRequests, UsedNonZero: p.UsedNonZero, schema: p.schema,
		HostPorts: p.HostPorts, runner: runner.Pod{First: p.runner.Original(), Parts: p.runner.Parts, OnlyNode: p.runner.OnlyNode}, Requests: p.Requests, ScoredRequests: p.ScoredRequests,
		Unknown: p.Unknown,
	}, nil
}
