//go:build full

package whatif

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestTrialLeavesPod makes every change, alone and with all others, of a pod that has all
// that changes write to. The pod must stay as it was, and so must a trial made before.
func TestTrialLeavesPod(t *testing.T) {
	pod := api.MakePod("web").Labels("app", "web").Requests("2", "1Gi").HostPort(80).NodeSelector("disk", "ssd").
		NodeAffinity("zone in (a,b)").PodAffinity("zone", "app=db").PodAntiAffinity("zone", "app=web").
		Spread(1, "zone", api.DoNotSchedule, "app=web").Obj()
	pod.Spec.InitContainers = slices.Clone(api.Clone(pod).Spec.Containers)
	pod.Spec.Resources = &api.ResourceRequirements{Requests: api.Clone(pod).Spec.Containers[0].Resources.Requests}
	pod.Spec.Tolerations = slices.Grow(pod.Spec.Tolerations, 4) // room that an append could write to
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	terms[0].MatchFields = make([]api.NodeSelectorRequirement, 0, 4)
	node := api.MakeNode("n", "4", "4Gi").Obj()
	changes := []Change{
		{Kind: ChangeRequest, Name: "cpu", Amount: 500},
		{Kind: ChangeRequest, Name: "memory", Amount: 1 << 20},
		{Kind: ChangeToleration, Name: "a", To: "b", Effect: api.TaintEffectNoSchedule},
		{Kind: ChangeToleration, Name: "c", Effect: api.TaintEffectNoExecute},
		{Kind: ChangeNodeSelector, Name: "disk"},
		{Kind: ChangeSpread, Name: "zone"},
		{Kind: ChangeAffinity, Name: "zone"},
		{Kind: ChangeAntiAffinity, Name: "zone"},
		{Kind: ChangePodLabel, Name: "app"},
		{Kind: ChangeHostPort, Amount: 80},
		{Kind: ChangePin, To: "n"},
		{Kind: ChangeNodeAffinity},
	}
	before := api.Clone(pod)
	equal := cmpopts.EquateEmpty()
	sets := [][]Change{changes}
	for i := range changes {
		sets = append(sets, changes[i:i+1])
	}
	var trials, copies []*api.Pod
	for _, set := range sets {
		made, err := newTrial(pod, node, set)
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(before, made.pod, equal) {
			t.Errorf("%v changes nothing", set)
		}
		if diff := cmp.Diff(before, pod, equal); diff != "" {
			t.Fatalf("%v changes the pod (-want +got):\n%s", set, diff)
		}
		if spare := pod.Spec.Tolerations[:cap(pod.Spec.Tolerations)]; spare[0].Key != "" {
			t.Errorf("%v writes behind the tolerations of the pod: %v", set, spare[0])
		}
		if spare := terms[0].MatchFields[:1]; spare[0].Key != "" {
			t.Errorf("%v writes behind the fields that the pod requires: %v", set, spare[0])
		}
		trials, copies = append(trials, made.pod), append(copies, api.Clone(made.pod))
	}
	if diff := cmp.Diff(copies, trials, equal); diff != "" {
		t.Errorf("a trial changes another (-want +got):\n%s", diff)
	}
}
