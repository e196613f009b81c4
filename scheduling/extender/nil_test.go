package extender_test

import (
	"context"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// TestNil checks that nil arguments make no call.
func TestNil(t *testing.T) {
	ctx := context.Background()
	s := framework.NewSnapshot(framework.Arrival)
	pod, err := s.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	c, err := extender.New(extender.Config{URLPrefix: "http://unasked.invalid", FilterVerb: "f", PrioritizeVerb: "p", PreemptVerb: "q", BindVerb: "b", Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	node := []*framework.NodeInfo{nil}
	for want, calls := range map[string][]func() error{
		"pod: is nil": {
			func() error { _, err := c.Filter(ctx, nil, nil); return err },
			func() error { _, err := c.Prioritize(ctx, nil, nil); return err },
			func() error { _, err := c.Preempt(ctx, nil, s, nil); return err },
			func() error { return c.Bind(ctx, nil, "n") },
		},
		"nodes[0]: is nil": {
			func() error { _, err := c.Filter(ctx, pod, node); return err },
			func() error { _, err := c.Prioritize(ctx, pod, node); return err },
		},
		"snapshot: is nil":                        {func() error { _, err := c.Preempt(ctx, pod, nil, nil); return err }},
		"candidates[0]: is nil":                   {func() error { _, err := c.Preempt(ctx, pod, s, []*preemption.Candidate{nil}); return err }},
		"pod: metadata.name: must not be empty":   {func() error { return c.Bind(ctx, new(api.Pod), "n") }},
		"pod p: spec.nodeName: must not be empty": {func() error { return c.Bind(ctx, pod.Pod, "") }},
		"node: is nil":                            {func() error { _, err := extender.NodeOf(nil); return err }},
	} {
		for i, call := range calls {
			if err := call(); err == nil || err.Error() != want {
				t.Errorf("call %d = %v, want %s", i, err, want)
			}
		}
	}
}
