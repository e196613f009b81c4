package scoring

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/resource"
)

// bindDevices lets the terms of extended resources count devices. A node that does not
// offer the resource itself may have devices of the class behind it.
func bindDevices(terms []term, c *framework.Cycle, compiler api.DeviceSelectorCompiler) {
	for i := range terms {
		if t := &terms[i]; t.index > resource.IndexEphemeralStorage {
			t.offer = devices.OfferOf(c.Snapshot, c.Pod.Schema().Name(t.index), compiler)
		}
	}
}

// devicesOn returns how many devices a node has for the term, and how many are in use. It
// is for a node that does not offer the resource itself.
func (t *term) devicesOn(node *framework.NodeInfo) (allocatable, used int64) {
	return t.offer.On(node)
}

// amounts returns what a node has of the resource and, with the pod, how much of it is
// requested.
func (t *term) amounts(node *framework.NodeInfo) (requested, allocatable int64) {
	if allocatable = node.Allocatable.At(t.index); allocatable != 0 {
		return t.requested(node), allocatable
	}
	allocatable, used := t.devicesOn(node)
	return resource.SatAdd(used, t.pod), allocatable
}
