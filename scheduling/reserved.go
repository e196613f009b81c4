package scheduling

import (
	"strings"

	"github.com/berth-sched/berth/framework"
)

// reserves says what a pod gets of a node, in the words of the Reserve plugins.
func (t *plugins) reserves(s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo) (string, error) {
	if len(t.details) == 1 { // without memory
		return callReserves(t.details[0], s, pod, node)
	}
	var all []string
	for _, p := range t.details {
		text, err := callReserves(p, s, pod, node)
		if err != nil {
			return "", err
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", "), nil
}

func callReserves(p framework.ReserveDetailer, s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo) (text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PluginError{Point: "Reserves", Plugin: p.Name(), Node: node.Name(), Err: recovered(v)}
		}
	}()
	return p.Reserves(s, pod, node), nil
}
