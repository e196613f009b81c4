package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/berth-sched/berth/framework/api"
)

// A Difference is a decision that two runs did not take alike: number Number, from 1,
// about the pod. A side that has no such decision is nil.
type Difference struct {
	Pod    string    `json:"pod"`
	Number int       `json:"number"`
	A      *Decision `json:"a,omitempty"`
	B      *Decision `json:"b,omitempty"`
}

// Differences compares the decisions of two runs pod by pod: the first of a pod with its
// first, and so on. Decisions are alike if they bind the pod to the same node, or evict
// it from the same one, or both find none; times may differ. The result is in the order
// of a's decisions, then of b's.
func Differences(a, b []Decision) []Difference {
	list := []Difference{}
	ofB := map[string][]*Decision{}
	for i := range b {
		ofB[b[i].Pod] = append(ofB[b[i].Pod], &b[i])
	}
	seen := map[string]int{}
	for i := range a {
		x := &a[i]
		n := seen[x.Pod]
		seen[x.Pod]++
		var y *Decision
		if n < len(ofB[x.Pod]) {
			y = ofB[x.Pod][n]
		}
		if y == nil || x.Node != y.Node || x.Evicted != y.Evicted {
			list = append(list, Difference{x.Pod, n + 1, x, y})
		}
	}
	counts := map[string]int{}
	for i := range b {
		y := &b[i]
		if counts[y.Pod]++; counts[y.Pod] > seen[y.Pod] {
			list = append(list, Difference{y.Pod, counts[y.Pod], nil, y})
		}
	}
	return list
}

// Replay runs the configuration's trace and compares what it decides with the decisions
// of the trace. Under the configuration that recorded the trace there is no difference, if
// that ran on a virtual clock, as runs do. A scheduler on a real clock takes time for its
// attempts and binds beside them, so few decisions may differ. If pods still came and went when the
// recorded run ended, the replay goes on for longer: what was recorded last is an event for it.
//
// A decision about a node that no event of the trace adds, and no type of the autoscaler, is
// a [*TraceError].
func Replay(ctx context.Context, config Config) (*Result, []Difference, error) {
	if err := config.CheckDecisions(); err != nil {
		return nil, nil, err
	}
	result, err := Run(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	return result, Differences(config.Trace.Decisions, result.Decisions), nil
}

// CheckDecisions returns a [*TraceError] if a decision of the trace is about a node that no
// event adds, and no type of the autoscaler. [Replay] calls it.
func (c *Config) CheckDecisions() error {
	t := c.Trace
	if t == nil || t.Recorded { // a recorded pod may outlive its node; others are checked as they are read
		return nil
	}
	known := map[string]bool{"": true}
	for i := range t.Events {
		if o := t.Events[i].Apply; o != nil {
			for _, n := range o.Nodes {
				known[n.Name] = true
			}
		}
	}
	for i := range t.Decisions {
		if node := t.Decisions[i].Node; !known[node] && !c.Autoscaler.names(node) {
			return &TraceError{t.lineOf(i), field("decision.node", node, errNeverAdded)}
		}
	}
	return nil
}

var errNeverAdded = errors.New("no event adds such a node, and the autoscaler has no type with such names")

var errCompared = errors.New("pods of a recorded trace leave at their recorded times, so runs cannot be compared: " +
	"use a trace whose pods have arrivals and run times (FromObjects, DecodeOpenB), or Replay")

// RunAll runs several configurations, such as seeds or profiles, in so many goroutines
// at once, at least one. The results are in the order of the configurations; the first
// error, in that order, ends it. Configurations must not share a Handle.
//
// Several runs of a recorded trace cannot be compared: its pods leave when they left in the
// recording, bound or not. They are refused; use Run or Replay for each, or a trace of what
// happens from outside, whose pods have run times.
func RunAll(ctx context.Context, workers int, configs ...Config) ([]*Result, error) {
	for i := range configs {
		if t := configs[i].Trace; len(configs) > 1 && t != nil && t.Recorded {
			return nil, &api.InvalidError{Object: fmt.Sprintf("configs[%d]", i), Field: "trace.recorded", Value: "true", Err: errCompared}
		}
	}
	results, errs := make([]*Result, len(configs)), make([]error, len(configs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() {
			for i := range next {
				results[i], errs[i] = Run(ctx, configs[i])
			}
		})
	}
	for i := range configs {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}
