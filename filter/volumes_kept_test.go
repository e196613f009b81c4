//go:build full

package filter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/framework/incremental"
)

// TestVolumesKept keeps bound filters, and verdicts of filters that are bound in every decision, as the
// incremental path does, while pods and objects change, transactions are rolled back, forks are made
// and other filters are bound. A kept filter must give the verdicts of a filter bound on a new snapshot
// with the same content; so must kept verdicts, while the pod has the class key that it had, about nodes of
// their generation which the filter does not name.
func TestVolumesKept(t *testing.T) {
	checked := map[string]int{}
	for seed := range uint64(60) {
		objects := storageCluster(seed)
		s, pending, err := frameworktest.Snapshot(objects)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range s.All() {
			pending = append(pending, n.Pods...)
		}
		if s.Len() == 0 || len(pending) == 0 {
			continue
		}
		k := &keeper{storage: storage{rand.New(rand.NewPCG(seed, 78)), objects}, t: t, s: s, pods: pending, checked: checked}
		for range 150 {
			k.step()
		}
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
	for _, p := range volumePlugins {
		if checked[p.Name()] == 0 {
			t.Errorf("%s: no kept filter was asked", p.Name())
		}
	}
}

// keeper makes random changes to a snapshot.
type keeper struct {
	storage
	t       *testing.T
	s       *framework.Snapshot
	other   *framework.Snapshot // a fork
	pods    []*framework.PodInfo
	marks   []framework.Mark
	kept    []keptFilter
	checked map[string]int // by plugin
}

// keptFilter is a bound filter, and what the snapshot had when it was bound.
type keptFilter struct {
	plugin   framework.PreFilterPlugin
	pod      *framework.PodInfo
	filter   framework.NodeFilter
	reads    framework.Reads
	snapshot *framework.Snapshot
	nodeSet  uint64
	objects  framework.ObjectVersions

	// For a filter that is bound in every decision:
	key     string
	version uint64
	said    map[int]verdictThen // by slot
}

type verdictThen struct {
	generation uint64
	status     framework.Status
}

func (k *keeper) step() {
	switch k.IntN(14) {
	case 0, 1, 2:
		k.bind()
	case 3:
		_ = k.s.AddPodAt(k.pods[k.IntN(len(k.pods))], k.node()) // some pods request too much for any sum
	case 4:
		if n := k.node(); len(n.Pods) > 0 {
			k.must(k.s.RemovePodAt(n.Pods[k.IntN(len(n.Pods))], n))
		}
	case 5, 6:
		k.change()
	case 7:
		k.marks = append(k.marks, k.s.Begin())
	case 8:
		k.end()
	case 9:
		if k.chance(30) {
			k.other = k.s.Fork()
		} else if k.other != nil && len(k.marks) == 0 {
			k.s, k.other = k.other, k.s
		}
	case 10, 11:
		k.whatIf()
	default:
		k.compare()
	}
}

// whatIf binds filters in a transaction that changes objects, and rolls it back.
func (k *keeper) whatIf() {
	m := k.s.Begin()
	defer k.s.Rollback(m)
	for range 4 {
		k.change()
	}
	for range len(volumePlugins) {
		k.bind()
	}
}

func (k *keeper) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

func (k *keeper) node() *framework.NodeInfo { return k.s.At(k.IntN(k.s.Len())) }

// bind binds a filter, and keeps it if its scope allows that. It drops the oldest ones.
func (k *keeper) bind() {
	p, pod := volumePlugins[k.IntN(len(volumePlugins))], k.pods[k.IntN(len(k.pods))]
	reads := p.Scope(pod).Reads
	var c framework.Cycle
	c.Reset(pod, k.s, 0, 0)
	bound, _ := p.PreFilter(&c)
	if bound.Filter == nil || reads&framework.ReadsCluster != 0 {
		return
	}
	f := keptFilter{plugin: p, pod: pod, filter: bound.Filter, reads: reads, snapshot: k.s, nodeSet: k.s.NodeSet(), objects: k.s.ObjectVersions()}
	if reads&framework.ReadsDomain != 0 {
		f.key, f.version, f.said = k.key(p, pod), bound.Filter.(incremental.DomainTracker).Version(), map[int]verdictThen{}
		for _, n := range k.s.All() {
			f.said[n.Slot()] = verdictThen{n.Generation(), bound.Filter.Filter(pod, n)}
		}
	}
	k.kept = append(k.kept, f)
	k.kept = k.kept[max(0, len(k.kept)-50):]
}

// change puts an object, or deletes one.
func (k *keeper) change() {
	volume := fmt.Sprint("pv-", k.IntN(8))
	switch claims := framework.List[api.PersistentVolumeClaim](k.s); k.IntN(6) {
	case 0:
		put(k.t, k.s, k.volume(volume))
	case 1:
		framework.Delete[api.PersistentVolume](k.s, volume)
	case 2:
		put(k.t, k.s, k.csiNode(k.node().Name()))
	case 3:
		a := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("attachment-", k.IntN(8))}}
		a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = csiDriver, k.node().Name(), &volume
		put(k.t, k.s, a)
	case 4:
		put(k.t, k.s, k.capacity(fmt.Sprint("room-", k.IntN(4))))
	default:
		if len(claims) > 0 {
			old := claims[k.IntN(len(claims))]
			c := k.claim(old.Namespace, old.Name)
			c.OwnerReferences = old.OwnerReferences
			put(k.t, k.s, c)
		}
	}
}

func (k *keeper) end() {
	if len(k.marks) == 0 {
		return
	}
	i := k.IntN(len(k.marks))
	if k.chance(25) {
		k.s.Commit(k.marks[i])
	} else {
		k.s.Rollback(k.marks[i])
	}
	k.marks = k.marks[:i]
}

// key is the class key of a pod, as a plugin that is bound in every decision makes it.
func (k *keeper) key(p framework.Plugin, pod *framework.PodInfo) string {
	return string(p.(incremental.ClassKeyer).AppendClassKey(nil, k.s, pod))
}

// compareSaid compares what a filter said that is bound in every decision with what it says now, about
// nodes that it does not name, and what it says now with a filter bound on a copy of the snapshot.
func (k *keeper) compareSaid(f *keptFilter, anew *framework.Snapshot) {
	var c framework.Cycle
	c.Reset(f.pod, k.s, 0, 0)
	now, status := f.plugin.PreFilter(&c)
	if !status.IsSuccess() || now.Filter == nil {
		k.t.Fatalf("%s of %s: PreFilter = %v, though the pod is of the class that had a filter", f.plugin.Name(), f.pod.Pod.Key(), status)
	}
	var there framework.Cycle
	there.Reset(podInfo(k.t, anew, f.pod.Pod), anew, 0, 0)
	wants, _, status := verdicts(&there, f.plugin)
	if !status.IsSuccess() {
		k.t.Fatalf("%s of %s: on a copy, PreFilter = %v", f.plugin.Name(), f.pod.Pod.Key(), status)
	}
	stale := map[int]bool{}
	known := now.Filter.(incremental.DomainTracker).Changed(f.version, func(slot int) { stale[slot] = true })
	for i, n := range k.s.All() {
		got, want := now.Filter.Filter(f.pod, n), wants[i]
		if got.String() != want.String() {
			k.t.Fatalf("%s of %s on %s = %v, on a copy %v", f.plugin.Name(), f.pod.Pod.Key(), n.Name(), got, want)
		}
		then, ok := f.said[n.Slot()]
		if !known || !ok || then.generation != n.Generation() || stale[n.Slot()] {
			continue
		}
		if k.checked[f.plugin.Name()]++; then.status.String() != got.String() {
			k.t.Fatalf("%s of %s on %s: kept %v, want %v", f.plugin.Name(), f.pod.Pod.Key(), n.Name(), then.status, got)
		}
	}
}

// compare asks the kept filters, and filters bound on a copy of the snapshot.
func (k *keeper) compare() {
	var anew *framework.Snapshot
	for _, f := range k.kept {
		if f.said != nil {
			if f.snapshot == k.s && k.key(f.plugin, f.pod) == f.key {
				if anew == nil {
					anew = k.copied()
				}
				k.compareSaid(&f, anew)
			}
			continue
		}
		if f.snapshot != k.s || f.reads&framework.ReadsNodeSet != 0 && f.nodeSet != k.s.NodeSet() ||
			f.reads&f.objects.Differ(k.s.ObjectVersions()) != 0 {
			continue
		}
		if anew == nil {
			anew = k.copied()
		}
		var got []framework.Status
		for _, n := range k.s.All() {
			got = append(got, f.filter.Filter(f.pod, n))
		}
		var c framework.Cycle
		c.Reset(podInfo(k.t, anew, f.pod.Pod), anew, 0, 0)
		want, _, status := verdicts(&c, f.plugin)
		if !status.IsSuccess() {
			k.t.Fatalf("%s of %s: PreFilter = %v, but was Success", f.plugin.Name(), f.pod.Pod.Key(), status)
		}
		if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
			k.t.Fatalf("verdicts of %s about %s (-bound now +kept):\n%s", f.plugin.Name(), f.pod.Pod.Key(), diff)
		}
		if slices.ContainsFunc(got, framework.Status.IsRejected) {
			k.checked[f.plugin.Name()]++
		}
	}
}

// copied makes a snapshot of the same content that shares nothing with it.
func (k *keeper) copied() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range k.s.All() {
		k.must(s.AddNode(n.Node))
		for _, p := range n.Pods {
			k.must(s.AddPod(podInfo(k.t, s, p.Pod), n.Name()))
		}
	}
	putAll[api.PersistentVolume](k, s)
	putAll[api.PersistentVolumeClaim](k, s)
	putAll[api.StorageClass](k, s)
	putAll[api.CSINode](k, s)
	putAll[api.CSIDriver](k, s)
	putAll[api.CSIStorageCapacity](k, s)
	putAll[api.VolumeAttachment](k, s)
	return s
}

func putAll[T api.Object](k *keeper, s *framework.Snapshot) {
	for _, o := range framework.List[T](k.s) {
		k.must(framework.Put(s, o))
	}
}
