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
		{"gang.scheduling.koordinator.sh/mode", "NonStrict", "2 false 10m0s"}, // what the PodGroup does not say is the default
		{"gang.scheduling.koordinator.sh/waiting-time", "7m", "2 false 10m0s"},
		{"gang.scheduling.koordinator.sh/min-available", "many", "2 false 10m0s"},
	} {
		annotated := info(api.MakePod("a").Annotations("gang.scheduling.koordinator.sh/name", "g", tt.key, tt.value).Obj())
		object := &api.PodGroup{ObjectMeta: api.ObjectMeta{
			Namespace: "default", Name: "g", Annotations: map[string]string{"gang.scheduling.koordinator.sh/waiting-time": "5m"}, // its spec counts
		}}
		object.Spec.MinMember = 2
		for _, pods := range [][]*framework.PodInfo{{annotated, labelled}, {labelled, annotated}} {
			got := ""
			if list, err := gang.KoordinatorGangs(pods, []*api.PodGroup{object}, nil); err != nil {
				got = err.Error()
			} else {
				got = fmt.Sprint(list[0].Min, list[0].NonStrict, list[0].Waiting)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s %s, pod %s first: %s, want %s", tt.key, tt.value, pods[0].Pod.Name, got, tt.want)
			}
		}
	}
}
