package scheduling

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/internal/errtext"
)

// A PluginError says that a plugin could not decide, broke its contract, or
// panicked. The pod's cycle failed, and the pod may be tried again.
type PluginError struct {
	// Point is the extension point: PreEnqueue, PreFilter, Filter, PreScore,
	// Score, NormalizeScore, TieBreak, PostFilter, Reserve, Reserves, Unreserve, Permit,
	// PreBindPreFlight, PreBind, Bind, PostBind; or WaitOnPermit for a pod that
	// was preempted while it waited.
	Point string
	// Plugin is the plugin's name.
	Plugin string
	// Node is the node in question, "" if it is not known.
	Node string
	Err  error
}

// Error returns kube-scheduler's text for the point, and the node.
func (e *PluginError) Error() string {
	var text string
	switch e.Point {
	case "Filter":
		text = fmt.Sprintf("running %q filter plugin: %v", e.Plugin, e.Err)
	case "Score":
		text = fmt.Sprintf("running Score plugins: plugin %q failed with: %v", e.Plugin, e.Err)
	case "NormalizeScore":
		text = fmt.Sprintf("applying score defaultWeights on Score plugins: plugin %q %v", e.Plugin, e.Err)
	case "PreBindPreFlight":
		text = fmt.Sprintf("running PreBindPreFlight %q: %v", e.Plugin, e.Err)
	case "WaitOnPermit":
		text = fmt.Sprintf("waiting on permit for pod: %v", e.Err)
	default:
		text = fmt.Sprintf("running %s plugin %q: %v", e.Point, e.Plugin, e.Err)
	}
	if e.Node != "" {
		text += fmt.Sprintf(" (node %s)", e.Node)
	}
	return text
}

// Unwrap returns the cause.
func (e *PluginError) Unwrap() error { return e.Err }

func errScoreRange(score int64) error {
	return fmt.Errorf("returns an invalid score %d, it should in the range of [0, 100] after normalizing", score)
}

// errExited is the error of a plugin that called [runtime.Goexit].
var errExited = errors.New("it ended its goroutine without an answer")

// recovered turns a recovered panic into an error.
func recovered(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("panic: %w", errtext.Safe(err))
	}
	return fmt.Errorf("panic: %v", v)
}
