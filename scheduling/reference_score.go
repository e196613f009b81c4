package scheduling

import (
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// score fills raw, norm and totals for the feasible nodes.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPreScorePlugins and
// RunScorePlugins.
func (r *referencePath) score() error {
	if err := r.plugins.bindScorers(&r.cycle, allOf(r.cycle.Pod), (*everyNode)(r), &r.bound, &r.plugins.allScorers); err != nil {
		return err
	}
	n := len(r.feasible)
	r.totals = slices.Grow(r.totals[:0], n)[:n]
	clear(r.totals)
	r.raw, r.norm = r.raw[:0], r.norm[:0]
	for i := range r.bound.scorers {
		b := &r.bound.scorers[i]
		raw := r.buffer(2*i, n)
		if err := r.column(b, raw); err != nil {
			return err
		}
		norm := raw
		if b.ByRange != nil || b.ByNodes != nil {
			norm = r.buffer(2*i+1, n)
			copy(norm, raw)
			if err := r.normalize(b, norm); err != nil {
				return err
			}
		}
		if err := r.add(b, norm); err != nil {
			return err
		}
		r.raw, r.norm = append(r.raw, raw), append(r.norm, norm)
	}
	r.prioritize()
	return nil
}

// everyNode shows the feasible nodes of a reference path one by one.
type everyNode referencePath

func (r *everyNode) List() []*framework.NodeInfo          { return (*referencePath)(r).toRate() }
func (r *everyNode) Groups(int) incremental.FeasibleNodes { return nil }

func (r *referencePath) buffer(i, n int) []int64 {
	for len(r.buffers) <= i {
		r.buffers = append(r.buffers, nil)
	}
	r.buffers[i] = slices.Grow(r.buffers[i][:0], n)[:n]
	return r.buffers[i]
}

// column asks one scorer about every feasible node.
func (r *referencePath) column(b *boundScorer, raw []int64) error {
	workers := r.pieces(len(raw))
	if workers == 1 {
		return r.scoreRange(b, raw, 0, len(raw))
	}
	errs := make([]error, workers)
	r.each(len(raw), func(worker, lo, hi int) { errs[worker] = r.scoreRange(b, raw, lo, hi) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *referencePath) scoreRange(b *boundScorer, raw []int64, lo, hi int) (err error) {
	i, nodes := lo, r.toRate()
	defer func() {
		if p := recover(); p != nil {
			e := r.scoreError("Score", b, r.feasible[i], recovered(p))
			if b.Batch != nil {
				e.Node = "" // the batch does not say at which node
			}
			err = e
		}
	}()
	if b.Batch != nil {
		b.Batch.ScoreNodes(r.cycle.Pod, nodes[lo:hi], raw[lo:hi])
		return nil
	}
	for ; i < hi; i++ {
		raw[i] = b.Scorer.Score(r.cycle.Pod, nodes[i])
	}
	return nil
}

// normalize maps the column to [0,100] by the plugin's own rule.
func (r *referencePath) normalize(b *boundScorer, column []int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PluginError{Point: "NormalizeScore", Plugin: r.plugins.scorers[b.At].name, Err: recovered(p)}
		}
	}()
	if b.ByRange == nil {
		b.ByNodes.NormalizeScores(r.toRate(), column)
		return nil
	}
	if b.Except != nil {
		normalizeExcept(b.Except, r.toRate(), column)
		return nil
	}
	smallest, largest := extremes(column)
	// Neighbouring nodes often have equal scores.
	last, norm := smallest, b.ByRange.NormalizeScore(smallest, smallest, largest)
	for i, raw := range column {
		if raw != last {
			last, norm = raw, b.ByRange.NormalizeScore(raw, smallest, largest)
		}
		column[i] = norm
	}
	return nil
}

// normalizeExcept normalizes by the range of the nodes that the scorer does not
// exclude. Excluded nodes get 0.
func normalizeExcept(by framework.RangeExcluder, nodes []*framework.NodeInfo, column []int64) {
	smallest, largest := int64(math.MaxInt64), int64(math.MinInt64)
	for i, raw := range column {
		if !by.Excludes(nodes[i]) {
			smallest, largest = min(smallest, raw), max(largest, raw)
		}
	}
	for i, raw := range column {
		column[i] = 0
		if !by.Excludes(nodes[i]) {
			column[i] = by.NormalizeScore(raw, smallest, largest)
		}
	}
}

func extremes(column []int64) (smallest, largest int64) {
	smallest, largest = math.MaxInt64, math.MinInt64
	for _, x := range column {
		smallest, largest = min(smallest, x), max(largest, x)
	}
	return smallest, largest
}

// add checks the bounds and adds the weighted column to the totals.
func (r *referencePath) add(b *boundScorer, column []int64) error {
	totals, weight := r.totals[:len(column)], b.Weight
	for i, x := range column {
		if uint64(x) > uint64(framework.MaxNodeScore) {
			return r.scoreError("NormalizeScore", b, r.feasible[i], errScoreRange(x))
		}
		totals[i] += x * weight
	}
	return nil
}

func (r *referencePath) scoreError(point string, b *boundScorer, node *framework.NodeInfo, err error) *PluginError {
	return &PluginError{Point: point, Plugin: r.plugins.scorers[b.At].name, Node: node.Name(), Err: err}
}
