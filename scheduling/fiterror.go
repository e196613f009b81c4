package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
)

// ErrNoNodes says that the snapshot has no nodes at all.
var ErrNoNodes = errors.New("no nodes available to schedule pods")

// A Rejection is how many nodes one plugin rejected for one set of reasons.
type Rejection struct {
	// Plugin is the name of the plugin, "" for nodes left out before filtering.
	Plugin string
	Status framework.Status
	Nodes  int
}

// A FitError says that no node is feasible for the pod, and why. Its text is
// kube-scheduler's "0/N nodes are available: ...". It holds counts, not nodes;
// [Scheduler.Explain] gives each node's reasons.
type FitError struct {
	// Pod is "namespace/name".
	Pod string
	// Nodes is the number of nodes in the snapshot.
	Nodes int
	// PreFilter is the message of the plugin that rejected the pod before any node
	// was looked at, "" if none did.
	PreFilter string
	// Rejections counts the reasons, in the order of the profile's filters. Errors about
	// other pods may share it, so it must not be changed.
	Rejections []Rejection
	// Restricting names the plugins whose PreFilter allowed only some nodes, sorted.
	Restricting []string
	// PostFilter is the message of the attempts to make room.
	PostFilter string
}

// Error returns the text. Reasons are sorted as strings, as in kube-scheduler.
func (e *FitError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "0/%d nodes are available:", e.Nodes)
	if e.PreFilter != "" {
		fmt.Fprintf(&b, " %s.", e.PreFilter)
	} else if reasons := e.reasons(); len(reasons) > 0 {
		fmt.Fprintf(&b, " %s.", strings.Join(reasons, ", "))
	}
	if e.PostFilter != "" {
		b.WriteString(" " + e.PostFilter)
	}
	return b.String()
}

func (e *FitError) reasons() []string {
	counts := map[string]int{}
	for _, r := range e.Rejections {
		for _, text := range r.Status.Reasons() {
			counts[text] += r.Nodes
		}
	}
	lines := make([]string, 0, len(counts))
	for text, n := range counts {
		lines = append(lines, fmt.Sprintf("%d %s", n, text))
	}
	slices.Sort(lines)
	return lines
}

// Plugins returns the sorted names of the plugins that rejected nodes or left them
// out.
func (e *FitError) Plugins() []string { return e.plugins(false) }

// Pending returns those of Plugins that answered Pending: they only ask for the pod
// to be tried again.
func (e *FitError) Pending() []string { return e.plugins(true) }

func (e *FitError) plugins(pending bool) []string {
	var list []string
	if !pending {
		list = slices.Clone(e.Restricting)
	}
	for _, r := range e.Rejections {
		if r.Plugin != "" && (!pending || r.Status.Code() == framework.Pending) {
			list = append(list, r.Plugin)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Unresolvable returns the plugins that rejected nodes, each as unresolvable, if their
// answers depend on the node that they are asked about and on nothing else: the pod is not
// helped if pods are taken away, wherever they are. A plugin that rejected the pod before any
// node was looked at, or left nodes out, is not among them; nor is one that reads other nodes
// for the pod, or objects, because a pod that leaves may give back what it had reserved of
// these; nor one that declares no scope. e is the error of a decision for the pod.
func (s *Scheduler) Unresolvable(pod *framework.PodInfo, e *FitError) []string {
	if e.PreFilter != "" {
		return nil
	}
	var list []string
	for i := range s.plugins.filters {
		p := &s.plugins.filters[i]
		rejects, resolvable := false, slices.Contains(e.Restricting, p.name)
		for _, r := range e.Rejections {
			if r.Plugin == p.name {
				rejects = true
				resolvable = resolvable || r.Status.Code() != framework.UnschedulableAndUnresolvable
			}
		}
		if rejects && !resolvable && p.scope.of(pod).Reads&(beyondNode|anyObjects) == 0 {
			list = append(list, p.name)
		}
	}
	return list
}
