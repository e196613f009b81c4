package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
)

func TestNodeDeclaredFeatures(t *testing.T) {
	declaring := func(name string, features ...string) *framework.Node {
		n := framework.MakeNode(name, "1", "1Gi").Obj()
		n.Status.DeclaredFeatures = features
		return n
	}
	const restart, users, options = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"
	nodes := []*framework.Node{
		declaring("none"), declaring("restart", "Other", restart), declaring("users", users), declaring("options", options),
		declaring("all", "A", restart, users, options, "Z"), declaring("unsorted", options, users, restart),
	}
	pod := func(change func(*framework.Pod)) *framework.Pod {
		p := framework.MakePod("p").Container("main").Obj()
		change(p)
		return p
	}
	restarts := func(c *framework.Container) {
		c.RestartPolicyRules = []framework.ContainerRestartRule{{Action: framework.ContainerRestartRuleActionRestart}, {Action: framework.ContainerRestartRuleActionRestartAllContainers}}
	}
	mounts := func(c *framework.Container) {
		c.VolumeMounts = []framework.VolumeMount{{Name: "a"}, {Name: "b", BindMountOptions: []string{"noexec"}}}
	}
	own := func(p *framework.Pod) { p.Spec.HostNetwork, p.Spec.HostUsers = true, new(false) }
	const pass, lacks = "Success", "UnschedulableAndUnresolvable: node(s) didn't match Pod's required features"
	tests := []struct {
		name   string
		change func(*framework.Pod)
		want   []string
	}{
		{"restart rule", func(p *framework.Pod) { restarts(&p.Spec.Containers[0]) }, []string{lacks, pass, lacks, lacks, pass, lacks}},
		{"restart rule of an init container", func(p *framework.Pod) {
			p.Spec.InitContainers = make([]framework.Container, 1)
			restarts(&p.Spec.InitContainers[0])
		}, []string{lacks, pass, lacks, lacks, pass, lacks}},
		{"users of its own on the node's network", own, []string{lacks, lacks, pass, lacks, pass, lacks}},
		{"mount options", func(p *framework.Pod) { mounts(&p.Spec.Containers[0]) }, []string{lacks, lacks, lacks, pass, pass, pass}},
		{"two", func(p *framework.Pod) { own(p); mounts(&p.Spec.Containers[0]) }, []string{lacks, lacks, lacks, lacks, pass, lacks}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantVerdicts(t, snapshotOf(t, nodes), filter.NodeDeclaredFeatures{}, pod(test.change), test.want...)
		})
	}
	for name, change := range map[string]func(*framework.Pod){
		"nothing":           func(*framework.Pod) {},
		"only the network":  func(p *framework.Pod) { p.Spec.HostNetwork = true },
		"only users":        func(p *framework.Pod) { p.Spec.HostUsers = new(false) },
		"users of the node": func(p *framework.Pod) { p.Spec.HostNetwork, p.Spec.HostUsers = true, new(true) },
	} {
		t.Run(name, func(t *testing.T) {
			wantPreFilter(t, snapshotOf(t, nodes), filter.NodeDeclaredFeatures{}, pod(change), "Skip", false)
		})
	}
}
