package framework

import "github.com/berth-sched/berth/internal/runner"

// PodParts names parts that a pod may have or lack. They are found when its [PodInfo] is
// made, so asking costs nothing.
type PodParts uint16

// The parts of a pod. [PodInfo] has methods for the first six, which say what counts. The others
// are spec.nodeName, host ports ([PodInfo.HostPorts]), and whatever may need a feature that nodes
// declare: restart rules of containers, mounts with options, users of its own in the node's network.
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

func (p *PodInfo) has(part runner.Parts) bool { return p.runner.Parts&part != 0 }
