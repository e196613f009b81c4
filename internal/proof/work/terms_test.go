//go:build full

package work

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// everybodyBut is a preferred term that matches all pods without a number.
func everybodyBut(i int) api.WeightedPodAffinityTerm {
	return api.WeightedPodAffinityTerm{Weight: 1, PodAffinityTerm: api.PodAffinityTerm{
		TopologyKey: api.LabelTopologyZone, NamespaceSelector: &api.LabelSelector{},
		LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{
			{Key: "h", Operator: api.LabelSelectorOpNotIn, Values: []string{fmt.Sprint(i)}},
		}},
	}}
}

// hostilePod is a pod with n terms that match everybody.
func (w *world) hostilePod(n int) *framework.PodInfo {
	p := api.MakePod("hostile").Namespace("hostile").Obj()
	p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{}}
	list := &p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	for i := range n {
		*list = append(*list, everybodyBut(i))
	}
	return w.derive(p)
}

func newZones(t *testing.T) *world {
	var nodes []*api.Node
	for i := range 10 {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "640", "2560Gi").Resource("pods", "100000").Zone(fmt.Sprint("z", i%3)).Obj())
	}
	return newWorld(t, nodes...)
}

// innocent is pod i of many apps, each with a term of its own.
func (w *world) innocent(i, apps int) *framework.PodInfo {
	app := fmt.Sprint("app-", i%apps)
	return w.derive(api.MakePod(fmt.Sprint("p", i)).Namespace("innocent").Labels("app", app).Requests("1m", "1Mi").
		PreferPodAntiAffinity(100, api.LabelTopologyZone, "app="+app).Obj())
}

// termsOfOnePod places 2n pods of others after a pod with n terms that match everybody was
// looked at.
func termsOfOnePod(t *testing.T, n int) {
	w := newZones(t)
	for i := range 2 * n {
		if i == 8 { // before, its terms match nobody
			if _, err := w.sched.Schedule(w.snap, w.hostilePod(n)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.sched.Place(w.snap, w.innocent(i, 4)); err != nil {
			t.Fatal(err)
		}
	}
}

// termsBesideTerms places 3000 pods of 600 apps, each with a term of its own, beside a pod with
// n terms that match everybody, again and again.
func termsBesideTerms(t *testing.T, n int) {
	w := newZones(t)
	w.add(w.hostilePod(n), "n0")
	for i := range 3000 {
		if _, err := w.sched.Place(w.snap, w.innocent(i, 600)); err != nil {
			t.Fatal(err)
		}
	}
}

// trialsBesideTerms are n/10 attempts to preempt on full nodes, after a pod with n terms that match
// everybody was looked at: each attempt tries every node without its pods.
func trialsBesideTerms(t *testing.T, n int) {
	w := newZones(t)
	for i := range 200 {
		w.add(w.derive(api.MakePod(fmt.Sprint("full-", i)).Namespace("innocent").Requests("32", "1Mi").Obj()), fmt.Sprint("n", i%10))
	}
	if _, err := w.sched.Schedule(w.snap, w.hostilePod(n)); err != nil {
		t.Fatal(err)
	}
	for i := range n / 10 {
		pod := w.derive(api.MakePod("urgent").Namespace("innocent").Requests(fmt.Sprint(33000+i, "m"), "1Mi").Priority(10).Obj())
		d, err := w.sched.Schedule(w.snap, pod)
		if err == nil {
			t.Fatalf("the pod fits on %s", d.Node)
		}
		result, _, status, err := w.sched.PostFilter(context.Background(), w.snap, pod, d)
		if err != nil || len(result.Victims) == 0 {
			t.Fatal(status, err)
		}
	}
}

// termsThatCome are n terms like no other that come beside a pod with n terms that match
// everybody, with a decision about another pod after each.
func termsThatCome(t *testing.T, n int) {
	w := newZones(t)
	w.add(w.hostilePod(n), "n0")
	for i := range n {
		only := fmt.Sprint("only-", i)
		p := api.MakePod(only).Namespace("others").PreferPodAffinity(1, api.LabelTopologyZone, "app="+only).Obj()
		w.add(w.derive(p), "n1")
		if _, err := w.sched.Place(w.snap, w.innocent(i, 4)); err != nil {
			t.Fatal(err)
		}
	}
}

// selectedNamespaces places ten pods with n terms each beside n namespaces. All terms have one
// namespace selector.
func selectedNamespaces(t *testing.T, n int) {
	w := newZones(t)
	for i := range n {
		put(w, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("ns-", i), Labels: map[string]string{"team": "a"}}})
	}
	for k := range 10 {
		p := api.MakePod(fmt.Sprint("p", k)).Labels("k", fmt.Sprint(k)).Obj()
		p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{}}
		terms := &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for i := range n {
			*terms = append(*terms, api.PodAffinityTerm{
				TopologyKey:       api.LabelTopologyZone,
				LabelSelector:     &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(k, "-", i)}},
				NamespaceSelector: &api.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
			})
		}
		if _, err := w.sched.Place(w.snap, w.derive(p)); err != nil {
			t.Fatal(err)
		}
	}
}

// labelKeys gives defaults to a pod with a term that has n label keys. The pod has them all.
func labelKeys(t *testing.T, n int) {
	pod := api.MakePod("p").PodAntiAffinity(api.LabelHostname, "app=web").Obj()
	term := &pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	pod.Labels = map[string]string{}
	for i := range n {
		key := fmt.Sprint("key-", i)
		pod.Labels[key] = "v"
		term.MatchLabelKeys = append(term.MatchLabelKeys, key)
	}
	o := &api.Objects{Pods: []*api.Pod{pod}}
	if err := o.Default(); err != nil {
		t.Fatal(err)
	}
	if got := len(o.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions); got < n {
		t.Fatalf("%d expressions, want at least %d", got, n)
	}
}
