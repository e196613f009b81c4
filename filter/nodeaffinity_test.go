package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
)

const (
	noAffinity = "UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector"
	noAdded    = "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity"
)

func affinityNodes() []*framework.Node {
	return []*framework.Node{
		framework.MakeNode("plain", "4", "4Gi").Obj(),
		framework.MakeNode("ssd", "4", "4Gi").Labels("disk", "ssd").Obj(),
		framework.MakeNode("a", "4", "4Gi").Labels("zone", "a").Obj(),
		framework.MakeNode("both", "4", "4Gi").Labels("disk", "ssd", "zone", "a").Obj(),
	}
}

// demanding returns a node affinity of the terms.
func demanding(terms ...framework.NodeSelectorTerm) *framework.NodeAffinity {
	return &framework.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &framework.NodeSelector{NodeSelectorTerms: terms}}
}

func has(key string) framework.NodeSelectorTerm {
	return framework.NodeSelectorTerm{MatchExpressions: []framework.NodeSelectorRequirement{{Key: key, Operator: framework.NodeSelectorOpExists}}}
}

func isNamed(names ...string) framework.NodeSelectorTerm {
	var t framework.NodeSelectorTerm
	for _, name := range names {
		t.MatchFields = append(t.MatchFields, framework.NodeSelectorRequirement{Key: "metadata.name", Operator: framework.NodeSelectorOpIn, Values: []string{name}})
	}
	return t
}

func podDemanding(terms ...framework.NodeSelectorTerm) *framework.Pod {
	p := framework.MakePod("p").Obj()
	p.Spec.Affinity = &framework.Affinity{NodeAffinity: demanding(terms...)}
	return p
}

func TestNodeAffinity(t *testing.T) {
	s := snapshotOf(t, affinityNodes())
	selecting := framework.MakePod("p").NodeSelector("disk", "ssd")
	addedZone := filter.NodeAffinity{AddedAffinity: demanding(has("zone"))}
	tests := []struct {
		name   string
		plugin filter.NodeAffinity
		pod    *framework.Pod
		want   []string
	}{
		{"selector", filter.NodeAffinity{}, selecting.Obj(), []string{noAffinity, "Success", noAffinity, "Success"}},
		{"affinity", filter.NodeAffinity{}, podDemanding(has("zone")), []string{noAffinity, noAffinity, "Success", "Success"}},
		{"one of two terms", filter.NodeAffinity{}, podDemanding(has("zone"), has("disk")), []string{noAffinity, "Success", "Success", "Success"}},
		{"selector and affinity", filter.NodeAffinity{}, selecting.NodeAffinity("zone=a").Obj(), []string{noAffinity, noAffinity, noAffinity, "Success"}},
		{"no terms", filter.NodeAffinity{}, podDemanding(), []string{noAffinity, noAffinity, noAffinity, noAffinity}},
		{"name", filter.NodeAffinity{}, podDemanding(isNamed("ssd")), []string{noAffinity, "Success", noAffinity, noAffinity}},
		{"a malformed term", filter.NodeAffinity{}, podDemanding(has("/"), has("disk")), []string{noAffinity, "Success", noAffinity, "Success"}},
		{"an empty selector", filter.NodeAffinity{}, framework.MakePod("p").NodeSelector().Obj(), []string{"Success", "Success", "Success", "Success"}},
		{"added", addedZone, framework.MakePod("p").Obj(), []string{noAdded, noAdded, "Success", "Success"}},
		{"added first", addedZone, selecting.Obj(), []string{noAdded, noAdded, noAffinity, "Success"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantVerdicts(t, s, test.plugin, test.pod, test.want...) })
	}
}

func TestNodeAffinityPreFilter(t *testing.T) {
	s := snapshotOf(t, affinityNodes())
	plain := framework.MakePod("p").Obj()
	const conflict = "UnschedulableAndUnresolvable: pod affinity terms conflict"
	added := filter.NodeAffinity{AddedAffinity: demanding(has("zone"))}
	wantPreFilter(t, s, filter.NodeAffinity{}, plain, "Skip", false)
	wantPreFilter(t, s, filter.NodeAffinity{AddedAffinity: &framework.NodeAffinity{}}, plain, "Skip", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, framework.MakePod("p").PreferNodes(1, "zone=a").Obj(), "Skip", false)
	wantPreFilter(t, s, added, plain, "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, framework.MakePod("p").NodeSelector().Obj(), "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(), "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(isNamed("b"), isNamed("a"), isNamed("b")), "Success", true, "a", "b")
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(isNamed("b"), has("zone")), "Success", false)
	wantPreFilter(t, s, filter.NodeAffinity{}, podDemanding(isNamed("a", "b")), conflict, false)
}

func TestNodeAffinityErrors(t *testing.T) {
	const text = "NodeAffinity: addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: " +
		`nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`
	bad := framework.NodeSelectorTerm{MatchFields: []framework.NodeSelectorRequirement{{Key: "metadata.name", Operator: "Exists"}}}
	plugin := filter.NodeAffinity{AddedAffinity: demanding(bad, has("zone"))}
	if err := plugin.Validate(); err == nil || err.Error() != text {
		t.Errorf("Validate = %v\nwant %s", err, text)
	}
	s := snapshotOf(t, affinityNodes())
	wantPreFilter(t, s, plugin, framework.MakePod("p").Obj(), "Error: "+text, false)
	for _, valid := range []filter.NodeAffinity{{}, {AddedAffinity: &framework.NodeAffinity{}}, {AddedAffinity: demanding(has("zone"))}} {
		if err := valid.Validate(); err != nil {
			t.Errorf("Validate of valid terms = %v", err)
		}
	}
}

// TestNodeAffinityMemory lets plugins of different configurations take turns in
// the same memory.
func TestNodeAffinityMemory(t *testing.T) {
	s := snapshotOf(t, affinityNodes())
	pod := podInfo(t, s, framework.MakePod("p").NodeSelector().Obj())
	var c framework.Cycle
	for round, test := range []struct {
		added *framework.NodeAffinity
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
