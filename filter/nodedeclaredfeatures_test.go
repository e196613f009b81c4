package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
)

func TestNodeDeclaredFeatures(t *testing.T) {
	declaring := func(name string, features ...string) *api.Node {
		n := api.MakeNode(name, "1", "1Gi").Obj()
		n.Status.DeclaredFeatures = features
		return n
	}
	const restart, users, options = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"
	nodes := []*api.Node{
		declaring("none"), declaring("restart", "Other", restart), declaring("users", users), declaring("options", options),
		declaring("all", "A", restart, users, options, "Z"), declaring("unsorted", options, users, restart),
	}
	pod := func(change func(*api.Pod)) *api.Pod {
		p := api.MakePod("p").Container("main").Obj()
		change(p)
		return p
	}
	restarts := func(c *api.Container) {
		c.RestartPolicyRules = []api.ContainerRestartRule{{Action: api.ContainerRestartRuleActionRestart}, {Action: api.ContainerRestartRuleActionRestartAllContainers}}
	}
	mounts := func(c *api.Container) {
		c.VolumeMounts = []api.VolumeMount{{Name: "a"}, {Name: "b", BindMountOptions: []string{"noexec"}}}
	}
	own := func(p *api.Pod) { p.Spec.HostNetwork, p.Spec.HostUsers = true, new(false) }
	const pass, lacks = "Success", "UnschedulableAndUnresolvable: node(s) didn't match Pod's required features"
	tests := []struct {
		name   string
		change func(*api.Pod)
		want   []string
	}{
		{"restart rule", func(p *api.Pod) { restarts(&p.Spec.Containers[0]) }, []string{lacks, pass, lacks, lacks, pass, lacks}},
		{"restart rule of an init container", func(p *api.Pod) {
			p.Spec.InitContainers = make([]api.Container, 1)
			restarts(&p.Spec.InitContainers[0])
		}, []string{lacks, pass, lacks, lacks, pass, lacks}},
		{"users of its own on the node's network", own, []string{lacks, lacks, pass, lacks, pass, lacks}},
		{"mount options", func(p *api.Pod) { mounts(&p.Spec.Containers[0]) }, []string{lacks, lacks, lacks, pass, pass, pass}},
		{"two", func(p *api.Pod) { own(p); mounts(&p.Spec.Containers[0]) }, []string{lacks, lacks, lacks, lacks, pass, lacks}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantVerdicts(t, snapshotOf(t, nodes), filter.NodeDeclaredFeatures{}, pod(test.change), test.want...)
		})
	}
	for name, change := range map[string]func(*api.Pod){
		"nothing":           func(*api.Pod) {},
		"only the network":  func(p *api.Pod) { p.Spec.HostNetwork = true },
		"only users":        func(p *api.Pod) { p.Spec.HostUsers = new(false) },
		"users of the node": func(p *api.Pod) { p.Spec.HostNetwork, p.Spec.HostUsers = true, new(true) },
	} {
		t.Run(name, func(t *testing.T) {
			wantPreFilter(t, snapshotOf(t, nodes), filter.NodeDeclaredFeatures{}, pod(change), "Skip", false)
		})
	}
}
