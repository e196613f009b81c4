package scheduling

import "github.com/berth-sched/berth/framework"

// tellReserved fills Decision.Reserved for a pod on a node, or one that may come there.
func (s *Scheduler) tellReserved(snap *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo, d *Decision) (err error) {
	if parts := s.partsIn(snap, pod); s.plugins.telling.in(parts) {
		d.Reserved, err = s.plugins.reserves(snap, pod, parts, node)
	}
	return err
}

// assumeAndTell is assume for a decision. Then it fills Decision.Reserved: what a pod has is
// known, what it would get must be found.
func (s *Scheduler) assumeAndTell(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) error {
	c := &s.reference.cycle
	parts := s.partsIn(snap, pod)
	if !s.plugins.telling.in(parts) {
		return s.assume(c, snap, pod, parts, d.node)
	}
	mark := snap.Begin()
	node, err := s.assumeInside(c, snap, pod, parts, d.node)
	if err == nil {
		if err = s.tellReserved(snap, pod, node, d); err != nil {
			err = s.plugins.takeBack(c, node, err)
		}
	}
	if err != nil {
		snap.Rollback(mark)
		return err
	}
	snap.Commit(mark)
	return nil
}

// reserves says what a pod gets of a node, in the words of the Reserve plugins.
func (t *plugins) reserves(s *framework.Snapshot, pod *framework.PodInfo, parts podParts, node *framework.NodeInfo) (text string, err error) {
	var at framework.ReserveDetailer // nil once all have returned: recover is not free
	defer func() {
		if at == nil {
			return
		}
		if v := recover(); v != nil {
			text, err = "", &PluginError{Point: "Reserves", Plugin: nameOf(at), Node: node.Name(), Err: recovered(v)}
		}
	}()
	for i := range t.details {
		if !t.details[i].concern.in(parts) {
			continue
		}
		at = t.details[i].plugin
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
