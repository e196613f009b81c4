package gang_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// TestKoordinatorOrderOfPods: a gang is the same whichever of its pods comes first, if one names it by
// its annotation, with settings, and another by the label of a PodGroup.
func TestKoordinatorOrderOfPods(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	info := func(p *api.Pod) *framework.PodInfo {
		t.Helper()
		i, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	labelled := info(api.MakePod("b").Labels("pod-group.scheduling.sigs.k8s.io", "g").Obj())
	for _, tt := range []struct{ key, value, want string }{
		{"gang.scheduling.koordinator.sh/mode", "NonStrict", "2 true"}, // the PodGroup does not say it
		{"gang.scheduling.koordinator.sh/waiting-time", "7m", "podgroup default/g of the gang has"},
		{"gang.scheduling.koordinator.sh/waiting-time", "300s", "2 false"},
	} {
		annotated := info(api.MakePod("a").Annotations("gang.scheduling.koordinator.sh/name", "g", tt.key, tt.value).Obj())
		object := &api.PodGroup{ObjectMeta: api.ObjectMeta{
			Namespace: "default", Name: "g", Annotations: map[string]string{"gang.scheduling.koordinator.sh/waiting-time": "5m"},
		}}
		object.Spec.MinMember = 2
		for _, pods := range [][]*framework.PodInfo{{annotated, labelled}, {labelled, annotated}} {
			got := ""
			if list, err := gang.KoordinatorGangs(pods, []*api.PodGroup{object}, nil); err != nil {
				got = err.Error()
			} else {
				got = fmt.Sprint(list[0].Min, list[0].NonStrict)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s %s, pod %s first: %s, want %s", tt.key, tt.value, pods[0].Pod.Name, got, tt.want)
			}
		}
	}
}
