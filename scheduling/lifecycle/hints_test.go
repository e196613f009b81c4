//go:build full

package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"pgregory.net/rapid"
)

// TestNoWakeUpIsLost runs random histories of a cluster. Whenever no pod is ready,
// every pod that waits because a plugin rejected it must still be rejected: if an
// event had made it schedulable, the hints would have woken it. It tests one plugin
// at a time, so that no other plugin hides a missed event, and then all together.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	alone := func(plugins ...framework.Plugin) scheduling.Profile { return scheduling.Profile{Filter: plugins} }
	binding := alone(filter.VolumeBinding{})
	binding.Reserve = binding.Filter
	all, preempting := scheduling.Kubernetes137(), scheduling.Kubernetes137()
	all.PostFilter = nil
	load, err := estimator.NewLoad(estimator.LoadConfig{
		Thresholds: map[resource.Name]int64{"cpu": 60, "memory": 70}, Rules: estimator.Koordinator18,
	})
	if err != nil {
		t.Fatal(err)
	}
	spread := filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
		{TopologyKey: api.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: api.DoNotSchedule},
	}}
	for _, tt := range []struct {
		name    string
		profile scheduling.Profile
	}{
		{"NodeName", alone(filter.NodeName{})},
		{"NodeUnschedulable", alone(filter.NodeUnschedulable{})},
		{"TaintToleration", alone(filter.TaintToleration{})},
		{"NodeAffinity", alone(filter.NodeAffinity{})},
		{"NodePorts", alone(filter.NodePorts{})},
		{"NodeResourcesFit", alone(filter.NodeResourcesFit{})},
		{"NodeResourcesFit ignoring", alone(filter.NodeResourcesFit{IgnoredResourceGroups: []string{"example.com"}})},
		{"VolumeRestrictions", alone(filter.VolumeRestrictions{})},
		{"NodeVolumeLimits", alone(filter.NodeVolumeLimits{})},
		{"VolumeBinding", binding},
		{"VolumeZone", alone(filter.VolumeZone{})},
		{"PodTopologySpread", alone(filter.PodTopologySpread{})},
		{"PodTopologySpread with defaults", alone(spread)},
		{"InterPodAffinity", alone(filter.InterPodAffinity{})},
		{"NodeDeclaredFeatures", alone(filter.NodeDeclaredFeatures{})},
		{"NodeLabel", alone(filter.NodeLabel{Present: []string{"rack"}, Absent: []string{"tier"}})},
		{"EBSLimits", alone(filter.EBSLimits{MaxVolumes: 1})},
		{"LoadAware", alone(filter.LoadAware{Load: load})},
		{"all", all},
		{"all, preempting", preempting},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { newTown(t, tt.profile).live(t) })
		})
	}
}

// town is a cluster in which everything that the plugins read changes by events.
type town struct {
	d     *lifecycle.Driver
	clock *virtualclock.Clock
	pods  map[string]*api.Pod
	logf  func(format string, args ...any)
}

func newTown(t *rapid.T, p scheduling.Profile) *town {
	c := &town{pods: map[string]*api.Pod{}, logf: t.Logf, clock: virtualclock.New(frameworktest.Noon())}
	p.Cache.Verify = true // a kept answer that is stale would look like a lost event
	d, err := lifecycle.New(lifecycle.Config{Profiles: []scheduling.Profile{p}, Binder: c, Clock: c.clock})
	if err != nil {
		t.Fatal(err)
	}
	c.d = d
	return c
}

// Bind confirms the binding at once.
func (c *town) Bind(_ context.Context, pod *api.Pod, node string) error {
	c.put(onNode(pod, node))
	return nil
}

// Evict removes the victim.
func (c *town) Evict(_ context.Context, victim, _ *api.Pod) error {
	c.leave(victim)
	return nil
}

func (c *town) put(p *api.Pod) {
	c.pods[p.Name] = p
	tell(c, p, true)
}

func (c *town) leave(p *api.Pod) {
	delete(c.pods, p.Name)
	tell(c, p, false)
}

func (c *town) live(t *rapid.T) {
	pick := func(r *rand.Rand) *api.Pod {
		if len(c.pods) == 0 {
			t.Skip("no pod")
		}
		names := slices.Sorted(maps.Keys(c.pods))
		return c.pods[names[r.IntN(len(names))]]
	}
	// Every step draws its random values from its own seed.
	step := func(do func(r *rand.Rand)) func(*rapid.T) {
		return func(t *rapid.T) { do(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))) }
	}
	t.Repeat(map[string]func(*rapid.T){
		"node comes or changes": step(func(r *rand.Rand) { tell(c, townNode(r), true) }),
		"node changes a little": step(func(r *rand.Rand) {
			if n := c.d.Snapshot().Node(townNodeName(r)); n != nil {
				tell(c, alteredNode(r, n.Node), true)
			}
		}),
		"node goes":    step(func(r *rand.Rand) { tell(c, townNode(r), false) }),
		"pod comes":    step(func(r *rand.Rand) { c.put(townPod(r, townPodName(r))) }),
		"another pod":  step(func(r *rand.Rand) { c.put(townPod(r, townPodName(r))) }),
		"pod on node":  step(func(r *rand.Rand) { c.put(onNode(townPod(r, townPodName(r)), townNodeName(r))) }),
		"pod moves":    step(func(r *rand.Rand) { c.put(onNode(pick(r), townNodeName(r))) }),
		"pod goes":     step(func(r *rand.Rand) { c.leave(pick(r)) }),
		"pod goes too": step(func(r *rand.Rand) { c.leave(pick(r)) }),
		"pod changes": step(func(r *rand.Rand) {
			old := pick(r)
			p := townPod(r, old.Name)
			p.Namespace, p.UID, p.Spec.NodeName = old.Namespace, old.UID, old.Spec.NodeName
			if r.IntN(2) == 0 {
				p.Spec = old.Spec
			}
			c.put(p)
		}),
		"pod is being deleted": step(func(r *rand.Rand) {
			p := api.Clone(pick(r))
			p.DeletionTimestamp = new(frameworktest.Noon())
			c.put(p)
		}),
		"object":         step(c.object),
		"another object": step(c.object),
		"": func(t *rapid.T) {
			for c.drain(t) {
			}
			c.check(t)
		},
	})
}

// drain lets a moment pass and makes attempts until no pod is ready. It reports whether
// there were any.
func (c *town) drain(t *rapid.T) (some bool) {
	c.clock.Advance(1)
	for {
		a, ok := c.d.ScheduleOne(context.Background())
		if !ok {
			return some
		}
		some = true
		t.Logf("%s %s: %v %s %v", a.Pod.Pod.Key(), a.Pod.Pod.UID, a.State, a.Decision.Node, a.Err)
		if differ := new(scheduling.DifferenceError); errors.As(a.Err, &differ) {
			t.Fatal(differ)
		}
	}
}

// check looks for a waiting pod that would fit.
func (c *town) check(t *rapid.T) {
	s := c.d.Snapshot()
	nodes := []*framework.NodeInfo{}
	for _, n := range s.All() {
		nodes = append(nodes, n)
	}
	for _, it := range c.d.Pending() {
		if len(it.Plugins) == 0 || it.Gate != "" {
			continue // an error or a gate: other rules apply
		}
		verdicts, err := c.d.Scheduler("").FilterNodes(s, it.Pod, nodes)
		if err != nil {
			continue
		}
		for i, v := range verdicts {
			if v.Status.IsSuccess() {
				t.Fatalf("pod %s, rejected by %v, waits although it fits on node %s", it.Pod.Pod.Name, it.Plugins, nodes[i].Name())
			}
		}
	}
}

func of[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func townNodeName(r *rand.Rand) string { return fmt.Sprint("n", r.IntN(4)) }

func townPodName(r *rand.Rand) string { return fmt.Sprint("p", r.IntN(12)) }

func townNode(r *rand.Rand) *api.Node {
	n := frameworktest.Node(r, townNodeName(r))
	if r.IntN(3) == 0 {
		n.Status.DeclaredFeatures = []string{"VolumeBindMountOptions"}
	}
	if r.IntN(2) == 0 {
		n.Status.Allocatable = resource.List{"cpu": resource.MustParse("1"), "memory": resource.MustParse("4Gi"), "pods": resource.MustParse("2")}
	}
	return n
}

// alteredNode is the node with one thing changed.
func alteredNode(r *rand.Rand, old *api.Node) *api.Node {
	n, other := api.Clone(old), townNode(r)
	switch r.IntN(5) {
	case 0:
		n.Labels = other.Labels
	case 1:
		n.Spec.Taints = other.Spec.Taints
	case 2:
		n.Spec.Unschedulable = !n.Spec.Unschedulable
	case 3:
		n.Status.Allocatable = other.Status.Allocatable
	case 4:
		n.Status.DeclaredFeatures = other.Status.DeclaredFeatures
	}
	return n
}

func townPod(r *rand.Rand, name string) *api.Pod {
	p := frameworktest.Pod(r, name)
	p.UID = api.UID(fmt.Sprint("u-", r.Uint64()))
	p.Spec.SchedulingGates = nil
	p.Namespace = of(r, "default", "default", "prod")
	if p.Labels == nil {
		p.Labels = map[string]string{"app": of(r, "web", "db")}
	}
	if r.IntN(3) == 0 {
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
			TopologyKey: of(r, api.LabelTopologyZone, "disk"), MaxSkew: 1, WhenUnsatisfiable: api.DoNotSchedule,
			LabelSelector:      &api.LabelSelector{MatchLabels: map[string]string{"app": of(r, "web", "db")}},
			NodeTaintsPolicy:   of(r, nil, new(api.NodeInclusionPolicyHonor)),
			MinDomains:         of(r, nil, new(int32(2))),
			NodeAffinityPolicy: of(r, nil, new(api.NodeInclusionPolicyIgnore)),
		}}
	}
	if r.IntN(3) == 0 {
		term := []api.PodAffinityTerm{{
			TopologyKey:   of(r, api.LabelTopologyZone, "disk"),
			LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": of(r, "web", "db")}},
		}}
		if r.IntN(3) == 0 {
			term[0].NamespaceSelector = &api.LabelSelector{MatchLabels: map[string]string{"team": of(r, "a", "b")}}
		}
		p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		if r.IntN(2) == 0 {
			p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		}
	}
	if r.IntN(3) == 0 && len(p.Spec.Containers) > 0 {
		p.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: int32(1 + r.IntN(2))}}
		p.Spec.Containers[0].VolumeMounts = []api.VolumeMount{{BindMountOptions: []string{"x"}}}
	}
	for i := range r.IntN(3) {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		switch r.IntN(6) {
		case 0:
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: of(r, "vol-1", "vol-2")}
		case 1:
			v.Ephemeral = &api.EphemeralVolumeSource{}
		default:
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: townClaim(r)}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

// volumeOf returns the volume of a bound claim. Two claims never have one, as in any
// cluster, nor do two volumes stand for one disk: plugins are not told that a pod with
// another claim may use the same disk.
func volumeOf(c *api.PersistentVolumeClaim) string {
	last := int(c.Name[len(c.Name)-1] - '0')
	if c.Namespace == "prod" {
		last = (last + 3) % 6 // claim-2 of prod is lost
	}
	return fmt.Sprint("pv-", last)
}

func townClaim(r *rand.Rand) string { return fmt.Sprint("claim-", r.IntN(3)) }

// object puts or deletes one of the other objects.
func (c *town) object(r *rand.Rand) {
	meta := func(namespace, name string) api.ObjectMeta {
		return api.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"team": of(r, "a", "b")}}
	}
	const driver = "csi.example"
	is := r.IntN(4) > 0 // now and then it is deleted
	switch r.IntN(11) {
	case 0:
		tell(c, &api.Namespace{ObjectMeta: meta("", of(r, "default", "prod"))}, is)
	case 1:
		s := &api.Service{ObjectMeta: meta("default", "s")}
		s.Spec.Selector = map[string]string{"app": of(r, "web", "db")}
		tell(c, s, is)
	case 2, 3:
		claim := &api.PersistentVolumeClaim{ObjectMeta: meta(of(r, "default", "prod"), townClaim(r))}
		claim.Spec.StorageClassName = new(of(r, "late", "now", "local"))
		claim.Spec.AccessModes = []api.PersistentVolumeAccessMode{of(r, api.ReadWriteOnce, api.ReadWriteOncePod)}
		claim.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse(of(r, "1Gi", "4Gi"))}
		if r.IntN(2) == 0 {
			claim.Spec.VolumeName = volumeOf(claim)
			claim.Annotations = map[string]string{api.AnnBindCompleted: "yes"}
		}
		if p := c.pods[townPodName(r)]; p != nil && r.IntN(3) == 0 {
			claim.Namespace, claim.Name = p.Namespace, p.Name+"-v0"
			claim.Spec.VolumeName, claim.Annotations = "", nil
			claim.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
		}
		tell(c, claim, is)
	case 4, 5:
		v := &api.PersistentVolume{ObjectMeta: meta("", of(r, "pv-0", "pv-1", "pv-2", "pv-3", "pv-4"))}
		v.Spec.StorageClassName = of(r, "late", "local")
		v.Spec.Capacity = resource.List{resource.Storage: resource.MustParse(of(r, "1Gi", "5Gi"))}
		v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadWriteOncePod}
		v.Status.Phase = api.VolumeAvailable
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: v.Name}
		if r.IntN(2) == 0 {
			v.Spec.CSI, v.Spec.AWSElasticBlockStore = nil, &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-" + v.Name[3:]}
		}
		if r.IntN(2) == 0 {
			v.Labels[api.LabelTopologyZone] = of(r, "a", "b", "a__b")
		}
		if r.IntN(2) == 0 {
			v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
				MatchExpressions: []api.NodeSelectorRequirement{{
					Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{of(r, "a", "b")},
				}},
			}}}}
		}
		if r.IntN(4) == 0 {
			v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: townClaim(r)}
		}
		tell(c, v, is)
	case 6:
		class := &api.StorageClass{ObjectMeta: meta("", of(r, "late", "now", "local")), Provisioner: driver}
		class.VolumeBindingMode = new(api.VolumeBindingWaitForFirstConsumer)
		if class.Name == "now" {
			class.VolumeBindingMode = new(api.VolumeBindingImmediate)
		}
		if class.Name == "local" {
			class.Provisioner = "kubernetes.io/no-provisioner"
		}
		tell(c, class, is)
	case 7:
		d := &api.CSIDriver{ObjectMeta: meta("", driver)}
		d.Spec.StorageCapacity, d.Spec.PreventPodSchedulingIfMissing = new(r.IntN(2) == 0), new(r.IntN(2) == 0)
		tell(c, d, is)
	case 8:
		capacity := &api.CSIStorageCapacity{ObjectMeta: meta("kube-system", of(r, "c-0", "c-1")), StorageClassName: "late"}
		capacity.Capacity, capacity.NodeTopology = new(resource.MustParse(of(r, "2Gi", "20Gi"))), &api.LabelSelector{}
		tell(c, capacity, is)
	case 9:
		n := &api.CSINode{ObjectMeta: meta("", townNodeName(r))}
		for _, name := range []string{driver, "ebs.csi.aws.com"} {
			if r.IntN(3) > 0 {
				n.Spec.Drivers = append(n.Spec.Drivers, api.CSINodeDriver{
					Name: name, Allocatable: &api.VolumeNodeResources{Count: new(int32(r.IntN(2)))},
				})
			}
		}
		if r.IntN(2) == 0 {
			n.Annotations = map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs"}
		}
		tell(c, n, is)
	case 10:
		if r.IntN(2) == 0 {
			a := &api.VolumeAttachment{ObjectMeta: meta("", of(r, "a-0", "a-1"))}
			a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = driver, townNodeName(r), new(of(r, "pv-0", "pv-1"))
			tell(c, a, is)
			return
		}
		m := &api.NodeMetric{ObjectMeta: meta("", townNodeName(r))}
		m.Status.UpdateTime = new(frameworktest.Noon())
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{
			"cpu": resource.MustParse(of(r, "100m", "900m", "3")), "memory": resource.MustParse(of(r, "1Gi", "200Gi")),
		})}
		tell(c, m, is)
	}
}

// tell puts an object or deletes it.
func tell[T api.Object](c *town, obj *T, is bool) {
	text, err := json.Marshal(obj)
	if err != nil {
		text = []byte(err.Error())
	}
	c.logf("%T is there: %t: %s", obj, is, text)
	if is {
		c.d.Apply(lifecycle.Update(obj))
	} else {
		c.d.Apply(lifecycle.Delete(obj))
	}
}

// TestFirstOfSeries: a pod whose affinity selects pods like itself waits for the node of the
// one that runs. Once that one leaves, wherever it was, the pod may begin a series of its
// own, so its departure wakes the pod, although InterPodAffinity said of every node that
// taking pods away there does not help.
func TestFirstOfSeries(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(
		api.MakeNode("open", "4", "8Gi").Labels("zone", "a"),
		api.MakeNode("closed", "4", "8Gi").Labels("zone", "b").Unschedulable())
	pod := func(name string) api.PodBuilder {
		return api.MakePod(name).UID(api.UID(name)).Labels("app", "x").PodAffinity("zone", "app=x")
	}
	w.pods(pod("runs").Node("closed"), pod("waits"))
	if a := w.one(); a.State != lifecycle.Failed || !strings.Contains(a.Err.Error(), "didn't match pod affinity rules") {
		t.Fatalf("the attempt is %v: %v", a.State, a.Err)
	}
	w.d.Apply(lifecycle.Delete(pod("runs").Node("closed").Obj()))
	w.pass(time.Minute)
	if a := w.one(); a.State == lifecycle.Failed {
		t.Errorf("the attempt is %v: %v", a.State, a.Err)
	}
	w.wantOn("open", "waits")
}
