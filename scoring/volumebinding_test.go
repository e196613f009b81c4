package scoring_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// storageIn adds classes, claims, volumes and capacities to a snapshot of two nodes,
// each in the zone of its name.
type storageIn struct {
	*framework.Snapshot
	tb failer
}

func newStorage(tb failer) storageIn {
	s := storageIn{snapshotOf(tb, []*api.Node{
		api.MakeNode("a", "4", "4Gi").Zone("a").Obj(), api.MakeNode("b", "4", "4Gi").Zone("b").Obj(),
	}), tb}
	late := api.VolumeBindingWaitForFirstConsumer
	for name, provisioner := range map[string]string{"local": "kubernetes.io/no-provisioner", "other": "kubernetes.io/no-provisioner", "csi": "csi", "csi2": "csi"} {
		s.check(framework.Put(s.Snapshot, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &late}))
	}
	d := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "csi"}}
	d.Spec.StorageCapacity = new(true)
	s.check(framework.Put(s.Snapshot, d))
	return s
}

func (s storageIn) check(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

func (s storageIn) claim(name, class, size string) storageIn {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.StorageClassName, c.Spec.Resources.Requests = &class, list("storage", size)
	s.check(framework.Put(s.Snapshot, c))
	return s
}

// volume adds a volume that is usable in one zone.
func (s storageIn) volume(name, class, size, zone string) storageIn {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
	v.Spec.StorageClassName, v.Spec.Capacity, v.Status.Phase = class, list("storage", size), api.VolumeAvailable
	v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{zone}}},
	}}}}
	s.check(framework.Put(s.Snapshot, v))
	return s
}

// capacity adds the free capacity of a zone; "" leaves the amount unset.
func (s storageIn) capacity(class, size, zone string) storageIn {
	c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: class + zone}, StorageClassName: class}
	c.NodeTopology = &api.LabelSelector{MatchLabels: map[string]string{api.LabelTopologyZone: zone}}
	c.MaximumVolumeSize = new(resource.MustParse("1Ti"))
	if size != "" {
		c.Capacity = new(resource.MustParse(size))
	}
	s.check(framework.Put(s.Snapshot, c))
	return s
}

func podMounting(claims ...string) *api.Pod {
	p := api.MakePod("p").Obj()
	for _, name := range claims {
		v := api.Volume{Name: name}
		v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

func TestVolumeBinding(t *testing.T) {
	rising := scoring.VolumeBinding{Shape: scoring.Shape{{0, 0}, {100, 10}}}
	tests := []struct {
		name    string
		plugin  scoring.VolumeBinding
		storage func(storageIn)
		pod     *api.Pod
		want    []int64 // of a and b
	}{
		{"no claims", rising, func(storageIn) {}, podMounting(), []int64{0, 0}},
		{"half and a tenth", rising, func(s storageIn) {
			s.claim("c", "local", "5Gi").volume("v", "local", "10Gi", "a").volume("w", "local", "50Gi", "b")
		}, podMounting("c"), []int64{50, 10}},
		{"the emptiest first is the default", scoring.VolumeBinding{}, func(s storageIn) {
			s.claim("c", "local", "5Gi").volume("v", "local", "10Gi", "a").volume("w", "local", "50Gi", "b")
		}, podMounting("c"), []int64{50, 90}},
		{"no volume in b", rising, func(s storageIn) { s.claim("c", "local", "5Gi").volume("v", "local", "5Gi", "a") }, podMounting("c"), []int64{100, 0}},
		{"sums of a class", rising, func(s storageIn) { // (1+3)/(10+10)
			s.claim("c", "local", "1Gi").claim("d", "local", "3Gi").volume("v", "local", "10Gi", "a").volume("w", "local", "10Gi", "a")
		}, podMounting("c", "d"), []int64{20, 0}},
		{"mean of classes, rounded", rising, func(s storageIn) { // (10 + 25) / 2
			s.claim("c", "local", "1Gi").claim("d", "other", "1Gi").volume("v", "local", "10Gi", "a").volume("w", "other", "4Gi", "a")
		}, podMounting("c", "d"), []int64{18, 0}},
		{"space that is left", rising, func(s storageIn) {
			s.claim("c", "csi", "5Gi").capacity("csi", "20Gi", "a").capacity("csi", "5Gi", "b")
		}, podMounting("c"), []int64{25, 100}},
		{"two claims of one capacity", rising, func(s storageIn) { // (5+5)/20
			s.claim("c", "csi", "5Gi").claim("d", "csi", "5Gi").capacity("csi", "20Gi", "a")
		}, podMounting("c", "d"), []int64{50, 0}},
		{"a large volume, but little space is left", rising, func(s storageIn) {
			s.claim("c", "csi", "5Gi").capacity("csi", "1Gi", "a").capacity("csi", "", "b")
		}, podMounting("c"), []int64{100, 100}},
		{"volumes that are there count alone", rising, func(s storageIn) {
			s.claim("c", "csi", "5Gi").claim("d", "local", "1Gi").capacity("csi", "5Gi", "a").volume("v", "local", "10Gi", "a")
		}, podMounting("c", "d"), []int64{10, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStorage(t)
			test.storage(s)
			wantScores(t, s.Snapshot, test.plugin, test.pod, test.want, nil)
		})
	}
}

func TestVolumeBindingFails(t *testing.T) {
	s := newStorage(t)
	if _, status := scoresOf(t, s.Snapshot, scoring.VolumeBinding{}, podMounting("none")); status.String() != "Error: not found" {
		t.Errorf("PreScore without the claim = %v, want Error: not found", status)
	}
	bad := scoring.VolumeBinding{Shape: scoring.Shape{{50, 1}, {20, 1}}}
	want := "VolumeBinding: shape[1]: utilization 20 is not above that of the point before, 50"
	if err := bad.Validate(); err == nil || err.Error() != want {
		t.Errorf("Validate = %v, want %s", err, want)
	}
	if _, status := scoresOf(t, s.Snapshot, bad, podMounting()); status.Code() != framework.Error {
		t.Errorf("PreScore of a bad shape = %v, want Error", status)
	}
}

func TestStorageUtilization(t *testing.T) {
	for _, test := range []struct{ requested, capacity, want int64 }{
		{0, 10, 0},
		{1, 3, 33},
		{10, 10, 100},
		{11, 10, 100},
		{5, 0, 100},
		{0, 0, 100},
		{math.MaxInt64, math.MaxInt64, 100},
		{math.MaxInt64 / 2, math.MaxInt64, 49},
		{-5, 10, -50},
		{-10, -5, 200},
		{math.MinInt64, 1, math.MinInt64},
		{math.MinInt64, -1, math.MaxInt64},
	} {
		if got := scoring.StorageUtilization(test.requested, test.capacity); got != test.want {
			t.Errorf("StorageUtilization(%d, %d) = %d, want %d", test.requested, test.capacity, got, test.want)
		}
	}
}

// TestStorageUtilizationOracle compares with big integers.
func TestStorageUtilizationOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requested, capacity := rapid.Int64().Draw(t, "requested"), rapid.Int64().Draw(t, "capacity")
		want := oracle.StorageScore(requested, capacity, func(u int64) int64 { return u })
		if got := scoring.StorageUtilization(requested, capacity); got != want {
			t.Errorf("StorageUtilization(%d, %d) = %d, want %d", requested, capacity, got, want)
		}
	})
}

func TestVolumeBindingConformance(t *testing.T) {
	frameworktest.Run(t, scoring.VolumeBinding{}, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Prepare: func(s *framework.Snapshot) error {
		in := storageIn{s, t}
		for _, namespace := range []string{"default", "prod", "team-a", "team-b"} {
			for _, name := range []string{"data", "logs"} {
				c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: name}}
				c.Spec.StorageClassName, c.Spec.Resources.Requests = new("local"), list("storage", "2Gi")
				in.check(framework.Put(s, c))
			}
		}
		late := api.VolumeBindingWaitForFirstConsumer
		in.check(framework.Put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "csi", VolumeBindingMode: &late}))
		in.volume("v", "local", "5Gi", "a").volume("w", "local", "20Gi", "b").volume("x", "local", "3Gi", "b")
		return nil
	}})
}
