package framework_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func TestHostPortConflicts(t *testing.T) {
	tests := []struct {
		name string
		a, b api.HostPort
		want bool
	}{
		{"same", hostPort("0.0.0.0", "TCP", 80), hostPort("0.0.0.0", "TCP", 80), true},
		{"all addresses and one", hostPort("0.0.0.0", "TCP", 80), hostPort("127.0.0.1", "TCP", 80), true},
		{"one address", hostPort("10.0.0.1", "TCP", 80), hostPort("10.0.0.1", "TCP", 80), true},
		{"two addresses", hostPort("10.0.0.1", "TCP", 80), hostPort("10.0.0.2", "TCP", 80), false},
		{"other port", hostPort("0.0.0.0", "TCP", 80), hostPort("0.0.0.0", "TCP", 81), false},
		{"other protocol", hostPort("0.0.0.0", "TCP", 80), hostPort("0.0.0.0", "UDP", 80), false},
		{"other protocol and address", hostPort("0.0.0.0", "TCP", 80), hostPort("10.0.0.1", "SCTP", 80), false},
		{"all addresses of IPv6 are one address", hostPort("::", "TCP", 80), hostPort("10.0.0.1", "TCP", 80), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.a.Conflicts(test.b); got != test.want {
				t.Errorf("%v.Conflicts(%v) = %t, want %t", test.a, test.b, got, test.want)
			}
			if got := test.b.Conflicts(test.a); got != test.want {
				t.Errorf("%v.Conflicts(%v) = %t, want %t", test.b, test.a, got, test.want)
			}
		})
	}
}

// Containers and sidecars take ports, other init containers do not.
func TestPodHostPorts(t *testing.T) {
	always, never := api.ContainerRestartPolicyAlways, api.ContainerRestartPolicyNever
	p := plainPod("web")
	p.Spec.InitContainers = []api.Container{
		{Name: "setup", Ports: []api.ContainerPort{{HostPort: 1}}},
		{Name: "proxy", RestartPolicy: &always, Ports: []api.ContainerPort{{HostPort: 2, Protocol: "UDP"}}},
		{Name: "once", RestartPolicy: &never, Ports: []api.ContainerPort{{HostPort: 3}}},
	}
	p.Spec.Containers = []api.Container{
		{Name: "main", Ports: []api.ContainerPort{
			{ContainerPort: 4}, // a port of the pod only
			{HostPort: 5, HostIP: "127.0.0.1"},
			{HostPort: -6},
		}},
		{Name: "more", Ports: []api.ContainerPort{{HostPort: 5, HostIP: "127.0.0.1"}, {HostPort: 65535, Protocol: "SCTP"}}},
	}
	want := []api.HostPort{
		hostPort("0.0.0.0", "UDP", 2),
		hostPort("127.0.0.1", "TCP", 5),
		hostPort("127.0.0.1", "TCP", 5),
		hostPort("0.0.0.0", "SCTP", 65535),
	}
	info := podInfo(t, framework.NewSnapshot(framework.ZoneInterleaved), p)
	if diff := cmp.Diff(want, info.HostPorts); diff != "" {
		t.Errorf("HostPorts (-want +got):\n%s", diff)
	}
}

func hostPort(ip string, protocol api.Protocol, port int32) api.HostPort {
	return api.HostPort{IP: ip, Protocol: protocol, Port: port}
}
