package lifecycle_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestPreemptorWakesAsItsVictimGoes: a pod has evicted another for its spread constraint. Before that has
// gone, one of low priority comes, and the constraint counts it. When the victim goes, the pod is tried again,
// as by kube-scheduler, and may evict the second one.
func TestPreemptorWakesAsItsVictimGoes(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.confirm = true
	w.nodes(api.MakeNode("n1", "4", "8Gi").Labels("zone", "b"), api.MakeNode("n3", "4", "8Gi").Labels("zone", "b"),
		api.MakeNode("n2", "4", "8Gi").Labels("zone", "a").Taint("k:NoSchedule"))
	mk := func(name string, prio int32) api.PodBuilder {
		return api.MakePod(name).Namespace("default").Requests("1", "1Gi").Priority(prio).Labels("app", "a")
	}
	old := onNode(mk("old", 0).Obj(), "n3")
	w.d.Apply(lifecycle.Update(old))
	p := mk("important", 20).Obj()
	p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}
	w.d.Apply(lifecycle.Update(p))
	w.all()
	if len(w.evicted) != 1 {
		t.Fatalf("evicted: %v, want one pod", w.evicted)
	}
	term := api.Clone(old)
	now := epoch
	term.DeletionTimestamp = &now
	w.d.Apply(lifecycle.Update(term))
	w.pods(mk("intruder", 0)) // a tenant's pod, of low priority
	w.all()
	w.d.Apply(lifecycle.Delete(term)) // the victim has gone
	for range 60 {
		w.pass(time.Second)
		if len(w.all()) > 0 {
			return
		}
	}
	t.Error("the pod was not tried for a minute after its victim had gone")
}
