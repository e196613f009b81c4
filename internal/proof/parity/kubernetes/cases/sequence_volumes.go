package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/resource"
)

// VolumeSequenceFamily is the name of the family of sequences about volumes.
// PreemptionSequenceFamily is the one about preempting pods.
const (
	VolumeSequenceFamily     = "sequence-volumes"
	PreemptionSequenceFamily = "sequence-preemption"
)

// SequenceFamilies are the names of the families of sequences.
var SequenceFamilies = []string{SequenceFamily, VolumeSequenceFamily, PreemptionSequenceFamily, ObjectSequenceFamily}

// AnnRefuse is the annotation of pods that are rejected at Reserve or at Permit,
// when other plugins have reserved what they need.
const AnnRefuse = "refuse"

// GenerateStateful makes the sequence of that number, of [VolumeSequenceFamily] or
// [PreemptionSequenceFamily]. On the way, pods reserve volumes and are nominated to
// nodes.
func GenerateStateful(name string, seed, number uint64, steps int) *Sequence {
	c := &golden.Case{ID: fmt.Sprintf("%s-%d-%d", name, seed, number), Family: name}
	d := newDice(name, seed, number)
	s := &Sequence{Percentage: 100, Case: c, Preempt: name == PreemptionSequenceFamily || d.chance(30)}
	if d.chance(15) {
		s.Percentage = 0
	}
	if s.Preempt && d.chance(60) {
		c.Config = d.preemptionConfig()
	}
	w := &story{generator: &generator{dice: d, family: family{name: name}, c: c}, preempt: name == PreemptionSequenceFamily}
	w.begin()
	for i := range steps {
		s.Steps = append(s.Steps, w.step(i))
	}
	return s
}

// story makes the steps of a sequence.
type story struct {
	*generator
	preempt bool // few volumes and many priorities

	allocatable resource.List
	nodes       int      // nodes so far
	placed      []string // keys of pods that may be on a node
	pending     []string // keys of pods that may have a nominated node
	claims      []*api.PersistentVolumeClaim
	volumes     []string
}

// begin makes nodes, classes, drivers and the first volumes.
func (w *story) begin() {
	c := w.c
	w.allocatable = resource.List{resource.CPU: w.quantity("2", "4"), resource.Memory: resource.MustParse("16Gi"), resource.Pods: w.quantity("4", "10", "110")}
	for range w.between(2, 14) {
		n := w.plainNode(w.nodes, w.allocatable)
		w.nodes++
		c.CSINodes = append(c.CSINodes, w.csiNode(n.Name))
	}
	for _, class := range []struct{ name, provisioner string }{
		{"local", "kubernetes.io/no-provisioner"}, {"fast", drivers[0]}, {"tracked", drivers[1]}, {"zonal", drivers[0]}, {"now", drivers[0]},
	} {
		s := &api.StorageClass{
			ObjectMeta: api.ObjectMeta{Name: class.name}, Provisioner: class.provisioner,
			VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
		}
		switch class.name {
		case "now":
			s.VolumeBindingMode = new(api.VolumeBindingImmediate)
		case "zonal":
			s.AllowedTopologies = []api.TopologySelectorTerm{{MatchLabelExpressions: []api.TopologySelectorLabelRequirement{
				{Key: api.LabelTopologyZone, Values: []string{pick(w.dice, "z0", "z1")}},
			}}}
		}
		c.StorageClasses = append(c.StorageClasses, s)
	}
	c.CSIDrivers = []*api.CSIDriver{
		{ObjectMeta: api.ObjectMeta{Name: drivers[0]}},
		{ObjectMeta: api.ObjectMeta{Name: drivers[1]}, Spec: api.CSIDriverSpec{StorageCapacity: new(true)}},
	}
	for i := range 3 {
		c.CSIStorageCapacities = append(c.CSIStorageCapacities, w.capacity(i))
	}
	for range w.between(0, 12) {
		c.PersistentVolumes = append(c.PersistentVolumes, w.freeVolume())
	}
	for range w.between(1, 6) {
		c.PersistentVolumeClaims = append(c.PersistentVolumeClaims, w.freeClaim())
	}
}

func (w *story) csiNode(name string) *api.CSINode {
	n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: name}, Spec: api.CSINodeSpec{Drivers: []api.CSINodeDriver{}}}
	for _, driver := range drivers[:2] {
		d := api.CSINodeDriver{Name: driver, NodeID: name, TopologyKeys: []string{api.LabelTopologyZone}}
		if w.chance(80) {
			d.Allocatable = &api.VolumeNodeResources{Count: new(int32(pick(w.dice, 1, 2, 3, 5, 8)))}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

func (w *story) capacity(i int) *api.CSIStorageCapacity {
	return &api.CSIStorageCapacity{
		ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("cap%d", i), Namespace: "default"}, StorageClassName: "tracked",
		NodeTopology: pick(w.dice, &api.LabelSelector{}, &api.LabelSelector{MatchLabels: map[string]string{api.LabelTopologyZone: pick(w.dice, "z0", "z1")}}),
		Capacity:     new(w.quantity("0", "3Gi", "20Gi", "100Gi")),
	}
}

var sizes = []string{"1Gi", "2Gi", "2Gi", "5Gi", "10Gi"}

// freeVolume makes a volume that some claim may get. It often belongs to one node.
// Sometimes it is kept for a claim, or is being deleted.
func (w *story) freeVolume() *api.PersistentVolume {
	name := fmt.Sprintf("pv%d", len(w.volumes))
	w.volumes = append(w.volumes, name)
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name, UID: api.UID(name)}}
	v.Spec.Capacity = resource.List{"storage": w.quantity(sizes...)}
	v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadWriteOncePod}
	if w.chance(10) {
		v.Spec.AccessModes = v.Spec.AccessModes[:1]
	}
	v.Spec.StorageClassName = pick(w.dice, "local", "local", "local", "fast", "zonal")
	v.Status.Phase = pick(w.dice, api.VolumeAvailable, api.VolumeAvailable, api.VolumeAvailable, api.VolumeAvailable, api.VolumeReleased)
	if w.chance(70) {
		v.Spec.NodeAffinity = where(api.LabelHostname, fmt.Sprintf("n%d", w.IntN(w.nodes)))
	} else if w.chance(50) {
		v.Spec.NodeAffinity = where(api.LabelTopologyZone, pick(w.dice, "z0", "z1"))
	}
	if v.Spec.StorageClassName == "local" {
		v.Spec.Local = &api.LocalVolumeSource{Path: "/mnt"}
	} else {
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: drivers[0], VolumeHandle: name}
	}
	if w.chance(12) {
		claim := fmt.Sprintf("c%d", len(w.claims)+w.between(-3, 5))
		v.Spec.ClaimRef = &api.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: pick(w.dice, "default", "ns-a"), Name: claim}
		v.Spec.ClaimRef.UID = api.UID(pick(w.dice, "", "", "u"+v.Spec.ClaimRef.Namespace+claim, "other"))
	}
	if w.chance(5) {
		v.DeletionTimestamp = new(noon)
	}
	return v
}

func where(key, value string) *api.VolumeNodeAffinity {
	return &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{Key: key, Operator: api.NodeSelectorOpIn, Values: []string{value}}},
	}}}}
}

// freeClaim makes a claim that no pod has used.
func (w *story) freeClaim() *api.PersistentVolumeClaim {
	name, ns := fmt.Sprintf("c%d", len(w.claims)), pick(w.dice, "default", "default", "ns-a")
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: ns, UID: api.UID("u" + ns + name)}}
	c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	if w.chance(25) {
		c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOncePod}
	}
	c.Spec.Resources.Requests = resource.List{"storage": w.quantity(sizes...)}
	c.Spec.StorageClassName = new(pick(w.dice, "local", "local", "local", "fast", "fast", "tracked", "zonal", "now"))
	c.Status.Phase = api.ClaimPending
	w.claims = append(w.claims, c)
	return c
}

// step makes the next step.
func (w *story) step(i int) Step {
	k := w.IntN(100)
	if w.preempt && k >= 64 && k < 73 {
		k = 30 // fewer volumes and claims come, more pods
	}
	switch {
	case k < 38:
		return Step{Place: w.arrival(i)}
	case k < 50:
		return Step{Finish: w.some()}
	case k < 53:
		return Step{Write: w.some()}
	case k < 55:
		return Step{Fail: w.some()}
	case k < 57:
		return Step{Release: w.some()}
	case k < 64:
		return Step{Remove: w.some()}
	case k < 66:
		return Step{Volume: w.freeVolume()}
	case k < 72:
		return Step{Claim: w.freeClaim()}
	case k < 76:
		return w.volumeStep()
	case k < 78:
		c := *pick(w.dice, w.claims...)
		if w.chance(50) {
			return Step{DropClaim: c.Key()}
		}
		if w.chance(30) {
			c.DeletionTimestamp = new(noon)
		}
		return Step{Claim: &c} // as it was before any use
	case k < 80:
		return Step{CSINode: w.csiNode(fmt.Sprintf("n%d", w.IntN(w.nodes)))}
	case k < 81:
		return Step{Capacity: w.capacity(w.IntN(3))}
	case k < 82 && w.chance(60):
		n := w.plainNode(w.nodes, w.allocatable)
		w.c.Nodes = w.c.Nodes[:len(w.c.Nodes)-1]
		w.nodes++
		return Step{AddNode: n}
	case k < 83 && w.chance(50):
		return Step{RemoveNode: fmt.Sprintf("n%d", w.IntN(w.nodes))}
	case k < 93 && len(w.pending) > 0:
		return Step{Retry: pick(w.dice, w.pending...)}
	case k < 96:
		return Step{Sweep: true}
	}
	return Step{Place: w.arrival(i)}
}

// volumeStep changes or removes a volume, which may have been made for a claim.
func (w *story) volumeStep() Step {
	c := pick(w.dice, w.claims...)
	name := "made-" + c.Namespace + "-" + c.Name
	if len(w.volumes) > 0 && w.chance(50) {
		name = pick(w.dice, w.volumes...)
	}
	if w.chance(40) {
		return Step{DropVolume: name}
	}
	return Step{Leaving: name}
}

// some returns the key of a pod that may be on a node, usually a recent one.
func (w *story) some() string {
	if len(w.placed) == 0 {
		return "default/nobody"
	}
	if n := len(w.placed); w.chance(60) {
		return w.placed[max(0, n-1-w.IntN(6))]
	}
	return pick(w.dice, w.placed...)
}

// arrival makes a pod, most often one with claims.
func (w *story) arrival(i int) *api.Pod {
	p := w.barePod(fmt.Sprintf("s%d", i), pick(w.dice, "default", "default", "ns-a"))
	p.Labels = map[string]string{"app": pick(w.dice, "web", "db")}
	p.Spec.Containers[0].Resources.Requests = resource.List{resource.CPU: w.quantity("100m", "250m", "500m", "1")}
	if w.preempt {
		p.Spec.Containers[0].Resources.Requests[resource.CPU] = w.quantity("250m", "500m", "1", "1500m", "2")
	}
	if w.preempt || w.chance(40) {
		p.Spec.Priority = new(int32(pick(w.dice, 0, 0, 1, 2, 5, 10, 100)))
	}
	if w.chance(40) {
		p.Status.StartTime = new(noon)
	}
	if w.chance(10) {
		affinity(p).PodAntiAffinity = &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{w.against()}}
	}
	if w.chance(10) {
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: pick(w.dice, api.DoNotSchedule, api.ScheduleAnyway),
			LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
	}
	share := 75
	if w.preempt {
		share = 20
	}
	if w.chance(share) && len(w.claims) > 0 {
		w.useClaims(p)
	}
	if w.chance(8) {
		p.Annotations = map[string]string{AnnRefuse: pick(w.dice, "Reserve", "Permit")}
	}
	w.placed = append(w.placed, p.Key())
	if p.Spec.Priority != nil && *p.Spec.Priority > 0 {
		w.pending = append(w.pending, p.Key())
	}
	return p
}

// useClaims gives the pod claims of one namespace, usually recent ones.
func (w *story) useClaims(p *api.Pod) {
	for range pick(w.dice, 1, 1, 1, 2, 3) {
		c := pick(w.dice, w.claims...)
		if n := len(w.claims); w.chance(70) {
			c = w.claims[max(0, n-1-w.IntN(5))]
		}
		if len(p.Spec.Volumes) == 0 {
			p.Namespace = c.Namespace
			p.UID = api.UID("u-" + p.Namespace + "-" + p.Name)
		}
		if c.Namespace != p.Namespace {
			continue
		}
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: api.VolumeSource{
			PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: c.Name},
		}})
	}
}
