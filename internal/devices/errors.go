package devices

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// A selectorError is the error of a node selector that cannot be parsed. Its text shows
// the selector as Kubernetes' types print it.
type selectorError struct {
	selector *api.NodeSelector
	err      error
}

func (e *selectorError) Error() string {
	var b strings.Builder
	b.WriteString("failed to parse node selector &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{")
	for _, t := range e.selector.NodeSelectorTerms {
		fmt.Fprintf(&b, "NodeSelectorTerm{MatchExpressions:%s,MatchFields:%s,},", requirementsText(t.MatchExpressions), requirementsText(t.MatchFields))
	}
	fmt.Fprintf(&b, "},}: %v", e.err)
	return b.String()
}

func (e *selectorError) Unwrap() error { return e.err }

func requirementsText(list []api.NodeSelectorRequirement) string {
	var b strings.Builder
	b.WriteString("[]NodeSelectorRequirement{")
	for _, r := range list {
		fmt.Fprintf(&b, "NodeSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", r.Key, r.Operator, r.Values)
	}
	return b.String() + "}"
}

// A sliceError is an error of a slice that may be relevant for a node.
type sliceError struct {
	slice, device string
	err           error
}

func (e *sliceError) Error() string {
	if e.device != "" {
		return fmt.Sprintf("gather pool information: failed to perform node selection for device %s in slice %s: %v", e.device, e.slice, e.err)
	}
	return fmt.Sprintf("gather pool information: failed to perform node selection for slice %s: %v", e.slice, e.err)
}

func (e *sliceError) Unwrap() error { return e.err }

// A StepsError says that the search for devices on a node was given up.
type StepsError struct {
	Node  string
	Steps int
}

// Error returns kube-scheduler's text for a search that takes too long, and the bound.
func (e *StepsError) Error() string {
	return fmt.Sprintf("node %s: timed out trying to allocate devices (after %d steps)", e.Node, e.Steps)
}
