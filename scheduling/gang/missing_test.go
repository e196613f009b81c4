package gang_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// An extended resource that devices stand for is not missing as long as no node is refused for it.
func TestMissingLeavesOutDevices(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.AddNode(api.MakeNode("n", "2", "16Gi").Labels("rack", "r").Obj()))
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.ExtendedResourceName = new("x.io/g")
	x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
	x.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: new("n"), Pool: api.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1}}
	for k := range 8 {
		x.Spec.Devices = append(x.Spec.Devices, api.Device{Name: fmt.Sprint(k)})
	}
	must(framework.Put(s, class))
	must(framework.Put(s, x))
	sched, err := scheduling.New(scheduling.Kubernetes137())
	must(err)
	var pods []*framework.PodInfo
	for i := range 3 {
		p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("w", i)).Requests("1", "1Gi").Request("x.io/g", "1").Obj())
		must(err)
		pods = append(pods, p)
	}
	pl, err := gang.New(sched, gang.Rules{Choice: gang.BestFit})
	must(err)
	out, err := pl.Try(s, &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: "rack"}}})
	must(err)
	m := out.Best().Missing
	if _, ok := m.Resources["x.io/g"]; ok || m.Nodes != 1 {
		t.Errorf("%+v, want nothing of x.io/g, and one node", m)
	}
}

// Without the Namespace, anti-affinity may keep a pod off only if it comes second: a refusal proves nothing then.
func TestRefusalInUnknownNamespace(t *testing.T) {
	for _, known := range []bool{true, false} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Labels(api.LabelHostname, "n").Obj()); err != nil {
			t.Fatal(err)
		}
		if known {
			if err := framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "default"}}); err != nil {
				t.Fatal(err)
			}
		}
		namespaces, err := api.ParseLabelSelector("!env")
		if err != nil {
			t.Fatal(err)
		}
		shy := api.MakePod("a").Labels("app", "a").Requests("1", "1Gi").Obj()
		shy.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{
			TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "b"}}, NamespaceSelector: namespaces,
		}}}}
		a, b := info(s, shy), info(s, api.MakePod("b").Labels("app", "b").Requests("1", "1Gi").Obj())
		for _, order := range [][]*framework.PodInfo{{a, b}, {b, a}} {
			out, err := placer(gang.Rules{Choice: gang.BestFit, Search: 10_000}).Try(s, &gang.Group{Name: "g", Pods: order})
			if err != nil || out.Status == gang.Placed && known || out.Status != gang.Placed && out.Proved != known {
				t.Errorf("known %t, %s first: %v, proved %t, %v", known, order[0].Pod.Name, out.Status, out.Proved, err)
			}
		}
	}
}

// The token that every pod of a cluster has as a volume does not keep a large group from being counted.
func TestTokenVolumes(t *testing.T) {
	const racks = 301
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 2 * racks {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "1000", "4000Gi").Resource("pods", "600").Labels("rack", fmt.Sprint("r", i/2)).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	var pods []*framework.PodInfo
	for i := range 1000 {
		p := api.MakePod(fmt.Sprint("w", i)).Requests("1", "1Gi").Obj()
		p.Spec.Volumes = []api.Volume{{Name: "kube-api-access"}}
		pods = append(pods, info(s, p))
	}
	sched, err := scheduling.New(scheduling.Kubernetes137()) // not the one that compares all answers
	if err != nil {
		t.Fatal(err)
	}
	p, err := gang.New(sched, gang.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Try(s, &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: "rack"}}})
	if err != nil || out.Status != gang.Placed {
		t.Errorf("%+v, %v; want all placed", out, err)
	}
}

// TestMissingNodesOfSlices: a node takes whole slices only. The nodes that are said to be missing are added, and
// one fewer.
func TestMissingNodesOfSlices(t *testing.T) {
	host := gang.Level{Key: api.LabelHostname, Mode: gang.Counted, Slice: 2}
	for _, x := range []struct {
		name   string
		cpu    string
		levels []gang.Level
		want   int
	}{
		{"three pods a node, two a slice", "3", []gang.Level{{Key: "rack"}, host}, 3},
		{"no node holds a slice", "1", []gang.Level{{Key: "rack"}, host}, 0},
		{"slices of a rack", "3", []gang.Level{{Key: "rack", Mode: gang.Counted, Slice: 2}}, 0},
		{"no slices", "3", []gang.Level{{Key: "rack"}}, 2},
	} {
		try := func(extra int) *gang.Outcome {
			s := framework.NewSnapshot(framework.Arrival)
			for i := range 1 + extra {
				n := api.MakeNode(fmt.Sprint("n", i), x.cpu, "16Gi").Labels("rack", "r", api.LabelHostname, fmt.Sprint("n", i)).Obj()
				if err := s.AddNode(n); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.AddPod(info(s, api.MakePod("full").Requests(x.cpu, "1Gi").Obj()), "n0"); err != nil {
				t.Fatal(err)
			}
			var pods []*framework.PodInfo
			for i := range 6 {
				pods = append(pods, info(s, api.MakePod(fmt.Sprint("w", i)).Requests("1", "1Gi").Obj()))
			}
			out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: pods, Topology: x.levels})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if m := try(0).Best().Missing; m.Nodes != x.want {
			t.Errorf("%s: %d nodes are missing, want %d", x.name, m.Nodes, x.want)
		}
		if x.want > 0 && (try(x.want-1).Status == gang.Placed || try(x.want).Status != gang.Placed) {
			t.Errorf("%s: it is not %d nodes that are missing", x.name, x.want)
		}
	}
}
