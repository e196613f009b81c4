package gang_test

import (
	"fmt"
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
		koordinatorPod(t, "a", "y", nil, map[string]string{koordinatorName: "g", koordinatorMin: "5"}),
	}
	for _, annotations := range []map[string]string{nil, {"k": "v"}} {
		o := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "a", Name: "g", Annotations: annotations}, Spec: api.PodGroupSpec{MinMember: 2}}
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

// TestGangsOfOtherNames: the labels and annotations that Koordinator 1.8 reads besides. The label that
// names a PodGroup comes before the others; an empty text is none.
func TestGangsOfOtherNames(t *testing.T) {
	const light, prefix = "pod-group.scheduling.sigs.k8s.io/", "gang.scheduling.koordinator.sh/"
	for _, tt := range []struct {
		name                string
		labels, annotations map[string]string
		want                string
	}{
		{"label and annotation", map[string]string{koordinatorLabel: "g"}, map[string]string{koordinatorName: "h", koordinatorMin: "2"}, "a/g 2 once-satisfied 10m0s"},
		{"lightweight labels", map[string]string{light + "name": "g", light + "min-available": "3"}, map[string]string{koordinatorMin: "2"}, "a/g 3 once-satisfied 10m0s"},
		{"lightweight name", map[string]string{light + "name": "g"}, map[string]string{koordinatorName: "h", koordinatorMin: "2"}, "a/g 2 once-satisfied 10m0s"},
		{"alias", nil, map[string]string{koordinatorName: "g", koordinatorMin: "2", light + "match-policy": "only-waiting"}, "a/g 2 only-waiting 10m0s"},
		{"policy and alias", nil, map[string]string{koordinatorName: "g", koordinatorMin: "2", prefix + "match-policy": "waiting-and-running", light + "match-policy": "only-waiting"}, "a/g 2 waiting-and-running 10m0s"},
		{"empty texts", nil, map[string]string{
			koordinatorName: "g", koordinatorMin: "2", prefix + "mode": "", prefix + "total-number": "", prefix + "waiting-time": "", prefix + "groups": "", prefix + "network-topology-spec": "", prefix + "match-policy": "",
		}, "a/g 2 once-satisfied 10m0s"},
		{"no time to wait", nil, map[string]string{koordinatorName: "g", koordinatorMin: "2", prefix + "waiting-time": "0s"}, "a/g 2 once-satisfied 10m0s"},
	} {
		list, err := gang.KoordinatorGangs([]*framework.PodInfo{koordinatorPod(t, "a", "x", tt.labels, tt.annotations)}, nil, nil)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %d gangs, %v", tt.name, len(list), err)
			continue
		}
		k := list[0]
		if got := fmt.Sprint(k.Key(), " ", k.Min, " ", k.Policy, " ", k.Waiting); got != tt.want || k.Total != k.Min || len(k.Groups) != 1 {
			t.Errorf("%s: %s %+v, want %s", tt.name, got, k, tt.want)
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
