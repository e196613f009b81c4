package whatif

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// WithDaemons returns the type with the pods that the DaemonSets of the list run on each of its nodes; see
// [workload.DaemonsOn]. The type itself stays as it is.
func (t NodeType) WithDaemons(list []workload.Workload, classes []*api.PriorityClass) (NodeType, error) {
	// No node has this name, so a DaemonSet for one node does not count.
	o, err := t.Objects("-")
	if err != nil {
		return t, err
	}
	o.PriorityClasses = classes
	pods, err := workload.DaemonsOn(o, list)
	if err != nil {
		return t, err
	}
	t.Pods = slices.Concat(t.Pods, pods)
	return t, nil
}
