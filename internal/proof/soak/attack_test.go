package soak

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// hostility is what a hostile user does in each round.
type hostility struct {
	name  string
	start func(w *town)
	round func(w *town, i int)
	end   func(w *town)
}

func del(w *town, list []*api.Pod) {
	for _, p := range list {
		w.d.Apply(lifecycle.Delete(p))
	}
}

func hpod(i int) api.PodBuilder {
	return api.MakePod(fmt.Sprint("h", i)).Namespace("hostile").Requests("1m", "1Mi")
}

var hostilities = func() []hostility {
	var list []hostility
	{ // pods bound by their author to a node, whose sums overflow
		var ps []*api.Pod
		list = append(list, hostility{"refused on node", func(w *town) {
			ps = nil
			for i := range 10000 {
				p := api.Clone(hpod(i).Requests("9000000000000000", "1Mi").Obj())
				p.Spec.NodeName = fmt.Sprint("n", i%3)
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
		}, nil, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		list = append(list, hostility{"assigned to ghosts", func(w *town) { ps = nil }, func(w *town, i int) {
			for k := range 20 {
				p := api.Clone(hpod(i*20 + k).Obj())
				p.Spec.NodeName = "ghost"
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 5000 {
				del(w, ps[:20])
				ps = ps[20:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		v := 0
		list = append(list, hostility{"updates of waiting", func(w *town) {
			ps = nil
			for i := range 2000 {
				ps = append(ps, hpod(i).Requests("1k", "1Gi").Labels("a", fmt.Sprint(i)).Obj())
				w.d.Apply(lifecycle.Update(ps[i]))
			}
		}, func(w *town, i int) {
			for k := range 20 {
				v++
				j := (i*20 + k) % len(ps)
				p := api.Clone(ps[j])
				p.Labels = map[string]string{"a": fmt.Sprint(v)}
				ps[j] = p
				w.d.Apply(lifecycle.Update(p))
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		v := 0
		list = append(list, hostility{"updates of assigned", func(w *town) {
			ps = nil
			for i := range 500 {
				p := api.Clone(hpod(i).Labels("a", fmt.Sprint(i)).Obj())
				p.Spec.NodeName = fmt.Sprint("n", i%100)
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
		}, func(w *town, i int) {
			for k := range 20 {
				v++
				j := (i*20 + k) % len(ps)
				p := api.Clone(ps[j])
				p.Labels = map[string]string{"a": fmt.Sprint(v), "app": fmt.Sprint("app", v%8)}
				ps[j] = p
				w.d.Apply(lifecycle.Update(p))
			}
		}, func(w *town) { del(w, ps) }})
	}
	list = append(list, hostility{"pvc churn", nil, func(w *town, i int) {
		for k := range 10 {
			c := &api.PersistentVolumeClaim{}
			c.Namespace, c.Name = "hostile", fmt.Sprint("c", i*10+k)
			w.d.Apply(lifecycle.Update(c))
			if i*10+k > 500 {
				d := &api.PersistentVolumeClaim{}
				d.Namespace, d.Name = "hostile", fmt.Sprint("c", i*10+k-500)
				w.d.Apply(lifecycle.Delete(d))
			}
		}
	}, nil})
	list = append(list, hostility{"claim churn", nil, func(w *town, i int) {
		for k := range 10 {
			c := &api.ResourceClaim{}
			c.Namespace, c.Name = "hostile", fmt.Sprint("c", i*10+k)
			w.d.Apply(lifecycle.Update(c))
			if i*10+k > 500 {
				d := &api.ResourceClaim{}
				d.Namespace, d.Name = "hostile", fmt.Sprint("c", i*10+k-500)
				w.d.Apply(lifecycle.Delete(d))
			}
		}
	}, nil})
	list = append(list, hostility{"pdb churn", nil, func(w *town, i int) {
		for k := range 10 {
			c := &api.PodDisruptionBudget{}
			c.Namespace, c.Name = "hostile", fmt.Sprint("c", i*10+k)
			w.d.Apply(lifecycle.Update(c))
		}
	}, nil})
	{
		var ps []*api.Pod
		list = append(list, hostility{"wait for pvc", func(w *town) {
			ps = nil
			for i := range 3000 {
				ps = append(ps, pvcPod(i))
				w.d.Apply(lifecycle.Update(ps[i]))
			}
		}, func(w *town, i int) {
			for k := range 10 {
				c := &api.PersistentVolumeClaim{}
				c.Namespace, c.Name = "hostile", fmt.Sprint("c", (i*10+k)%500)
				w.d.Apply(lifecycle.Update(c))
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"terms for everybody", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 5 {
				n++
				b := hpod(n).PreferPodAffinity(5, fmt.Sprint("key", n), "app")
				p := api.Clone(b.Obj())
				for q := range p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
					p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[q].PodAffinityTerm.NamespaceSelector = &api.LabelSelector{}
				}
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 200 {
				del(w, ps[:5])
				ps = ps[5:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"anti terms for everybody", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 5 {
				n++
				p := api.Clone(hpod(n).PodAntiAffinity(fmt.Sprint("key", n), "app").Obj())
				for q := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[q].NamespaceSelector = &api.LabelSelector{}
				}
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 200 {
				del(w, ps[:5])
				ps = ps[5:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"waiting terms for everybody", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 10 {
				n++
				p := api.Clone(hpod(n).Labels("me", fmt.Sprint(n)).PodAffinity(api.LabelHostname, "nobody").Requests("1k", "1Gi").Obj())
				for q := range p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[q].NamespaceSelector = &api.LabelSelector{}
				}
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 2000 {
				del(w, ps[:10])
				ps = ps[10:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"terminating pending", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 20 {
				n++
				p := api.Clone(hpod(n).Labels("me", fmt.Sprint(n)).Obj())
				now := w.clock.Now()
				p.DeletionTimestamp = &now
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 2000 {
				del(w, ps[:20])
				ps = ps[20:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"nominated by themselves to nowhere", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 20 {
				n++
				p := api.Clone(hpod(n).Labels("me", fmt.Sprint(n)).Requests("1k", "1Gi").Obj())
				p.Status.NominatedNodeName = "ghost"
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 2000 {
				del(w, ps[:20])
				ps = ps[20:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"one full node by name", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 20 {
				n++
				p := api.Clone(hpod(n).Labels("me", fmt.Sprint(n)).Requests("60", "1Gi").NodeSelector(api.LabelHostname, fmt.Sprint("n", n%100)).Obj())
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 3000 {
				del(w, ps[:20])
				ps = ps[20:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"just too large for any node", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 20 {
				n++
				p := api.Clone(hpod(n).Labels("me", fmt.Sprint(n)).Requests("63", fmt.Sprint(n, "Ki")).Obj())
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 3000 {
				del(w, ps[:20])
				ps = ps[20:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"spread do not schedule", func(w *town) { ps = nil }, func(w *town, i int) {
			for range 20 {
				n++
				p := api.Clone(hpod(n).Labels("app", fmt.Sprint(n)).Spread(1, api.LabelHostname, api.DoNotSchedule, fmt.Sprint("app=", n)).Spread(1, api.LabelTopologyZone, api.DoNotSchedule, fmt.Sprint("app=", n)).Requests("63", "1Gi").Obj())
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 3000 {
				del(w, ps[:20])
				ps = ps[20:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	for _, kind := range []string{"preferred", "anti preferred", "required anti"} {
		var ps []*api.Pod
		n := 0
		list = append(list, hostility{"50 terms a pod for everybody, " + kind, func(w *town) { ps = nil }, func(w *town, i int) {
			for range 5 {
				n++
				b := hpod(n)
				for k := range 50 {
					key := fmt.Sprint("key", n, "-", k)
					switch kind {
					case "preferred":
						b = b.PreferPodAffinity(5, key, "app")
					case "anti preferred":
						b = b.PreferPodAntiAffinity(5, key, "app")
					default:
						b = b.PodAntiAffinity(key, "app")
					}
				}
				p := api.Clone(b.Obj())
				inAllNamespaces(p)
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
			if len(ps) > 200 {
				del(w, ps[:5])
				ps = ps[5:]
			}
		}, func(w *town) { del(w, ps) }})
	}
	{
		var ps []*api.Pod
		list = append(list, hostility{"wait for claims", func(w *town) {
			ps = nil
			for i := range 3000 {
				p := api.Clone(hpod(i).Obj())
				name := fmt.Sprint("rc", i)
				p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
				ps = append(ps, p)
				w.d.Apply(lifecycle.Update(p))
			}
		}, func(w *town, i int) {
			for k := range 10 {
				c := &api.ResourceClaim{}
				c.Namespace, c.Name = "hostile", fmt.Sprint("c", (i*10+k)%500)
				w.d.Apply(lifecycle.Update(c))
			}
		}, func(w *town) { del(w, ps) }})
	}
	return list
}()

// inAllNamespaces makes the terms of a pod match pods of all namespaces.
func inAllNamespaces(p *api.Pod) {
	all := &api.LabelSelector{}
	a := p.Spec.Affinity
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.NamespaceSelector = all
		}
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.NamespaceSelector = all
		}
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i].NamespaceSelector = all
		}
	}
}

func TestAttackTenants(t *testing.T) {
	rounds := 60
	only := os.Getenv("ONLY")
	for _, h := range hostilities {
		if only != "" && !strings.Contains(h.name, only) {
			continue
		}
		w, err := newTown()
		if err != nil {
			t.Fatal(err)
		}
		control, err := newTown()
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := errors.Join(w.round(nil), control.round(nil)); err != nil {
				t.Fatal(err)
			}
		}
		before := inUse()
		run := func() {
			w.took, control.took, w.late = nil, nil, 0
		}
		run()
		began := time.Now()
		if h.start != nil {
			h.start(w)
			w.settle()
		}
		setup := time.Since(began)
		var spent time.Duration
		for i := range rounds {
			if err := control.round(nil); err != nil {
				t.Fatal(err)
			}
			b := time.Now()
			if h.round != nil {
				h.round(w, i)
				w.settle()
			}
			if err := w.round(nil); err != nil {
				t.Errorf("%s: %v", h.name, err)
				break
			}
			spent += time.Since(b)
			if spent > 40*time.Second {
				break
			}
		}
		rel := 0.0
		if len(w.took) > 0 {
			rel = w.rate() / control.rate()
		}
		n := len(w.took)
		during, late := inUse(), w.late
		b := time.Now()
		if h.end != nil {
			h.end(w)
			w.settle()
		}
		ended := time.Since(b)
		run()
		for range rounds {
			control.round(nil)
			w.round(nil)
		}
		after := 0.0
		if len(w.took) > 0 {
			after = w.rate() / control.rate()
		}
		t.Logf("%-35s setup %8v, relative %6.1f %% after %6.1f %%, late %d, whole round %v (%d), end %v, heap %+.1f MB during, %+.1f after", h.name, setup.Round(time.Millisecond), rel*100, after*100, late,
			(spent / time.Duration(max(n, 1))).Round(time.Microsecond), n, ended.Round(time.Millisecond), float64(int64(during)-int64(before))/1e6, float64(int64(inUse())-int64(before))/1e6)
	}
}

func pvcPod(i int) *api.Pod {
	return hpod(i).Volume(api.Volume{Name: "v", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("v", i)}}}).Obj()
}
