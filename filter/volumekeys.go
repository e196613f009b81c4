package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/volumes"
)

// volumeFields are the parts of a pod that the class keys of volume plugins cover.
func volumeFields(pod *framework.PodInfo) framework.PodFields { return volumes.Of(pod).Fields() }

// unchanged is the [incremental.DomainTracker] of a filter whose answers read only what is in the class
// key, and the node.
type unchanged struct{}

func (unchanged) Version() uint64 { return 0 }

func (unchanged) Changed(uint64, func(slot int)) bool { return true }
