//go:build full

package filter_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
)

// supposer is a filter that can tell how pods would change its verdict if they were there.
type supposer interface {
	framework.FilterUpdater
	FilterWith(pod *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (framework.Status, bool)
}

// TestFilterWith compares FilterWith with Filter after the pods were added, for pods with
// terms, constraints and volumes, on nodes that lack labels.
func TestFilterWith(t *testing.T) {
	seen := map[string]int{}
	want := map[string]int{"cannot tell": 10, "InterPodAffinity passes only with them": 20}
	for _, name := range []string{"InterPodAffinity", "PodTopologySpread", "VolumeRestrictions"} {
		for _, what := range []string{" passes", " rejects", " rejects only with them"} {
			want[name+what] = 50
		}
	}
	enough.Check(t, seen, want, func(t *rapid.T) {
		w := supposedWorld{t: t, snap: framework.NewSnapshot(framework.Arrival)}
		w.fill()
		pod := w.pod()
		node := w.snap.At(rapid.IntRange(0, w.snap.Len()-1).Draw(t, "node"))
		var added []*framework.PodInfo
		for range rapid.IntRange(0, 4).Draw(t, "added") {
			added = append(added, w.pod())
		}
		if rapid.IntRange(0, 9).Draw(t, "nominated") > 0 {
			for _, q := range added {
				w.check(w.snap.Nominate(q, node.Name(), ""))
			}
		}
		for _, plugin := range []framework.PreFilterPlugin{filter.InterPodAffinity{}, filter.PodTopologySpread{}, filter.VolumeRestrictions{}} {
			var c framework.Cycle
			c.Reset(pod, w.snap, 0, 0)
			bound, status := plugin.PreFilter(&c)
			if !status.IsSuccess() || bound.Filter == nil {
				continue
			}
			f := bound.Filter.(supposer)
			node := w.snap.AtSlot(node.Slot())
			without := f.Filter(pod, node)
			got, ok := f.FilterWith(pod, node, added)
			if after := f.Filter(pod, node); !equal(after, without) {
				t.Fatalf("%s: Filter = %v, and %v after FilterWith", plugin.Name(), without, after)
			}
			if !ok {
				seen["cannot tell"]++
				continue
			}
			if with := w.filterAfter(&c, f, node, added); !equal(got, with) {
				t.Fatalf("%s: FilterWith(%d pods) = %v, want %v", plugin.Name(), len(added), got, with)
			}
			switch {
			case got.IsSuccess() && !without.IsSuccess():
				seen[plugin.Name()+" passes only with them"]++
			case got.IsSuccess():
				seen[plugin.Name()+" passes"]++
			case without.IsSuccess():
				seen[plugin.Name()+" rejects only with them"]++
			default:
				seen[plugin.Name()+" rejects"]++
			}
		}
	})
}

func equal(a, b framework.Status) bool { return a.Code() == b.Code() && a.Message() == b.Message() }

// supposedWorld draws clusters in which a few labels and keys mean much.
type supposedWorld struct {
	t      *rapid.T
	snap   *framework.Snapshot
	number int
}

func (w *supposedWorld) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *supposedWorld) some(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "some") }

func (w *supposedWorld) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(w.t, "chance") < percent
}

func (w *supposedWorld) fill() {
	for _, name := range []string{"one", "two"} {
		if w.chance(60) {
			w.check(framework.Put(w.snap, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, Labels: map[string]string{"team": w.some("a", "b")}}}))
		}
		w.check(framework.Put(w.snap, &api.PersistentVolumeClaim{
			ObjectMeta: api.ObjectMeta{Namespace: name, Name: "claim"},
			Spec:       api.PersistentVolumeClaimSpec{AccessModes: []api.PersistentVolumeAccessMode{api.ReadWriteOncePod}},
		}))
	}
	for i := range rapid.IntRange(1, 5).Draw(w.t, "nodes") {
		b := api.MakeNode(fmt.Sprint("n", i), "64", "64Gi")
		if w.chance(80) {
			b = b.Labels(api.LabelHostname, fmt.Sprint("n", i))
		}
		if w.chance(80) {
			b = b.Zone(w.some("a", "b", ""))
		}
		if w.chance(20) {
			b = b.Taint("a=b:NoSchedule")
		}
		w.check(w.snap.AddNode(b.Obj()))
	}
	for range rapid.IntRange(0, 8).Draw(w.t, "pods") {
		w.check(w.snap.AddPodAt(w.pod(), w.snap.At(rapid.IntRange(0, w.snap.Len()-1).Draw(w.t, "on"))))
	}
}

// pod draws a pod. Its volumes do not conflict with those of others but for one disk.
func (w *supposedWorld) pod() *framework.PodInfo {
	name := fmt.Sprint("p", w.number)
	w.number++
	b := api.MakePod(name).UID(api.UID(name)).Namespace(w.some("one", "two")).Requests("1", "1Mi")
	if w.chance(80) {
		b = b.Labels("app", w.some("x", "y"))
	}
	if w.chance(15) {
		b = b.Deleted(time.Unix(0, 0))
	}
	key := func() string { return w.some(api.LabelHostname, api.LabelTopologyZone, "rack") }
	selector := func() string { return w.some("app=x", "app=y", "") }
	for w.chance(40) {
		switch rapid.IntRange(0, 5).Draw(w.t, "term") {
		case 0:
			b = b.PodAffinity(key(), selector())
		case 1:
			b = b.PodAntiAffinity(key(), selector())
		case 2:
			b = b.PreferPodAffinity(3, key(), selector())
		default:
			b = b.Spread(int32(rapid.IntRange(1, 2).Draw(w.t, "skew")), key(), api.DoNotSchedule, selector())
		}
	}
	p := b.Obj()
	if a := p.Spec.Affinity; a != nil && w.chance(40) { // terms for other namespaces
		terms := []*api.PodAffinityTerm{}
		if a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			terms = append(terms, &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
		}
		if a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			terms = append(terms, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
		}
		for _, term := range terms {
			switch w.some("all", "team", "names") {
			case "all":
				term.NamespaceSelector = &api.LabelSelector{}
			case "team":
				term.NamespaceSelector = &api.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
			case "names":
				term.Namespaces = []string{"one", "three"}
			}
		}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		if w.chance(20) {
			c.MinDomains = new(int32(2))
		}
		if w.chance(30) {
			c.NodeTaintsPolicy = new(api.NodeInclusionPolicyHonor)
		}
	}
	if w.chance(30) {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "c", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}})
	}
	if w.chance(30) {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "d", VolumeSource: api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: w.some("u", "v", "w")}}})
	}
	info, err := w.snap.NewPodInfo(p)
	w.check(err)
	return info
}

// filterAfter is what a copy of the filter says after the pods were added.
func (w *supposedWorld) filterAfter(c *framework.Cycle, f framework.FilterUpdater, node *framework.NodeInfo, added []*framework.PodInfo) framework.Status {
	mark := w.snap.Begin()
	defer w.snap.Rollback(mark)
	f = f.Fork()
	for _, q := range added {
		w.check(w.snap.AddPodAt(q, node))
		node = w.snap.AtSlot(node.Slot())
		if status := f.AddPod(c, q, node); !status.IsSuccess() {
			w.t.Fatal(status)
		}
	}
	return f.Filter(c.Pod, node)
}
