package filter

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Long lists of ports are compared as short ones are: each pair.
func TestPortsConflict(t *testing.T) {
	port := rapid.Custom(func(t *rapid.T) api.HostPort {
		return api.HostPort{
			IP:       rapid.SampledFrom([]string{"0.0.0.0", "10.0.0.1", "10.0.0.2"}).Draw(t, "address"),
			Protocol: rapid.SampledFrom([]api.Protocol{"TCP", "UDP"}).Draw(t, "protocol"), Port: rapid.Int32Range(1, 2000).Draw(t, "port"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) *framework.PodInfo {
			p, err := framework.NewPodInfo(api.MakePod(name).Obj(), resource.NewSchema())
			if err != nil {
				t.Fatal(err)
			}
			p.HostPorts = rapid.SliceOfN(port, 0, 100).Draw(t, name)
			return p
		}
		a, b := some("a"), some("b")
		want := slices.ContainsFunc(a.HostPorts, func(x api.HostPort) bool { return slices.ContainsFunc(b.HostPorts, x.Conflicts) })
		if got, turned := portsConflict(a, b), portsConflict(b, a); got != want || turned != want {
			t.Fatalf("%v and %v: %v, turned %v, want %v", a.HostPorts, b.HostPorts, got, turned, want)
		}
	})
	many := func(last int32) *framework.PodInfo {
		p := &framework.PodInfo{}
		for i := range int32(2 * manyPorts) {
			p.HostPorts = append(p.HostPorts, api.HostPort{Port: i, Protocol: "TCP", IP: "0.0.0.0"})
		}
		p.HostPorts[manyPorts].Port = last
		return p
	}
	if !samePorts(many(7), many(7)) || samePorts(many(7), many(8)) {
		t.Error("long lists of ports are not told apart")
	}
}
