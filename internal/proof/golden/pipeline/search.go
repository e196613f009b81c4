package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// DefaultPreemption returns the plugin with the case's arguments.
func DefaultPreemption(c *golden.Case) (preemption.DefaultPreemption, error) {
	raw, err := c.Args("DefaultPreemption")
	if err != nil || raw == nil {
		return preemption.DefaultPreemption{}, err
	}
	a := args.NewDefaultPreemption()
	if err := json.Unmarshal(raw, a); err != nil {
		return preemption.DefaultPreemption{}, fmt.Errorf("DefaultPreemption: %w", err)
	}
	return preemption.DefaultPreemption{
		MinCandidateNodesPercentage: &a.MinCandidateNodesPercentage, MinCandidateNodesAbsolute: &a.MinCandidateNodesAbsolute,
	}, nil
}

// search is the result of a PostFilter that began at a given place.
type search struct {
	candidates []*preemption.Candidate
	left       []*preemption.Candidate // candidates that the extenders left
	result     framework.PostFiltered
	status     framework.Status
	cached     framework.PostFiltered // result with the plugin's cache
}

// search runs the plugin from each of the places.
func (r *recorder) search(ctx context.Context, c *framework.Cycle, v framework.Verdicts) {
	r.searches = nil
	seed := c.Seed
	narrow, narrows := preemption.Narrow.Get(c)
	defer func() {
		if c.Seed = seed; narrows {
			preemption.Narrow.Set(c, narrow)
		}
	}()
	for _, place := range r.places {
		if place >= len(r.potential) {
			continue
		}
		var s search
		c.Seed = seedOf(place, len(r.potential))
		s.cached, _ = r.DefaultPreemption.PostFilter(ctx, c, v)
		preemption.Narrow.Set(c, func(ctx context.Context, list []*preemption.Candidate) (left []*preemption.Candidate, err error) {
			s.candidates = slices.Clone(list)
			if left = list; narrows {
				left, err = narrow(ctx, list)
			}
			s.left = slices.Clone(left)
			return left, err
		})
		s.result, s.status = r.DefaultPreemption.PostFilter(ctx, c, v)
		if preemption.Narrow.Delete(c); narrows {
			preemption.Narrow.Set(c, narrow)
		}
		r.searches = append(r.searches, s)
	}
}

// seedOf returns the smallest seed that lets a search among n nodes begin at place.
func seedOf(place, n int) uint64 {
	seed, rest := bits.Div64(uint64(place), 0, uint64(n))
	if rest > 0 {
		seed++
	}
	return seed
}

// compareSearches compares candidates in order, and choices.
func (k *checker) compareSearches(want *golden.Preemption) {
	if len(k.preemption.searches) != len(want.Searches) {
		k.differ("preemption: %d searches, want %d", len(k.preemption.searches), len(want.Searches))
		return
	}
	for i, w := range want.Searches {
		got := &k.preemption.searches[i]
		at := fmt.Sprintf(" from %d", w.Offset)
		var candidates, tied []string
		for _, c := range got.candidates {
			candidates = append(candidates, c.Node)
		}
		for _, c := range preemption.Tied(got.left, preemption.Criteria()) {
			tied = append(tied, c.Node)
		}
		slices.Sort(tied)
		k.compare("preemption: candidates"+at, candidates, w.Candidates)
		k.compare("preemption: nodes that may be chosen"+at, tied, w.Picked)
		k.compare("preemption: code"+at, got.status.Code().String(), w.Code)
		found := w.Nominated != "" || got.result.Nominated != ""
		if found && (!slices.Contains(w.Picked, got.result.Nominated) || !slices.Contains(tied, w.Nominated)) {
			k.differ("preemption: node%s = %q of %v, want %q of %v", at, got.result.Nominated, tied, w.Nominated, w.Picked)
		}
		if w.Code == framework.Error.String() {
			_, text, _ := strings.Cut(w.Message, "preemption: ")
			text, _, _ = strings.Cut(text, "on node ") // names any of several nodes
			if err := fmt.Sprint(got.status.Err()); !strings.Contains(err, text) {
				k.differ("preemption: error%s = %s, want %s", at, err, text)
			}
		} else if got.result.Nominated == w.Nominated {
			k.compare("preemption: message"+at, got.status.Message(), w.Message)
			k.compare("preemption: evicted"+at, staying(got.result.Victims), append([]string{}, w.Evicted...))
		}
		if a, b := got.cached, got.result; a.Nominated != b.Nominated || !slices.Equal(keys(a.Victims), keys(b.Victims)) {
			k.differ("preemption: choice%s from memory = %v on %q, want %v on %q", at, keys(a.Victims), a.Nominated, keys(b.Victims), b.Nominated)
		}
	}
}

// staying returns the keys of victims that are not already leaving.
func staying(victims []framework.Victim) []string {
	return keys(slices.DeleteFunc(slices.Clone(victims), func(v framework.Victim) bool { return v.Pod.Pod.DeletionTimestamp != nil }))
}
