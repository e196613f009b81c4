package whatif

import (
	"cmp"
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// A Reason is why a number of nodes reject a pod.
type Reason struct {
	// Plugin is the filter that rejects them, "" for nodes that are left out before
	// filtering.
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// An Unplaced is a pod that fits nowhere, waits for its scheduling gates to be removed, or about
// which a plugin could not decide.
type Unplaced struct {
	// Pod is "namespace/name".
	Pod string `json:"pod"`
	// Message is the text of kube-scheduler, "0/3 nodes are available: ...", or the plugin's
	// error.
	Message string `json:"message"`
	// Reasons are the parts of the message, the most frequent first.
	Reasons []Reason `json:"reasons,omitempty"`
}

// unplaced turns the error of a decision that found no node into an Unplaced; other
// errors come back.
func unplaced(pod *framework.PodInfo, err error) (*Unplaced, error) {
	u := &Unplaced{Pod: pod.Pod.Key()}
	var fit *scheduling.FitError
	switch {
	case errors.As(err, &fit):
		u.Reasons = reasonsOf(fit)
	case !errors.Is(err, scheduling.ErrNoNodes):
		return nil, err
	}
	u.Message = err.Error()
	return u, nil
}

// missed is unplaced for one of many pods, whose placement does not end with an error about
// this one: like kube-scheduler, a question goes on if a plugin could not decide about a pod.
func missed(pod *framework.PodInfo, err error) (*Unplaced, error) {
	u, err := unplaced(pod, err)
	var plugin *scheduling.PluginError
	if err == nil || !errors.As(err, &plugin) || errors.Is(err, framework.ErrBroken) {
		return u, err
	}
	return &Unplaced{Pod: pod.Pod.Key(), Message: err.Error()}, nil
}

func reasonsOf(fit *scheduling.FitError) []Reason {
	list := reasons{}
	for _, r := range fit.Rejections {
		for _, text := range r.Status.Reasons() {
			plugin := r.Plugin
			if plugin == barsName && text == string(cordonReason) {
				plugin = scheduling.CordonPlugin
			}
			list.add(plugin, text, r.Nodes)
		}
	}
	return list.sorted()
}

// reasons counts nodes by plugin and reason, which may be thousands: a node has one for each
// resource that it lacks.
type reasons map[[2]string]int

func (l reasons) add(plugin, text string, nodes int) { l[[2]string{plugin, text}] += nodes }

// sorted returns the reasons, the most frequent first.
func (l reasons) sorted() []Reason {
	var list []Reason
	for of, nodes := range l {
		list = append(list, Reason{of[0], of[1], nodes})
	}
	slices.SortFunc(list, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
