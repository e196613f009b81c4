package gang

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A nomination is a pod of a group and a node that it is nominated to.
type nomination struct {
	pod  *framework.PodInfo
	node string
}

// withdraw clears the nominations of the group's pods and returns them. While all are placed anew, none counts for
// another, and where they are placed, they would count twice.
func withdraw(snap *framework.Snapshot, g *Group) (list []nomination) {
	if snap.Nominations() == 0 {
		return nil
	}
	byKey := make(map[string]*framework.PodInfo, len(g.Pods))
	for _, pod := range g.Pods {
		byKey[pod.Pod.Key()] = pod
	}
	for _, slot := range slices.Clone(snap.NominatedSlots()) {
		n := snap.AtSlot(slot)
		for _, pod := range slices.Clone(n.Nominated) {
			if own := byKey[pod.Pod.Key()]; own != nil && api.SamePod(own.Pod, pod.Pod) {
				list = append(list, nomination{pod, n.Name()})
				snap.ClearNomination(pod, n.Name())
			}
		}
	}
	return list
}

// renominate nominates those of the pods again that are on no node.
func renominate(snap *framework.Snapshot, list []nomination) error {
	for _, x := range list {
		if placed, _ := snap.Pod(x.pod.Pod.Key()); placed != nil {
			continue
		}
		if err := snap.Nominate(x.pod, x.node, ""); err != nil {
			return err
		}
	}
	return nil
}
