package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// prefers returns a node affinity with one preferred term for a label value.
func prefers(weight int32, key, value string) *api.NodeAffinity {
	return &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{{
		Weight: weight,
		Preference: api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: key, Operator: api.NodeSelectorOpIn, Values: []string{value}},
		}},
	}}}
}

func TestNodeAffinity(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("plain", "4", "4Gi").Obj(),
		api.MakeNode("ssd", "4", "4Gi").Labels("disk", "ssd").Obj(),
		api.MakeNode("a", "4", "4Gi").Labels("zone", "a").Obj(),
		api.MakeNode("both", "4", "4Gi").Labels("disk", "ssd", "zone", "a").Obj(),
	})
	pod := api.MakePod("p").PreferNodes(5, "zone=a").PreferNodes(10, "disk").Obj()
	plain := api.MakePod("p").Obj()
	emptyList := api.MakePod("p").Obj()
	emptyList.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{}}}
	added := scoring.NodeAffinity{AddedAffinity: prefers(1, "disk", "ssd")}

	wantScores(t, s, scoring.NodeAffinity{}, pod, []int64{0, 10, 5, 15}, []int64{0, 66, 33, 100})
	wantScores(t, s, added, pod, []int64{0, 11, 5, 16}, []int64{0, 68, 31, 100})
	wantScores(t, s, added, plain, []int64{0, 1, 0, 1}, []int64{0, 100, 0, 100})
	wantScores(t, s, scoring.NodeAffinity{}, emptyList, []int64{0, 0, 0, 0}, []int64{0, 0, 0, 0})
	wantSkip(t, s, scoring.NodeAffinity{}, plain)
	wantSkip(t, s, scoring.NodeAffinity{}, api.MakePod("p").NodeAffinity("zone=a").Obj())
	wantSkip(t, s, scoring.NodeAffinity{AddedAffinity: &api.NodeAffinity{}}, plain)
}

// TestNodeAffinityMemory runs plugins of different configurations by turns in the
// same memory.
func TestNodeAffinityMemory(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("ssd", "4", "4Gi").Labels("disk", "ssd").Obj(),
		api.MakeNode("a", "4", "4Gi").Labels("zone", "a").Obj(),
	})
	pod := podInfo(t, s, api.MakePod("p").PreferNodes(5, "zone=a").Obj())
	var c framework.Cycle
	for round, test := range []struct {
		plugin scoring.NodeAffinity
		want   [2]int64
	}{
		{scoring.NodeAffinity{}, [2]int64{0, 5}},
		{scoring.NodeAffinity{AddedAffinity: prefers(1, "disk", "ssd")}, [2]int64{1, 5}},
		{scoring.NodeAffinity{AddedAffinity: prefers(2, "zone", "a")}, [2]int64{0, 7}},
		{scoring.NodeAffinity{}, [2]int64{0, 5}},
	} {
		c.Reset(pod, s, 0, 0)
		if got, _ := rawScores(&c, test.plugin); [2]int64(got) != test.want {
			t.Errorf("round %d: scores = %v, want %v", round, got, test.want)
		}
	}
}

func TestNodeAffinityErrors(t *testing.T) {
	const text = `[0].matchExpressions[0].key: Invalid value: "/": prefix part must be non-empty; name part must be non-empty; name part must consist of alphanumeric characters, ` +
		`'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()})
	pod := api.MakePod("p").Obj()
	pod.Spec.Affinity = &api.Affinity{NodeAffinity: prefers(1, "/", "a")}
	if _, status := scoresOf(t, s, scoring.NodeAffinity{}, pod); status.Code() != framework.Error || status.Message() != text {
		t.Errorf("PreScore = %v\nwant Error: %s", status, text)
	}

	const prefix = "NodeAffinity: addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: "
	plugin := scoring.NodeAffinity{AddedAffinity: prefers(1, "/", "a")}
	if err := plugin.Validate(); err == nil || err.Error() != prefix+text {
		t.Errorf("Validate = %v\nwant %s", err, prefix+text)
	}
	if _, status := scoresOf(t, s, plugin, api.MakePod("p").Obj()); status.Code() != framework.Error || status.Message() != prefix+text {
		t.Errorf("PreScore = %v\nwant Error: %s", status, prefix+text)
	}
	if err := (scoring.NodeAffinity{AddedAffinity: prefers(1, "disk", "ssd")}).Validate(); err != nil {
		t.Errorf("Validate of valid terms = %v", err)
	}
}
