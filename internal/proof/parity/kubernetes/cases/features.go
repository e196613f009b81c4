package cases

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// features lists the features that pods may need, and some that matter elsewhere or
// nowhere.
var features = []string{
	"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions",
	"InPlacePodLevelResourcesVerticalScaling", "ExtendWebSocketsToKubelet", "ANewOne", "zero",
}

// declaredFeatures lists the features of a node. The list should be sorted, but
// sometimes it is not.
func (g *generator) declaredFeatures() []string {
	list := some(g.dice, len(features), features...)
	if g.chance(70) {
		list = slices.Clone(features[:3])
		if g.chance(50) {
			list = slices.Delete(list, 0, 1)
		}
	}
	switch g.IntN(10) {
	case 0, 1: // in random order
	case 2:
		list = append(list, list...)
	case 3:
		list = append(list, "")
	default:
		slices.Sort(list)
	}
	return list
}

// needFeatures makes the pod need features that not every node has.
func (g *generator) needFeatures(p *api.Pod) {
	p.Spec.HostNetwork = g.chance(50)
	if g.chance(60) {
		p.Spec.HostUsers = new(g.chance(30))
	}
	if g.chance(30) && p.Spec.InitContainers == nil {
		g.initContainers(p)
	}
	for _, list := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			if g.chance(20) {
				list[i].RestartPolicyRules = []api.ContainerRestartRule{{Action: pick(g.dice,
					api.ContainerRestartRuleActionRestart, api.ContainerRestartRuleActionRestartAllContainers)}}
			}
			if g.chance(20) {
				list[i].VolumeMounts = []api.VolumeMount{{Name: "v", BindMountOptions: pick(g.dice, nil, []string{"noexec"}, []string{""})}}
			}
		}
	}
}
