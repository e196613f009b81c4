package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Counts of filters come to the same as placing replicas one after the other, and so does what rejects the next one.
func TestCounts(t *testing.T) {
	for name, check := range map[string]func(*rapid.T){"LoadAware": checkLoadCounts, "disks": checkDiskCounts} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				for range 100 {
					check(t)
				}
			})
		})
	}
}

func checkLoadCounts(t *rapid.T) {
	config := estimator.LoadConfig{
		Rules:          rapid.SampledFrom([]estimator.Rules{"1.4", "1.5", "1.6", "1.8"}).Draw(t, "rules"),
		Thresholds:     map[resource.Name]int64{resource.CPU: percent(t, "cpu"), resource.Memory: percent(t, "memory")},
		ProdThresholds: map[resource.Name]int64{resource.CPU: percent(t, "prod cpu")},
		Factors:        map[resource.Name]int64{resource.CPU: 85, resource.Memory: 70},
		Arithmetic:     rapid.SampledFrom([]estimator.Arithmetic{estimator.Saturating, estimator.Saturating, estimator.Saturating, estimator.Wrapping}).Draw(t, "arithmetic"),
	}
	if rapid.Bool().Draw(t, "aggregated") {
		config.Aggregated = &estimator.Aggregated{
			Thresholds: map[resource.Name]int64{resource.CPU: percent(t, "aggregated cpu")}, Type: api.P95, ScoreType: api.P95,
		}
	}
	load, err := estimator.NewLoad(config)
	if err != nil {
		t.Fatal(err)
	}
	s := framework.NewSnapshot(framework.Arrival)
	now := time.Unix(1_800_000_000, 0)
	s.SetNow(now)
	must(t, s.AddNode(api.MakeNode("n", "16", rapid.SampledFrom([]string{"64Gi", "8191Pi"}).Draw(t, "memory")).Obj()))
	for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
		p := drawLoadPod(t, fmt.Sprint("p", i))
		must(t, s.AddPod(infoOf(t, s, p), "n"))
	}
	if rapid.Bool().Draw(t, "metric") {
		must(t, framework.Put(s, drawMetric(t, now)))
	}
	p := scheduling.Profile{Filter: []framework.Plugin{filter.LoadAware{Load: load}}, Reserve: []framework.Plugin{estimator.Assigner{}}}
	if rapid.Bool().Draw(t, "fit") {
		p.Filter = append(p.Filter, filter.NodeResourcesFit{})
	}
	compareCounts(t, s, p, drawLoadPod(t, "new"))
}

func percent(t *rapid.T, name string) int64 {
	return int64(rapid.SampledFrom([]int{0, 1, 20, 50, 65, 95, 100}).Draw(t, name))
}

func drawLoadPod(t *rapid.T, name string) *api.Pod {
	p := api.MakePod(name).Labels("koordinator.sh/priority", "x").Obj()
	if rapid.Bool().Draw(t, "requests") {
		p = api.MakePod(name).Requests(rapid.SampledFrom([]string{"0", "100m", "1", "333m", "9223372036854775807"}).Draw(t, "cpu"), rapid.SampledFrom([]string{"1Gi", "0", "3Gi", "2000Pi"}).Draw(t, "memory")).Obj()
	}
	if rapid.Bool().Draw(t, "prod") {
		p.Labels = map[string]string{"koordinator.sh/priority-class": "koord-prod"}
	}
	return p
}

func drawMetric(t *rapid.T, now time.Time) *api.NodeMetric {
	at := now.Add(time.Duration(rapid.IntRange(-200, 10).Draw(t, "updated")) * time.Second)
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n"}, Status: api.NodeMetricStatus{UpdateTime: &at}}
	if rapid.IntRange(0, 5).Draw(t, "info") == 0 {
		return m
	}
	use := func(name string) api.ResourceMap {
		return api.ResourceMapOf(resource.List{
			resource.CPU:    resource.Milli(int64(rapid.IntRange(0, 17000).Draw(t, name+" cpu"))),
			resource.Memory: resource.New(int64(rapid.IntRange(0, 70).Draw(t, name+" memory"))<<30, resource.BinarySI),
		})
	}
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: use("node"), SystemUsage: use("system")}
	if rapid.Bool().Draw(t, "aggregate") {
		m.Status.NodeMetric.AggregatedNodeUsages = []api.AggregatedUsage{{Usage: map[api.AggregationType]api.ResourceMap{api.P95: use("p95")}, Duration: api.Duration{Duration: 5 * time.Minute}}}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "reports") {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
			Namespace: "default", Name: fmt.Sprint("p", i), PodUsage: use("pod"), Priority: rapid.SampledFrom([]string{"", "koord-prod"}).Draw(t, "class"),
		})
	}
	return m
}

func checkDiskCounts(t *rapid.T) {
	s := framework.NewSnapshot(framework.Arrival)
	must(t, s.AddNode(api.MakeNode("n", "16", "64Gi").Obj()))
	must(t, framework.Put(s, &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n"}, Spec: api.CSINodeSpec{Drivers: []api.CSINodeDriver{
		{Name: "pd.csi.storage.gke.io", NodeID: "n", Allocatable: &api.VolumeNodeResources{Count: new(int32(rapid.IntRange(0, 3).Draw(t, "limit")))}},
	}}}))
	for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
		must(t, s.AddPod(infoOf(t, s, drawDiskPod(t, fmt.Sprint("p", i))), "n"))
	}
	p := scheduling.Kubernetes137()
	if rapid.Bool().Draw(t, "1.18") {
		p = scheduling.Kubernetes118()
	}
	compareCounts(t, s, p, drawDiskPod(t, "new"))
}

// drawDiskPod draws a pod with disks of a few names, and maybe a host port.
func drawDiskPod(t *rapid.T, name string) *api.Pod {
	p := api.MakePod(name).Requests("1", "1Gi").Obj()
	for i := range rapid.IntRange(0, 3).Draw(t, "disks") {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		disk, readOnly := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "disk"), rapid.IntRange(0, 3).Draw(t, "read only") > 0
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			v.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: disk, ReadOnly: readOnly}
		case 1:
			v.RBD = &api.RBDVolumeSource{RBDImage: disk, ReadOnly: readOnly, CephMonitors: []string{disk, "m"}}
		case 2:
			v.ISCSI = &api.ISCSIVolumeSource{IQN: disk, ReadOnly: readOnly}
		case 3:
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: disk}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	if rapid.IntRange(0, 3).Draw(t, "port") == 0 {
		p.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: int32(rapid.IntRange(80, 82).Draw(t, "number")), Protocol: api.ProtocolTCP}}
	}
	return p
}

// compareCounts compares counts about the node n with what comes of replicas that are placed there.
func compareCounts(t *rapid.T, s *framework.Snapshot, p scheduling.Profile, pod *api.Pod) {
	sched, err := scheduling.New(p)
	if err != nil {
		t.Fatal(err)
	}
	info := infoOf(t, s, pod)
	f, err := sched.Filtering(s, info)
	if err != nil {
		t.Fatal(err)
	}
	if !f.NodeOnly() {
		return
	}
	const most = 200 // the node has room for 110 pods
	count, next, ok, err := f.Count(s.Node("n"))
	got, placed, err2 := f.ReplicasWithin(s.Node("n"), most, most)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if ok && (got != min(count, most) || placed > 0) {
		t.Fatalf("%d replicas after %d placements, counted %d", got, placed, count)
	}
	if !ok && placed == 0 && 0 < got && got < most {
		t.Fatalf("%d replicas are counted, but nothing rejects the next one", got)
	}
	want := 0
	var last scheduling.NodeVerdict
	mark := s.Begin()
	for {
		if last, err = f.Node(s.Node("n")); err != nil {
			t.Fatal(err)
		}
		if !last.Status.IsSuccess() || want >= most {
			break
		}
		replica, err := info.Named(fmt.Sprint("new~", want))
		must(t, err)
		must(t, s.AddPod(replica, "n"))
		want++
	}
	s.Rollback(mark)
	if got != want {
		t.Fatalf("counted %d, placed %d; Count %t", got, want, ok)
	}
	if ok && want < most && (last.Plugin != next.Plugin || !last.Status.Same(next.Status)) {
		t.Fatalf("after %d: counted %v, placed %v", want, next, last)
	}
}

func infoOf(t *rapid.T, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	t.Helper()
	info, err := s.NewPodInfo(p)
	must(t, err)
	return info
}
