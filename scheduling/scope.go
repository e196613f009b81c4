package scheduling

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
)

// A scope says what a plugin reads for a pod. The zero scope is of a plugin that declares
// nothing. The reference path does not ask for scopes, so a panic must not fail the cycle:
// the plugin then declares nothing, either.
type scope struct {
	framework.Scoper
	concern concern
}

// undeclared is the scope of a plugin that declares none.
var undeclared = framework.Scope{Pod: framework.FieldsAll, Reads: framework.ReadsCluster}

func scopeOf(p framework.Plugin) scope {
	s, _ := framework.As[framework.Scoper](p)
	return scope{s, concernOf(s)}
}

// of asks the plugin, and recovers its panic.
func (s scope) of(pod *framework.PodInfo) (declared framework.Scope) {
	defer func() {
		if recover() != nil {
			declared = undeclared
		}
	}()
	return s.ask(pod)
}

// looksBeyond reports whether an answer may depend on nodes other than the one that is asked about. The
// volume plugins are bound in every decision, because claims and volumes are read for their class keys, but
// look at no other node.
func (s scope) looksBeyond(pod *framework.PodInfo) bool {
	switch s.Scoper.(type) {
	case filter.VolumeBinding, filter.VolumeZone, filter.NodeVolumeLimits:
		return false
	}
	return s.of(pod).Reads&beyondNode != 0
}

// ask asks the plugin, which may panic.
func (s scope) ask(pod *framework.PodInfo) framework.Scope {
	if s.Scoper == nil {
		return undeclared
	}
	return s.Scope(pod)
}
