//go:build full

package lifecycle_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// changes are the parts of a waiting pod that drawChange changes.
var changes = []string{"labels", "tolerations", "requests", "claims", "selector", "affinity", "terms", "spread", "ports", "volumes", "devices"}

// drawChange changes one part of a waiting pod: often the one that the case is about, because
// for some it takes two changes of the same part, and another, until it counts.
func drawChange(t *rapid.T, about string, p *api.Pod) (what string) {
	label := []string{"", "x", "y"}
	pick := func(list []string) string { return rapid.SampledFrom(list).Draw(t, "value") }
	if what = about; rapid.Bool().Draw(t, "another") {
		what = pick(changes)
	}
	switch spec := &p.Spec; what {
	case "labels":
		p.Labels = map[string]string{"app": pick(label)}
	case "tolerations":
		spec.Tolerations = append(spec.Tolerations[:len(spec.Tolerations):len(spec.Tolerations)], api.Toleration{Key: "a", Operator: api.TolerationOpExists})
	case "requests":
		spec.Containers[0].Resources.Requests = resource.List{
			resource.CPU: resource.MustParse(pick([]string{"100m", "3", "5"})), resource.Name(pick([]string{"memory", "example.com/gpu", "example.com/nic"})): resource.MustParse("1"),
		}
	case "claims":
		p.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new(pick([]string{"made", "not-made"}))}}
	case "devices":
		spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("t")}}
	case "selector":
		spec.NodeSelector = map[string]string{"zone": pick([]string{"a", "b", "none"})}
	case "affinity":
		spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
			{MatchExpressions: []api.NodeSelectorRequirement{{Key: "zone", Operator: api.NodeSelectorOpIn, Values: []string{pick([]string{"a", "b", "none"})}}}},
		}}}}
	case "terms":
		term := []api.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": pick(label[1:])}}}}
		if rapid.Bool().Draw(t, "anti") {
			spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		} else {
			spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		}
	case "spread":
		spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: pick([]string{"zone", "none"}), WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
		}}
	case "ports":
		spec.Containers[0].Ports = []api.ContainerPort{{HostPort: int32(rapid.IntRange(0, 1).Draw(t, "port")), Protocol: api.ProtocolTCP}}
	case "volumes":
		spec.Volumes = []api.Volume{{Name: "v", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: pick([]string{"bound", "none"})}}}}
	}
	return what
}

// TestChangedPodIsTried: a change of a waiting pod after which it fits wakes it, whatever plugin had
// rejected it, and whatever part has changed.
func TestChangedPodIsTried(test *testing.T) {
	seen := map[string]int{}
	want := map[string]int{}
	for _, what := range changes {
		want[what] = 2
	}
	delete(want, "devices") // there are none, so that this change never helps
	enough.Check(test, seen, want, func(t *rapid.T) {
		w := newWorld(test, scheduling.Kubernetes137())
		w.nodes(
			api.MakeNode("a", "4", "8Gi").Zone("a").Labels("zone", "a").Taint("a:NoSchedule").Resource("example.com/gpu", "1"),
			api.MakeNode("b", "2", "8Gi").Zone("b").Labels("zone", "b").Resource("example.com/nic", "1"),
		)
		volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v"}}
		volume.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: "bound", UID: "bound"}
		claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "bound", UID: "bound", Annotations: map[string]string{api.AnnBindCompleted: "yes"}}}
		claim.Spec.VolumeName = "v"
		w.d.Apply(lifecycle.Update(volume), lifecycle.Update(claim))
		pod := api.MakePod("p").UID("p").Requests("100m", "1").Obj()
		w.d.Apply(lifecycle.Update(&api.ResourceClaim{ObjectMeta: api.ObjectMeta{
			Namespace: "default", Name: "made", UID: "made", OwnerReferences: []api.OwnerReference{{Kind: "Pod", Name: "p", UID: "p", Controller: new(true)}},
		}}))
		for i, node := range []string{"a", "b"} {
			w.pods(api.MakePod(fmt.Sprint("there", i)).Requests("1", "1").Labels("app", []string{"x", "y"}[i]).HostPort(1).PodAntiAffinity("zone", "app=y").Node(node))
		}
		about := rapid.SampledFrom(changes).Draw(t, "about")
		for range rapid.IntRange(1, 2).Draw(t, "changes before") {
			drawChange(t, about, pod)
		}
		w.d.Apply(lifecycle.Update(pod))
		if list := w.all(); len(list) != 1 || list[0].State != lifecycle.Failed {
			return
		}
		for i := range 4 {
			next := api.Clone(pod)
			next.ResourceVersion = fmt.Sprint(i + 2)
			what := drawChange(t, about, next)
			info, err := w.d.Snapshot().NewPodInfo(next)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.d.Scheduler("").Fork().Schedule(w.d.Snapshot().Fork(), info)
			w.d.Apply(lifecycle.Update(next))
			w.d.Flush(w.ctx)
			if n := w.d.QueueLength(); err == nil {
				if seen[what]++; n.Active+n.Backoff != 1 {
					t.Fatalf("after a change of %s the pod fits, and sleeps: %+v\nbefore %+v\nafter %+v", what, n, pod, next)
				}
				return
			} else if n.Unschedulable == 0 {
				return // it is tried in vain
			}
			pod = next
		}
	})
}
