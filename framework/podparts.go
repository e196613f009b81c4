package framework

import "github.com/berth-sched/berth/internal/runner"

// PodParts names parts that a pod may have or lack. They are found when its [PodInfo] is
// made, so asking costs nothing.
type PodParts uint16

// The parts of a pod. [PodInfo] has a method for each, which says what counts.
const (
	PartPodAffinity = PodParts(runner.HasPodAffinity)
	PartSpread      = PodParts(runner.HasSpread)
	PartVolumes     = PodParts(runner.HasVolumes)
	PartClaims      = PodParts(runner.HasClaims)
	PartExtended    = PodParts(runner.HasExtended)
	PartGates       = PodParts(runner.HasGates)
	PartNodeName    = PodParts(runner.HasNodeName)
	PartHostPorts   = PodParts(runner.HasHostPorts)
	PartFeatures    = PodParts(runner.NeedsFeatures)
)

// Parts returns the parts that the pod has. It may have bits that are no part of this list.
func (p *PodInfo) Parts() PodParts { return PodParts(p.runner.Parts) }
