package scheduling

import "github.com/berth-sched/berth/framework"

// reserves says what a pod gets of a node, in the words of the Reserve plugins.
func (t *plugins) reserves(s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo) (text string, err error) {
	var at framework.ReserveDetailer // nil once all have returned: recover is not free
	defer func() {
		if at == nil {
			return
		}
		if v := recover(); v != nil {
			text, err = "", &PluginError{Point: "Reserves", Plugin: at.Name(), Node: node.Name(), Err: recovered(v)}
		}
	}()
	for _, at = range t.details {
		switch said := at.Reserves(s, pod, node); {
		case said == "":
		case text == "":
			text = said
		default:
			text += ", " + said
		}
	}
	at = nil
	return text, nil
}
