package volumes

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// machine is a snapshot with random changes. After each, the data in the extensions
// is compared with freshly read data.
type machine struct {
	t      *rapid.T
	s      *framework.Snapshot
	forks  []*framework.Snapshot
	marks  []framework.Mark
	placed []*framework.PodInfo // by Reserve, here or in a fork; they may be gone
	makers []*api.Pod           // that have a claim made for them
	kept   []*keptAttached
	early  bool // the snapshot had its Attached before anything happened
	serial int
}

// keptAttached is what nodes had, by slot, at a version of an Attached.
type keptAttached struct {
	*Attached
	version uint64
	nodes   map[int]nodeThen
}

// nodeThen is what a node had at a generation.
type nodeThen struct {
	generation uint64
	volumes    NodeVolumes
}

const nodes, claimsInUse, volumesInUse = 4, 4, 4

func newMachine(t *rapid.T) *machine {
	m := &machine{t: t, s: framework.NewSnapshot(framework.Arrival)}
	for i := range nodes {
		m.must(m.s.AddNode(api.MakeNode(fmt.Sprint("n", i), "1", "1Gi").Obj()))
	}
	late := api.VolumeBindingWaitForFirstConsumer
	m.must(framework.Put(m.s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: &late}))
	return m
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// claimName is the name of a claim, now and then of one that is made for a pod.
func (m *machine) claimName() string {
	i := rapid.IntRange(0, claimsInUse).Draw(m.t, "claim")
	if p := m.maker(); i == claimsInUse && p != nil {
		return p.Name + "-made"
	}
	return fmt.Sprint("c", min(i, claimsInUse-1))
}

// maker is one of the last pods that have a claim made for them, nil if there is none.
func (m *machine) maker() *api.Pod {
	if len(m.makers) == 0 {
		return nil
	}
	last := m.makers[max(0, len(m.makers)-4):]
	return last[rapid.IntRange(0, len(last)-1).Draw(m.t, "maker")]
}

func (m *machine) volumeName() string {
	return fmt.Sprint("v", rapid.IntRange(0, volumesInUse-1).Draw(m.t, "volume"))
}

func (m *machine) node() *framework.NodeInfo {
	return m.s.At(rapid.IntRange(0, nodes-1).Draw(m.t, "node"))
}

// newPod makes a pod that mounts up to two claims, and perhaps one that is made for it. Every second pod has no UID.
func (m *machine) newPod() *framework.PodInfo {
	m.serial++
	p := api.MakePod(fmt.Sprint("p", m.serial)).Obj()
	if m.serial%2 == 0 {
		p.UID = api.UID(p.Name)
	}
	for i := range rapid.IntRange(0, 2).Draw(m.t, "mounts") {
		v := api.Volume{Name: fmt.Sprint(i)}
		v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: m.claimName()}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	if rapid.IntRange(0, 3).Draw(m.t, "made") == 0 {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "made", VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{}}})
		m.makers = append(m.makers, p)
	}
	info, err := m.s.NewPodInfo(p)
	m.must(err)
	return info
}

func (m *machine) PodComes(*rapid.T) { m.must(m.s.AddPodAt(m.newPod(), m.node())) }

func (m *machine) PodGoes(*rapid.T) {
	if n := m.node(); len(n.Pods) > 0 {
		m.must(m.s.RemovePodAt(n.Pods[rapid.IntRange(0, len(n.Pods)-1).Draw(m.t, "pod")], n))
	}
}

func (m *machine) PutClaim(*rapid.T) {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: m.claimName()}}
	c.Spec.StorageClassName = new("csi")
	if rapid.Bool().Draw(m.t, "bound") {
		c.Spec.VolumeName, c.Annotations = m.volumeName(), map[string]string{api.AnnBindCompleted: "yes"}
	}
	if p := m.maker(); p != nil && rapid.Bool().Draw(m.t, "owned") {
		c.OwnerReferences = []api.OwnerReference{{Controller: new(true), Kind: "Pod", Name: p.Name, UID: p.UID}}
	}
	m.must(framework.Put(m.s, c))
}

func (m *machine) DeleteClaim(*rapid.T) {
	framework.Delete[api.PersistentVolumeClaim](m.s, "default/"+m.claimName())
}

func (m *machine) PutVolume(*rapid.T) {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: m.volumeName()}}
	v.Spec.StorageClassName, v.Status.Phase = "csi", api.VolumeAvailable
	v.Spec.Capacity = resource.List{resource.Storage: resource.New(int64(rapid.IntRange(1, 3).Draw(m.t, "size")), resource.BinarySI)}
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: m.volumeName()}
	m.must(framework.Put(m.s, v))
}

func (m *machine) DeleteVolume(*rapid.T) {
	framework.Delete[api.PersistentVolume](m.s, m.volumeName())
}

func (m *machine) PutCSINode(*rapid.T) {
	n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: m.node().Name()}}
	n.Spec.Drivers = []api.CSINodeDriver{{Name: "csi", Allocatable: &api.VolumeNodeResources{Count: new(int32(1))}}}
	m.must(framework.Put(m.s, n))
}

func (m *machine) PutAttachment(*rapid.T) {
	a := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: m.volumeName()}}
	a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = "csi", m.node().Name(), new(m.volumeName())
	m.must(framework.Put(m.s, a))
}

// Reserve gives a pod's claims the volumes found, as a scheduler does.
func (m *machine) Reserve(*rapid.T) {
	p, n := m.newPod(), m.node()
	var f Finder
	if status := f.Prepare(m.s, p); !status.IsSuccess() {
		return
	}
	found, reasons, err := f.Find(n, Found{})
	if reasons != 0 || err != nil {
		return
	}
	m.must(m.s.AddPodAt(p, n))
	m.must(Assume(m.s, p, n.Name(), &found))
	m.placed = append(m.placed, p)
}

// PodReturns adds a pod again that has left its node.
func (m *machine) PodReturns(*rapid.T) {
	if len(m.placed) == 0 {
		return
	}
	p := m.placed[rapid.IntRange(0, len(m.placed)-1).Draw(m.t, "pod")]
	for _, n := range m.s.All() {
		if n.HasPod(p) {
			return
		}
	}
	m.must(m.s.AddPodAt(p, m.node()))
}

// GiveBack gives back the reservations for the claims of a pod, wherever it is.
func (m *machine) GiveBack(*rapid.T) {
	if len(m.placed) == 0 {
		return
	}
	p := m.placed[rapid.IntRange(0, len(m.placed)-1).Draw(m.t, "pod")]
	m.must(Revert(m.s, p))
	if h, ok := assumedKey.Of(m.s).pods.Get(idOf(p.Pod)); ok {
		m.t.Fatalf("pod %s still counts on %v", p.Pod.Name, h.list)
	}
}

func (m *machine) Begin(*rapid.T) { m.marks = append(m.marks, m.s.Begin()) }

func (m *machine) End(*rapid.T) {
	if len(m.marks) == 0 {
		return
	}
	mark := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	if rapid.Bool().Draw(m.t, "commit") {
		m.s.Commit(mark)
	} else {
		m.s.Rollback(mark)
	}
}

// Fork sets a fork aside; Switch continues with the oldest one.
func (m *machine) Fork(*rapid.T) {
	if len(m.forks) < 3 {
		m.forks = append(m.forks, m.s.Fork())
	}
}

func (m *machine) Switch(*rapid.T) {
	if len(m.forks) > 0 && len(m.marks) == 0 {
		m.s, m.forks = m.forks[0], append(m.forks[1:], m.s)
	}
}

// Keep keeps what nodes have, here or in a transaction, a few times.
func (m *machine) Keep(*rapid.T) {
	a := AttachedTo(m.s)
	k := &keptAttached{a, a.Version(), map[int]nodeThen{}}
	for _, n := range m.s.All() {
		v := a.On(n)
		k.nodes[n.Slot()] = nodeThen{n.Generation(), *v.clone(nil)}
	}
	if m.kept = append(m.kept, k); len(m.kept) > 5 {
		m.kept = m.kept[1:]
	}
}

// Look updates the extensions, only at random times.
func (m *machine) Look(*rapid.T) {
	m.compareKept()
	m.compareAssumed()
	m.compareAttached()
	m.compareUses()
	m.compareCatalog()
}

// compareAssumed checks that every reserved object is in the snapshot, and that a
// pod that has left is recorded only for such objects.
func (m *machine) compareAssumed() {
	a := assumedKey.Of(m.s)
	if err := m.s.Check(); err != nil { // which asks a
		m.t.Fatal(err)
	}
	left := 0
	for _, r := range a.volumes.All() {
		left += len(r.left)
	}
	for _, r := range a.claims.All() {
		left += len(r.left)
	}
	on := map[podID]bool{}
	for _, n := range m.s.All() {
		for _, p := range n.Pods {
			on[idOf(p.Pod)] = true
		}
	}
	for id, h := range a.pods.All() {
		if h.left == on[id] || len(h.list) == 0 {
			m.t.Fatalf("pod %v: on a node %t, but left %t; it counts on %v", id, on[id], h.left, h.list)
		}
		if !h.left {
			continue
		}
		for _, x := range h.list {
			var v reserved[api.PersistentVolume]
			var c reserved[api.PersistentVolumeClaim]
			if x.volume != nil {
				v, _ = a.volumes.Get(api.KeyOf(x.volume))
			} else {
				c, _ = a.claims.Get(api.KeyOf(x.claim))
			}
			if v.put != x.volume || c.put != x.claim || !slices.Contains(slices.Concat(v.left, c.left), id) {
				m.t.Fatalf("pod %v has left and counts on %v, which does not know it", id, x)
			}
			left--
		}
	}
	if left != 0 {
		m.t.Fatalf("%d pods too many are noted as having left", left)
	}
}

func (m *machine) compareAttached() {
	a := AttachedTo(m.s)
	for _, n := range m.s.All() {
		m.compare("now", n, a.On(n))
	}
	if err := a.Check(m.s); err != nil {
		m.t.Fatal(err)
	}
}

// compareKept checks that a node has what it had, unless its generation differs or Changed names
// it.
func (m *machine) compareKept() {
	for _, k := range m.kept {
		if k.snapshot != m.s {
			continue
		}
		stale := map[int]bool{}
		if a := AttachedTo(m.s); a != k.Attached || !a.Changed(k.version, func(slot int) { stale[slot] = true }) {
			if m.early {
				m.t.Fatal("the snapshot has forgotten what has changed")
			}
			continue // it was made in a transaction that was rolled back
		}
		for _, n := range m.s.All() {
			if then, ok := k.nodes[n.Slot()]; ok && then.generation == n.Generation() && !stale[n.Slot()] {
				m.compare("kept", n, then.volumes)
			}
		}
	}
}

func (m *machine) compare(what string, n *framework.NodeInfo, got NodeVolumes) {
	others := attachmentsIn(m.s)
	want := readVolumes(m.s, n, &others)
	if !got.equal(&want) {
		m.t.Fatalf("%s, on %s: %v %v of %v, want %v %v of %v", what, n.Name(), got.Used, got.Counts, got.Node, want.Used, want.Counts, want.Node)
	}
}

func (m *machine) compareUses() {
	want := map[string]int{}
	for _, n := range m.s.All() {
		for _, p := range n.Pods {
			for _, v := range p.Pod.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					want["default/"+v.PersistentVolumeClaim.ClaimName]++
				}
			}
		}
	}
	kept := UsesIn(m.s)
	for i := range claimsInUse {
		key := fmt.Sprint("default/c", i)
		if got := kept.Count(key); got != want[key] {
			m.t.Fatalf("uses of %s = %d, want %d", key, got, want[key])
		}
	}
}

func (m *machine) compareCatalog() {
	c := catalogKey.Of(m.s)
	if err := c.Check(m.s); err != nil {
		m.t.Fatal(err)
	}
	var free []*api.PersistentVolume
	for _, v := range framework.List[api.PersistentVolume](m.s) {
		if v.Spec.ClaimRef == nil {
			free = append(free, v)
			continue
		}
		if list := c.reservedFor(key(v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)); !slices.Contains(list, v) {
			m.t.Fatalf("volume %s is not known to be for its claim", v.Name)
		}
	}
	kept := c.freeOf("csi").all
	if len(kept) != len(free) {
		m.t.Fatalf("%d volumes, want %d", len(kept), len(free))
	}
	for i, object := range free {
		if kept[i].object != object || !kept[i].size.Equal(object.Spec.Capacity[resource.Storage]) {
			m.t.Fatalf("volume %d = %+v, want %+v", i, kept[i], object)
		}
	}
}

func (m *machine) Check(*rapid.T) {}

func TestExtensions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(rapid.StateMachineActions(m))
		m.Look(t)
	})
}

// TestKept is TestExtensions limited to the steps that a kept Attached depends on.
func TestKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		m.early = true
		AttachedTo(m.s)
		for range claimsInUse {
			m.PutClaim(t)
			m.PutVolume(t)
			m.PutCSINode(t)
			m.PodComes(t)
		}
		for range 5 {
			t.Repeat(map[string]func(*rapid.T){
				"": func(*rapid.T) { m.compareKept() }, "Keep": m.Keep, "PutClaim": m.PutClaim, "DeleteClaim": m.DeleteClaim, "PutVolume": m.PutVolume, "DeleteVolume": m.DeleteVolume, "PutAttachment": m.PutAttachment,
				"PodComes": m.PodComes, "PodGoes": m.PodGoes, "Reserve": m.Reserve, "GiveBack": m.GiveBack, "Begin": m.Begin, "End": m.End, "Fork": m.Fork, "Switch": m.Switch,
			})
		}
	})
}

// TestAssumed is TestExtensions limited to the steps that reservations depend on.
func TestAssumed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		for range claimsInUse {
			m.PutClaim(t)
			m.PutVolume(t)
		}
		for range 5 {
			t.Repeat(map[string]func(*rapid.T){
				"": func(*rapid.T) { m.compareAssumed() }, "PutClaim": m.PutClaim, "PutVolume": m.PutVolume, "Reserve": m.Reserve, "Reserve more": m.Reserve,
				"PodGoes": m.PodGoes, "PodReturns": m.PodReturns, "GiveBack": m.GiveBack, "Begin": m.Begin, "End": m.End, "Fork": m.Fork, "Switch": m.Switch,
			})
		}
	})
}
