package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func TestNodePorts(t *testing.T) {
	port := func(ip string, protocol api.Protocol, number int32) api.ContainerPort {
		return api.ContainerPort{HostIP: ip, Protocol: protocol, HostPort: number}
	}
	nodes := []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()}
	s := snapshotOf(t, nodes,
		api.MakePod("a").Port(port("", "", 80)).Port(port("127.0.0.1", "", 443)).Node("n").Obj(),
		api.MakePod("b").Port(port("", api.ProtocolUDP, 53)).Sidecar("s").Port(port("", "", 9000)).InitContainer("i").Port(port("", "", 7000)).Node("n").Obj(),
	)
	const no = "Unschedulable: node(s) didn't have free ports for the requested pod ports"
	tests := []struct {
		name string
		port api.ContainerPort
		want string
	}{
		{"taken", port("", "TCP", 80), no},
		{"taken at all addresses", port("10.0.0.1", "", 80), no},
		{"free", port("", "", 81), "Success"},
		{"another protocol", port("", "UDP", 80), "Success"},
		{"taken at one address, wanted at all", port("0.0.0.0", "", 443), no},
		{"taken at another address", port("127.0.0.2", "", 443), "Success"},
		{"taken at this address", port("127.0.0.1", "", 443), no},
		{"taken by UDP, wanted by TCP", port("", "", 53), "Success"},
		{"taken by a sidecar", port("", "", 9000), no},
		{"an init container takes none", port("", "", 7000), "Success"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := api.MakePod("p").Port(port("", "SCTP", 1)).Port(test.port).Obj()
			wantVerdicts(t, s, filter.NodePorts{}, pod, test.want)
		})
	}
	wantPreFilter(t, s, filter.NodePorts{}, api.MakePod("p").Obj(), "Skip", false)
	wantPreFilter(t, s, filter.NodePorts{}, api.MakePod("p").Port(api.ContainerPort{ContainerPort: 80}).Obj(), "Skip", false)
	wantPreFilter(t, s, filter.NodePorts{}, api.MakePod("p").HostPort(1).Obj(), "Success", false)
}

// Two pods hold one port on a node. If preemption removes one of them, the port is
// free at once on that node, as in kube-scheduler, and taken again when the pod is
// back.
func TestNodePortsShared(t *testing.T) {
	a, b := api.MakePod("a").HostPort(80).Node("n"), api.MakePod("b").HostPort(80).Node("n")
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Obj(), api.MakeNode("m", "4", "4Gi").Obj()},
		a.Obj(), b.Obj(), api.MakePod("c").HostPort(80).Node("m").Obj())
	c := new(framework.Cycle)
	c.Reset(podInfo(t, s, api.MakePod("p").HostPort(80).Obj()), s, 0, 0)
	pre, status := filter.NodePorts{}.PreFilter(c)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	bound := pre.Filter.(framework.FilterUpdater)
	told := bound.Fork()
	want := func(when string, f framework.NodeFilter, n, m framework.Code) {
		t.Helper()
		for name, code := range map[string]framework.Code{"n": n, "m": m} {
			if got := f.Filter(c.Pod, s.Node(name)).Code(); got != code {
				t.Errorf("%s: Filter(%s) = %v, want %v", when, name, got, code)
			}
		}
	}
	no, yes := framework.Unschedulable, framework.Success
	mark := s.Begin()
	first := s.Node("n").Pods[0]
	if err := s.RemovePod(first, "n"); err != nil {
		t.Fatal(err)
	}
	told.RemovePod(c, first, s.Node("n"))
	want("one of two gone", told, yes, no)
	want("one of two gone, not told", bound, no, no)
	want("a fork of it", told.Fork(), yes, no)
	s.Rollback(mark)
	told.AddPod(c, first, s.Node("n"))
	want("back", told, no, no)
}
