package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/volumes"
)

// What the volume plugins have in common on the incremental path: the claims of a pod are read for
// its class key, so a bound filter answers alike for all pods of the class, and asks only about nodes.

// scopeOfClaims is the scope of a plugin that reads the claims of a pod for its class key. Claims that are made
// for the pod have names that follow from its own.
func scopeOfClaims(pod *framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: volumes.Of(pod).Fields() & framework.FieldIdentity, Reads: readsVolumes}
}

// readsVolumes is what a volume plugin reads besides the parts of the pod that its key covers.
const readsVolumes = framework.ReadsNode | framework.ReadsDomain | framework.ReadsVolumes

// volumeFields are the parts of a pod that keys of volume plugins cover.
func volumeFields(pod *framework.PodInfo) framework.PodFields { return volumes.Of(pod).Fields() }

// unchanged is the [incremental.DomainTracker] of a filter whose answers read only what is in the class
// key, and the node.
type unchanged struct{}

func (unchanged) Version() uint64 { return 0 }

func (unchanged) Changed(uint64, func(slot int)) bool { return true }
