package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

const (
	noAffinity = "UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector"
	noAdded    = "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity"
)

func affinityNodes() []*api.Node {
	return []*api.Node{
		api.MakeNode("plain", "4", "4Gi").Obj(),
		api.MakeNode("ssd", "4", "4Gi").Labels("disk", "ssd").Obj(),
		api.MakeNode("a", "4", "4Gi").Labels("zone", "a").Obj(),
		api.MakeNode("both", "4", "4Gi").Labels("disk", "ssd", "zone", "a").Obj(),
	}
}

// demanding returns a node affinity that requires one of the terms.
func demanding(terms ...api.NodeSelectorTerm) *api.NodeAffinity {
	return &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: terms}}
}

func has(key string) api.NodeSelectorTerm {
	return api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{Key: key, Operator: api.NodeSelectorOpExists}}}
}

func isNamed(names ...string) api.NodeSelectorTerm {
	var t api.NodeSelectorTerm
	for _, name := range names {
		t.MatchFields = append(t.MatchFields, api.NodeSelectorRequirement{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{name}})
	}
	return t
}

func podDemanding(terms ...api.NodeSelectorTerm) *api.Pod {
	p := api.MakePod("p").Obj()
	p.Spec.Affinity = &api.Affinity{NodeAffinity: demanding(terms...)}
	return p
}

func TestNodeAffinity(t *testing.T) {
	s := snapshotOf(t, affinityNodes())
	selecting := api.MakePod("p").NodeSelector("disk", "ssd")
	addedZone := filter.NodeAffinity{AddedAffinity: demanding(has("zone"))}
	tests := []struct {
		name   string
		plugin filter.NodeAffinity
		pod    *api.Pod
		want   []string
	}{
		{"selector", filter.NodeAffinity{}, selecting.Obj(), []string{noAffinity, "Success", noAffinity, "Success"}},
		{"affinity", filter.NodeAffinity{}, podDemanding(has("zone")), []string{noAffinity, noAffinity, "Success", "Success"}},
		{"one of two terms", filter.NodeAffinity{}, podDemanding(has("zone"), has("disk")), []string{noAffinity, "Success", "Success", "Success"}},
		{"selector and affinity", filter.NodeAffinity{}, selecting.NodeAffinity("zone=a").Obj(), []string{noAffinity, noAffinity, noAffinity, "Success"}},
		{"no terms", filter.NodeAffinity{}, podDemanding(), []string{noAffinity, noAffinity, noAffinity, noAffinity}},
		{"name", filter.NodeAffinity{}, podDemanding(isNamed("ssd")), []string{noAffinity, "Success", noAffinity, noAffinity}},
		{"a malformed term", filter.NodeAffinity{}, podDemanding(has("/"), has("disk")), []string{noAffinity, "Success", noAffinity, "Success"}},
		{"an empty selector", filter.NodeAffinity{}, api.MakePod("p").NodeSelector().Obj(), []string{"Success", "Success", "Success", "Success"}},
		{"added", addedZone, api.MakePod("p").Obj(), []string{noAdded, noAdded, "Success", "Success"}},
		{"added first", addedZone, selecting.Obj(), []string{noAdded, noAdded, noAffinity, "Success"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantVerdicts(t, s, test.plugin, test.pod, test.want...) })
	}
}

func TestNodeAffinityPreFilter(t *testing.T) {
	s := snapshotOf(t, affinityNodes())
	plain := api.MakePod("p").Obj()
	const conflict = "UnschedulableAndUnresolvable: pod affinity terms conflict"
	added := filter.NodeAffinity{AddedAffinity: demanding(has("zone"))}
	wantPreFilter(t, s, filter.NodeAffinity{}, plain, "Skip", false)
	wantPreFilter(t, s, filter.NodeAffinity{AddedAffinity: &api.NodeAffinity{}}, plain, "Skip", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, api.MakePod("p").PreferNodes(1, "zone=a").Obj(), "Skip", false)
	wantPreFilter(t, s, added, plain, "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, api.MakePod("p").NodeSelector().Obj(), "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(), "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(isNamed("b"), isNamed("a"), isNamed("b")), "Success", true, "a", "b")
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(isNamed("b"), has("zone")), "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(isNamed("a", "b")), conflict, false)
}

func TestNodeAffinityErrors(t *testing.T) {
	const text = "NodeAffinity: addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: " +
		`nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`
	bad := api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: "Exists"}}}
	plugin := filter.NodeAffinity{AddedAffinity: demanding(bad, has("zone"))}
	if err := plugin.Validate(); err == nil || err.Error() != text {
		t.Errorf("Validate = %v\nwant %s", err, text)
	}
	s := snapshotOf(t, affinityNodes())
	wantPreFilter(t, s, plugin, api.MakePod("p").Obj(), "Error: "+text, false)
	for _, valid := range []filter.NodeAffinity{{}, {AddedAffinity: &api.NodeAffinity{}}, {AddedAffinity: demanding(has("zone"))}} {
		if err := valid.Validate(); err != nil {
			t.Errorf("Validate of valid terms = %v", err)
		}
	}
}

// TestNodeAffinityMemory runs plugins of different configurations by turns in the
// same memory.
func TestNodeAffinityMemory(t *testing.T) {
	s := snapshotOf(t, affinityNodes())
	pod := podInfo(t, s, api.MakePod("p").NodeSelector().Obj())
	var c framework.Cycle
	for round, test := range []struct {
		added *api.NodeAffinity
		want  []string
	}{
		{nil, []string{"Success", "Success", "Success", "Success"}},
		{demanding(has("zone")), []string{noAdded, noAdded, "Success", "Success"}},
		{demanding(has("disk")), []string{noAdded, "Success", noAdded, "Success"}},
		{nil, []string{"Success", "Success", "Success", "Success"}},
	} {
		c.Reset(pod, s, 0, 0)
		got, _, _ := verdicts(&c, filter.NodeAffinity{AddedAffinity: test.added})
		if diff := cmp.Diff(test.want, texts(got)); diff != "" {
			t.Errorf("round %d: verdicts (-want +got):\n%s", round, diff)
		}
	}
}
