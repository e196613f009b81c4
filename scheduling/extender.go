package scheduling

import (
	"context"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// An Extender is asked about nodes besides the plugins: about those that they
// found feasible, and about their scores. It may also bind, and have a say in
// preemption. Package extender makes one of an HTTP server; anything else will
// do, too.
//
// Functions that are nil are not called, and so nothing is changed. They may
// block, and must return when ctx is done. They must not change what they are
// given, nor keep it.
//
// Source: kube-scheduler 1.37, the interface Extender.
type Extender struct {
	// Name names the extender in errors and explanations; it must not be empty.
	Name string
	// Ignorable lets scheduling go on without the extender when Filter, Preempt
	// or Bind fail.
	Ignorable bool
	// Weight multiplies the scores of Prioritize, and is not looked at without.
	// It must be positive.
	Weight int64

	// Interested reports whether the extender is asked about the pod at all; nil
	// means about every pod. It must not block.
	Interested func(pod *framework.PodInfo) bool
	// Filter says which of the nodes are feasible.
	Filter func(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) (ExtenderVerdict, error)
	// Prioritize scores the nodes, by contract from 0 to 10. A node may be left
	// out; nodes that it was not asked about are ignored. An error is ignored,
	// and with it the scores.
	Prioritize func(ctx context.Context, pod *framework.PodInfo, nodes []*framework.NodeInfo) ([]HostScore, error)
	// Preempt narrows the candidates of a preemption down, or changes their
	// victims. The snapshot is to find pods in.
	Preempt func(ctx context.Context, pod *framework.PodInfo, s *framework.Snapshot, candidates []*preemption.Candidate) ([]*preemption.Candidate, error)
	// Bind binds the pod, in place of the Bind plugins. At most one extender of a
	// profile has it.
	Bind func(ctx context.Context, pod *api.Pod, node string) error
}

// An ExtenderVerdict is what an extender says of the nodes that it was asked
// about.
type ExtenderVerdict struct {
	// Nodes names the nodes that are feasible, in the order that they have from
	// then on. A name that is given twice counts once; one that was not asked
	// about is an error.
	Nodes []string
	// Failed and Unresolvable say why others are not; Unresolvable tells that
	// removing pods would not help, and is taken for a node that is in both.
	// Nodes that are nowhere are rejected for good and without a reason.
	Failed, Unresolvable map[string]string
	// Emptied tells that the nodes are to be scored as if no pods were on them.
	// kube-scheduler does so, by mistake, with what an extender returns that is
	// not nodeCacheCapable (issue 141781).
	//
	// Differs: images on nodes are still seen, and what plugins count in the
	// snapshot.
	Emptied bool
}

// A HostScore is the score that an extender gives to a node.
type HostScore struct {
	Host  string
	Score int64
}

// ExtenderPlugin stands for all extenders where a plugin is named, as in
// [FitError] and [RegisteredEvent].
const ExtenderPlugin = "Extender"

// maxExtenderScore is the highest score that an extender should give. Scores are
// multiplied so that it becomes framework.MaxNodeScore.
const maxExtenderScore = 10

// An ExtenderError says that an extender failed that must not be ignored.
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

// interested asks the extender; a panic is an interest, so that what is wrong
// shows where it is asked next.
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

// fails makes an error of a point, and of a panic there. It must be deferred.
func (e *Extender) fails(point string, err *error) {
	if v := recover(); v != nil {
		*err = recovered(v)
	}
	if *err != nil {
		*err = &ExtenderError{Extender: e.Name, Point: point, Err: *err}
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
