package gang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

const (
	koordinatorLabel = "pod-group.scheduling.sigs.k8s.io"
	koordinatorName  = "gang.scheduling.koordinator.sh/name"
	koordinatorMin   = "gang.scheduling.koordinator.sh/min-available"
)

func koordinatorPod(t *testing.T, namespace, name string, labels, annotations map[string]string) *framework.PodInfo {
	t.Helper()
	p := api.MakePod(name).Namespace(namespace).Requests("1", "1Gi").Obj()
	p.Labels, p.Annotations = labels, annotations
	info, err := framework.NewSnapshot(framework.Arrival).NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestGangsOfLabelsAndAnnotations: one pod names the gang by a label, another by an annotation and has
// a setting, too. The PodGroup, with annotations or without, stays as it is.
func TestGangsOfLabelsAndAnnotations(t *testing.T) {
	pods := []*framework.PodInfo{
		koordinatorPod(t, "a", "x", map[string]string{koordinatorLabel: "g"}, nil),
		koordinatorPod(t, "a", "y", nil, map[string]string{koordinatorName: "g", koordinatorMin: "2"}),
	}
	for _, annotations := range []map[string]string{nil, {"k": "v"}} {
		o := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "a", Name: "g", Annotations: annotations}}
		list, err := gang.KoordinatorGangs(pods, []*api.PodGroup{o}, nil)
		if err != nil || len(list) != 1 || list[0].Min != 2 {
			t.Errorf("%d gangs, %v; want one with a minimum of 2", len(list), err)
		}
		want := map[string]string(nil)
		if annotations != nil {
			want = map[string]string{"k": "v"}
		}
		if diff := cmp.Diff(want, o.Annotations); diff != "" {
			t.Errorf("annotations of the PodGroup (-want +got):\n%s", diff)
		}
	}
}

// TestGangsBesideOneThatCannotBeRead: what one user writes costs the others nothing.
func TestGangsBesideOneThatCannotBeRead(t *testing.T) {
	list, err := gang.KoordinatorGangs([]*framework.PodInfo{
		koordinatorPod(t, "evil", "x", nil, map[string]string{koordinatorName: "e", koordinatorMin: "two"}),
		koordinatorPod(t, "evil", "y", nil, map[string]string{koordinatorName: "f"}), // without a minimum
		koordinatorPod(t, "good", "x", nil, map[string]string{koordinatorName: "g", koordinatorMin: "1"}),
	}, nil, nil)
	if len(list) != 1 || list[0].Namespace != "good" {
		t.Errorf("%d gangs, want that of the namespace good", len(list))
	}
	for _, pod := range []string{"evil/x", "evil/y"} {
		if err == nil || !strings.Contains(err.Error(), "pod "+pod) {
			t.Errorf("%v, want an error about pod %s", err, pod)
		}
	}
}
