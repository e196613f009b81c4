package lifecycle_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// The usual order in a cluster: a pod comes whose claim is to be made from a template, the claim is
// made, and then the pod's status names it. That wakes the pod, whether a gate keeps it out or
// PreFilter has rejected it.
func TestClaimIsMadeFromTemplate(t *testing.T) {
	for name, gates := range map[string]func(h *lifecycle.Handle) []framework.Plugin{
		"gated": func(h *lifecycle.Handle) []framework.Plugin {
			return []framework.Plugin{scheduling.SchedulingGates{}, filter.DynamicResources{Handle: h}}
		},
		"rejected": func(*lifecycle.Handle) []framework.Plugin { return []framework.Plugin{scheduling.SchedulingGates{}} },
	} {
		handle, profile := lifecycle.NewHandle(), scheduling.Kubernetes137()
		profile.PreEnqueue = gates(handle)
		w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}}, handle)
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		pod := api.MakePod("p").UID("p").Obj()
		pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpus")}}
		w.d.Apply(lifecycle.Update(pod))
		w.all()
		w.d.Apply(lifecycle.Update(&api.ResourceClaim{ObjectMeta: api.ObjectMeta{
			Namespace: "default", Name: "p-gpu-1", UID: "c", OwnerReferences: []api.OwnerReference{{Kind: "Pod", Name: "p", UID: "p", Controller: new(true)}},
		}}))
		w.d.Flush(w.ctx)
		if n := w.d.QueueLength(); n.Active+n.Backoff > 0 {
			t.Errorf("%s: the pod is ready before its status names the claim: %+v", name, n)
		}
		named := api.Clone(pod)
		named.ResourceVersion = "3"
		named.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("p-gpu-1")}}
		w.d.Apply(lifecycle.Update(named))
		w.d.Flush(w.ctx)
		if n := w.d.QueueLength(); n.Active+n.Backoff != 1 {
			t.Errorf("%s: the claim is made and named, and the pod sleeps: %+v", name, n)
		}
		w.noProblems()
	}
}
