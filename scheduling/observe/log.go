package observe

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// Log writes attempts to a logger at level Info and, at level Debug, the duration of
// their steps. Set Scores to write every score of every node, too; this costs a
// second decision for each attempt:
//
//	default/web -> node-1: NodeResourcesFit, Score: (86)
//	Host node-1 => Score 438
//
// Source of these two lines: kube-scheduler 1.18 at log level 10, whose log they
// resemble. The scores of a plugin are weighted.
type Log struct {
	// Logger receives the lines; nil writes nothing.
	Logger *slog.Logger
	// Scores writes scores, at level Debug.
	Scores bool
	// Plugins writes the duration of each plugin at each extension point, at level
	// Debug; see [lifecycle.PluginObserver] for the cost.
	Plugins bool
}

// Observer returns the observer.
func (l Log) Observer() lifecycle.Observer {
	if l.Logger == nil {
		return nothing{}
	}
	log := attemptLog{l.Logger}
	switch {
	case l.Scores && l.Plugins:
		return struct {
			scoreLog
			pluginLines
		}{scoreLog{log}, pluginLines(log)}
	case l.Scores:
		return scoreLog{log}
	case l.Plugins:
		return struct {
			attemptLog
			pluginLines
		}{log, pluginLines(log)}
	}
	return log
}

type nothing struct{}

func (nothing) Attempt(*lifecycle.Attempt) {}

type attemptLog struct{ logger *slog.Logger }

// Attempt implements [lifecycle.Observer].
func (l attemptLog) Attempt(a *lifecycle.Attempt) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{
		slog.String("pod", a.Pod.Pod.Key()), slog.String("profile", a.Profile), slog.Int("attempt", a.Number),
		slog.Duration("took", a.Ended.Sub(a.Started)),
	}
	message := "pod was bound"
	if isOfGroup(a) {
		attrs, message = append(attrs, slog.String("group", a.Group)), "pod group was scheduled"
		if a.State == lifecycle.Failed {
			attrs, message = append(attrs, slog.Any("error", a.Err)), "pod group was not scheduled"
		}
	} else if a.State == lifecycle.Bound {
		attrs = append(attrs,
			slog.String("node", a.Decision.Node), slog.Int64("score", a.Decision.Score),
			slog.Int("evaluated", a.Decision.Evaluated), slog.Int("feasible", a.Decision.Feasible))
	} else {
		message = "pod was not bound"
		attrs = append(attrs, slog.Any("error", a.Err))
		if a.Nominated != "" {
			attrs = append(attrs, slog.String("nominated", a.Nominated), slog.Int("victims", len(a.Victims)))
		}
	}
	l.logger.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
}

// Point implements [lifecycle.PointObserver].
func (l attemptLog) Point(t lifecycle.PointTiming) {
	attrs := []slog.Attr{
		slog.String("pod", t.Pod.Pod.Key()), slog.String("profile", t.Profile),
		slog.String("point", t.Point), slog.Duration("took", t.Duration),
	}
	if t.Err != nil {
		attrs = append(attrs, slog.Any("error", t.Err))
	}
	l.logger.LogAttrs(context.Background(), slog.LevelDebug, "step", attrs...)
}

// pluginLines is the additional part of an observer that observes plugins.
type pluginLines struct{ logger *slog.Logger }

// Plugin implements [lifecycle.PluginObserver].
func (l pluginLines) Plugin(t lifecycle.PluginTiming) {
	l.logger.LogAttrs(context.Background(), slog.LevelDebug, "plugin",
		slog.String("pod", t.Pod.Pod.Key()), slog.String("profile", t.Profile), slog.String("point", t.Point),
		slog.String("plugin", t.Plugin), slog.Int("nodes", t.Nodes), slog.Duration("took", t.Duration))
}

type scoreLog struct{ attemptLog }

// Scores implements [lifecycle.ScoreObserver].
func (l scoreLog) Scores(e *scheduling.Explanation) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	for _, n := range e.Nodes {
		for _, s := range n.Scores {
			l.logger.LogAttrs(ctx, slog.LevelDebug, fmt.Sprintf("%s -> %s: %s, Score: (%d)", errtext.Visible(e.Pod), errtext.Visible(n.Node), s.Plugin, s.Weighted))
		}
	}
	for _, n := range e.Nodes {
		if n.Rank > 0 {
			l.logger.LogAttrs(ctx, slog.LevelDebug, fmt.Sprintf("Host %s => Score %d", errtext.Visible(n.Node), n.Total))
		}
	}
}
