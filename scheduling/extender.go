package scheduling

import (
	"context"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// An Extender is asked besides the plugins about the nodes that they found feasible,
// and about the scores of these. It may also bind, and take part in preemption.
// Package extender makes one of an HTTP server, but you can also write your own
// functions.
//
// A nil function is not called and changes nothing. Functions may block, and must
// return when ctx is done. They must not change or keep their arguments.
//
// Source: kube-scheduler 1.37, the interface Extender.
type Extender struct {
	// Name names the extender in errors and explanations; it must not be empty.
	Name string
	// Ignorable lets scheduling go on without the extender if Filter, Preempt or
	// Bind fails.
	Ignorable bool
	// Weight multiplies the scores of Prioritize and must be positive; it is ignored
	// if Prioritize is nil.
	Weight int64

	// Interested reports whether the extender is asked about the pod at all; nil
	// means it is asked about every pod. It must not block.
	Interested func(pod *framework.PodInfo) bool
	// Filter says which of the nodes are feasible.
	Filter func(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) (ExtenderVerdict, error)
	// Prioritize scores the nodes, by contract from 0 to 10. It may leave nodes out;
	// scores for nodes that it was not asked about are ignored. If it fails, the
	// error and its scores are ignored.
	//
	// Differs: totals beyond int64.
	// Original: kube-scheduler's sums wrap around.
	// Here: they saturate.
	// Why: a wrapped number helps nobody.
	Prioritize func(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) ([]HostScore, error)
	// Preempt narrows down the candidates of a preemption, or changes their victims.
	// Use the snapshot to look up pods.
	Preempt func(ctx context.Context, pod *framework.PodInfo, s *framework.Snapshot, candidates []*preemption.Candidate) ([]*preemption.Candidate, error)
	// Bind binds the pod in place of the Bind plugins. At most one extender of a
	// profile may have it.
	Bind func(ctx context.Context, pod *api.Pod, node string) error
}

// An ExtenderVerdict is an extender's answer about the nodes that it was asked
// about.
type ExtenderVerdict struct {
	// Nodes names the feasible nodes; they keep this order from then on. A repeated
	// name counts once; a node that was not asked about is an error.
	Nodes []string
	// Failed and Unresolvable say why other nodes are not feasible. Unresolvable
	// means that removing pods would not help, and wins if a node is in both. A node
	// that is in neither, nor in Nodes, is rejected as unresolvable, without a
	// reason.
	Failed, Unresolvable map[string]string
	// Emptied asks to score the nodes as if no pods were on them. kube-scheduler
	// does this by mistake with the answer of an extender that is not
	// nodeCacheCapable (issue 141781).
	//
	// Differs: images on nodes, and what plugins count in the snapshot.
	// Original: they are lost, as the pods are.
	// Here: they still count.
	// Why: they belong to the node and to the snapshot, not to the node's pods.
	Emptied bool
}

// A HostScore is an extender's score for a node.
type HostScore struct {
	Host  string
	Score int64
}

// ExtenderPlugin stands for all extenders in place of a plugin's name, as in
// [FitError] and [RegisteredEvent].
const ExtenderPlugin = "Extender"

// maxExtenderScore is the highest score that an extender should give. Scores are
// scaled so that it becomes framework.MaxNodeScore.
const maxExtenderScore = 10

// An ExtenderError says that an extender failed and is not Ignorable.
type ExtenderError struct {
	// Extender is its name.
	Extender string
	// Point is Filter, Preempt or Bind.
	Point string
	Err   error
}

// Error names the extender and the point.
func (e *ExtenderError) Error() string {
	return fmt.Sprintf("running %s of extender %q: %v", e.Point, e.Extender, e.Err)
}

// Unwrap returns the cause.
func (e *ExtenderError) Unwrap() error { return e.Err }

// interested asks the extender. A panic counts as interest, so that the fault shows
// at the next call.
func (e *Extender) interested(pod *framework.PodInfo) (yes bool) {
	if e.Interested == nil {
		return true
	}
	defer func() {
		if recover() != nil {
			yes = true
		}
	}()
	return e.Interested(pod)
}

// fails wraps an error of a point, or a panic there, in an ExtenderError. It must be
// deferred.
func (e *Extender) fails(point string, err *error) {
	if v := recover(); v != nil {
		*err = recovered(v)
	}
	if *err != nil {
		*err = &ExtenderError{Extender: e.Name, Point: point, Err: errtext.Safe(*err)}
	}
}

func (e *Extender) filter(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) (v ExtenderVerdict, err error) {
	defer e.fails("Filter", &err)
	return e.Filter(ctx, pod, nodes)
}

func (e *Extender) prioritize(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) (scores []HostScore, err error) {
	defer e.fails("Prioritize", &err)
	return e.Prioritize(ctx, pod, nodes)
}

func (e *Extender) bind(ctx context.Context, pod *api.Pod, node string) (err error) {
	defer e.fails("Bind", &err)
	return e.Bind(ctx, pod, node)
}

// preempt asks the extender, and checks that every candidate has a victim.
//
// Source: kube-scheduler 1.37, framework/preemption, callExtenders.
func (e *Extender) preempt(ctx context.Context, pod *framework.PodInfo, s *framework.Snapshot, candidates []*preemption.Candidate) (kept []*preemption.Candidate, err error) {
	defer e.fails("Preempt", &err)
	answer, err := e.Preempt(ctx, pod, s, candidates)
	if err != nil {
		return nil, err
	}
	for _, c := range answer {
		switch {
		case c != nil && len(c.Victims) > 0:
			kept = append(kept, c)
		case e.Ignorable:
		case c == nil:
			return nil, fmt.Errorf("a candidate is nil")
		default:
			return nil, fmt.Errorf("expected at least one victim pod on node %q", c.Node)
		}
	}
	return kept, nil
}
