//go:build full

package filter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestDetails checks the numbers that each filter tells about a rejection that can be
// worked out by hand.
func TestDetails(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	measured := now.Add(-40 * time.Second)
	load, err := estimator.NewLoad(estimator.LoadConfig{Thresholds: map[resource.Name]int64{resource.CPU: 65}})
	if err != nil {
		t.Fatal(err)
	}
	s := framework.NewSnapshot(framework.Arrival)
	s.SetNow(now)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("a", "10", "8Gi").Zone("z1").Taint("gpu=yes:NoSchedule"), api.MakeNode("b", "10", "8Gi").Zone("z2"), api.MakeNode("c", "10", "8Gi"),
	} {
		if err := s.AddNode(n.Obj()); err != nil {
			t.Fatal(err)
		}
	}
	running := api.MakePod("r").Labels("app", "web").Requests("9", "1Gi").HostPort(80).PodAntiAffinity(api.LabelTopologyZone, "app=web").Obj()
	info, err := s.NewPodInfo(running)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddPod(info, "a"); err != nil {
		t.Fatal(err)
	}
	metric := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "b"}}
	metric.Status.UpdateTime = &measured
	metric.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(6000)})}
	if err := framework.Put(s, metric); err != nil {
		t.Fatal(err)
	}
	space := resource.MustParse("2Gi")
	tracked := true
	put(t, s,
		volumeOf("pv", "", "5Gi", onlyFrom(api.LabelTopologyZone, "z1")), claimOf("bound", "", boundTo("pv")),
		classOf("made", "driver", late), claimOf("waits", "made"), claimOf("chosen", "made", selecting("c")),
		classOf("kept", "kubernetes.io/no-provisioner", late), claimOf("local", "kept"),
		&api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "driver"}, Spec: api.CSIDriverSpec{StorageCapacity: &tracked}},
		&api.CSIStorageCapacity{
			ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "small"}, StorageClassName: "made", Capacity: &space,
			NodeTopology: &api.LabelSelector{},
		},
	)
	pod := api.MakePod("p").Labels("app", "web").Requests("1500m", "9Gi").HostPort(80).
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web").
		PodAffinity(api.LabelTopologyZone, "app=db").PodAntiAffinity(api.LabelTopologyZone, "app=web")
	tests := []struct {
		plugin framework.Plugin
		pod    api.PodBuilder
		node   string
		want   string
	}{
		{filter.NodeResourcesFit{}, pod, "a", "cpu: asked 1500m, free 1 of 10; memory: asked 9Gi, free 7Gi of 8Gi"},
		{filter.NodePorts{}, pod, "a", "port 80/TCP: asked 1, free 0 of 1"},
		{filter.TaintToleration{}, pod, "a", "taint gpu=yes:NoSchedule"},
		{filter.PodTopologySpread{}, pod, "a", "topology.kubernetes.io/zone=z1: asked 1, free 0 of 1, fewest 0, maxSkew 1"},
		{filter.PodTopologySpread{}, pod, "c", "missing label topology.kubernetes.io/zone"},
		{filter.InterPodAffinity{}, pod, "a", "no pod of the affinity in topology.kubernetes.io/zone=z1; " +
			"pods of the anti-affinity in topology.kubernetes.io/zone=z1: 1 there, none allowed; " +
			"pods whose anti-affinity matches in topology.kubernetes.io/zone=z1: 1 there, none allowed"},
		{filter.InterPodAffinity{}, pod, "c", "missing label topology.kubernetes.io/zone"},
		{filter.LoadAware{Load: load}, pod, "b", "cpu: 60 % in use and 13 % asked, at most 65 %, usage 73 %, threshold 65 %, used 6, estimate 1275m, allocatable 10, metric age 40 s"},
		{filter.NodeAffinity{}, api.MakePod("chooser").NodeSelector("disk", "ssd"), "a", "label disk=ssd: node has none"},
		{filter.NodeAffinity{}, api.MakePod("chooser").NodeAffinity("topology.kubernetes.io/zone in (z1)"), "b", "label topology.kubernetes.io/zone In [z1]: node has z2"},
		{filter.NodeAffinity{}, api.MakePod("chooser").NodeAffinity("topology.kubernetes.io/zone in (z1)"), "a", ""},
		{filter.VolumeBinding{}, api.MakePod("v").Claim("bound"), "a", ""},
		{filter.VolumeBinding{}, api.MakePod("v").Claim("bound"), "b", "claim default/bound: volume pv: label topology.kubernetes.io/zone In [z1]: node has z2"},
		{filter.VolumeBinding{}, api.MakePod("v").Claim("waits"), "a", "claim default/waits: largest new volume of class made: asked 5Gi, free 2Gi of 2Gi"},
		{filter.VolumeBinding{}, api.MakePod("v").Claim("chosen"), "a", "claim default/chosen: its volume is made for node c"},
		{filter.VolumeBinding{}, api.MakePod("v").Claim("local"), "a", "claim default/local: no volume fits, and class kept makes none"},
		{filter.LoadAware{Load: load}, api.MakePod("small").Requests("100m", ""), "b", ""},
	}
	for _, test := range tests {
		t.Run(test.plugin.Name()+" "+test.node, func(t *testing.T) {
			info, err := s.NewPodInfo(test.pod.Obj())
			if err != nil {
				t.Fatal(err)
			}
			var c framework.Cycle
			c.Reset(info, s, 0, 0)
			var bound any = test.plugin
			if p, ok := framework.As[framework.PreFilterPlugin](test.plugin); ok {
				pre, status := p.PreFilter(&c)
				if !status.IsSuccess() {
					t.Fatalf("PreFilter = %v", status)
				}
				bound = pre.Filter
			}
			status := bound.(framework.NodeFilter).Filter(info, s.Node(test.node))
			var texts []string
			for _, d := range bound.(framework.Detailer).Details(info, s.Node(test.node)) {
				texts = append(texts, d.String())
			}
			if got := strings.Join(texts, "; "); got != test.want || status.IsSuccess() != (test.want == "") {
				t.Errorf("Filter = %v, details %q; want %q", status, got, test.want)
			}
		})
	}
}

// TestDetailsInAnyOrder adds pods with anti-affinity in both orders: the details of the pod
// that they bar are the same, though the terms are counted in another order.
func TestDetailsInAnyOrder(t *testing.T) {
	keys := []string{"kubernetes.io/hostname", api.LabelTopologyZone, "rack"}
	details := func(order ...int) string {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "8", "8Gi").Zone("z").Labels("rack", "r").Obj()); err != nil {
			t.Fatal(err)
		}
		derive := func(b api.PodBuilder) *framework.PodInfo {
			info, err := s.NewPodInfo(b.Obj())
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		for _, i := range order {
			if err := s.AddPod(derive(api.MakePod(keys[i]).PodAntiAffinity(keys[i], "app=a")), "n"); err != nil {
				t.Fatal(err)
			}
		}
		info := derive(api.MakePod("p").Labels("app", "a"))
		var c framework.Cycle
		c.Reset(info, s, 0, 0)
		pre, status := filter.InterPodAffinity{}.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatalf("PreFilter = %v", status)
		}
		var texts []string
		for _, d := range pre.Filter.(framework.Detailer).Details(info, s.Node("n")) {
			texts = append(texts, d.Subject)
		}
		return strings.Join(texts, "; ")
	}
	const each = "pods whose anti-affinity matches in "
	want := each + "kubernetes.io/hostname=n; " + each + "rack=r; " + each + "topology.kubernetes.io/zone=z"
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}} {
		if got := details(order...); got != want {
			t.Errorf("pods added in order %v: details %q, want %q", order, got, want)
		}
	}
}
