//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/google/go-cmp/cmp"
)

// inquirer is a PostFilter plugin that asks for the verdict of every node.
type inquirer struct{ log *[]string }

func (inquirer) Name() string { return "inquirer" }

func (p inquirer) PostFilter(_ context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	for _, n := range c.Snapshot.All() {
		plugin, status := v.Verdict(n)
		*p.log = append(*p.log, fmt.Sprintf("%s: %s %s", n.Name(), plugin, status))
	}
	return framework.PostFiltered{}, framework.UnschedulableStatus("asked")
}

// hush is a PreFilter plugin that skips PostFilter for some pods.
type hush struct{}

func (hush) Name() string { return "hush" }

func (hush) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	c.Runner().SetSkipPostFilter(c.Pod.Pod.Labels["hush"] != "")
	return framework.PreFiltered{}, framework.SkipStatus()
}

// bouncer is a PreFilter plugin that rejects a pod as its label says.
type bouncer struct{}

func (bouncer) Name() string { return "bouncer" }

func (bouncer) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	switch c.Pod.Pod.Labels["bounce"] {
	case "now":
		return framework.PreFiltered{}, framework.UnschedulableStatus("not now")
	case "ever":
		return framework.PreFiltered{}, framework.UnresolvableStatus("never")
	}
	return framework.PreFiltered{}, framework.SkipStatus()
}

// TestVerdictsReachPostFilter: PostFilter plugins see which plugin rejected each
// node, and whether removing pods could help. The flag that skips them works.
func TestVerdictsReachPostFilter(t *testing.T) {
	for _, tt := range []struct {
		name    string
		pod     api.PodBuilder
		only    string // the only node that the pod asks for
		message string
		want    []string
	}{
		{
			"by filters", api.MakePod("p").Requests("3", "1Gi"), "",
			"0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu. asked",
			[]string{
				"busy: NodeResourcesFit Unschedulable: Insufficient cpu",
				"small: NodeResourcesFit UnschedulableAndUnresolvable: Insufficient cpu",
				"cordoned: NodeUnschedulable UnschedulableAndUnresolvable: node(s) were unschedulable",
				"tainted: TaintToleration UnschedulableAndUnresolvable: node(s) had untolerated taint(s)",
			},
		},
		{
			"left out", api.MakePod("p").Requests("3", "1Gi"), "busy",
			"0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. asked",
			[]string{
				"busy: NodeResourcesFit Unschedulable: Insufficient cpu",
				"small:  UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) [NodeAffinity]",
				"cordoned:  UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) [NodeAffinity]",
				"tainted:  UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) [NodeAffinity]",
			},
		},
		{
			"before any node", api.MakePod("p").Labels("bounce", "now"), "", "0/4 nodes are available: not now. asked",
			[]string{
				"busy: bouncer Unschedulable: not now", "small: bouncer Unschedulable: not now",
				"cordoned: bouncer Unschedulable: not now", "tainted: bouncer Unschedulable: not now",
			},
		},
		{
			"before any node, for good", api.MakePod("p").Labels("bounce", "ever"), "", "0/4 nodes are available: never. asked",
			[]string{
				"busy: bouncer UnschedulableAndUnresolvable: never", "small: bouncer UnschedulableAndUnresolvable: never",
				"cordoned: bouncer UnschedulableAndUnresolvable: never", "tainted: bouncer UnschedulableAndUnresolvable: never",
			},
		},
		{
			"skipped", api.MakePod("p").Requests("9", "1Gi").Tolerates("").Labels("hush", "yes"), "",
			"0/4 nodes are available: 4 Insufficient cpu. All PostFilter plugins are skipped", nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			p := scheduling.Profile{
				PreFilter:  []framework.Plugin{hush{}, bouncer{}, filter.NodeAffinity{}, filter.NodeResourcesFit{}, filter.NodeUnschedulable{}},
				Filter:     []framework.Plugin{filter.NodeUnschedulable{}, filter.TaintToleration{}, filter.NodeAffinity{}, filter.NodeResourcesFit{}},
				PostFilter: []framework.Plugin{inquirer{&log}},
			}
			w := newWorld(t, p)
			w.nodes(
				api.MakeNode("busy", "4", "8Gi"), api.MakeNode("small", "1", "8Gi"),
				api.MakeNode("cordoned", "4", "8Gi").Unschedulable(), api.MakeNode("tainted", "4", "8Gi").Taint("a:NoSchedule"),
			)
			w.pods(api.MakePod("other").Requests("2", "1Gi").Node("busy"))
			pod := tt.pod.Obj()
			if tt.only != "" {
				pod.Spec.Affinity = &api.Affinity{NodeAffinity: named(tt.only)}
			}
			w.d.Apply(lifecycle.Update(pod))
			if a := w.one(); fmt.Sprint(a.Err) != tt.message {
				t.Errorf("error %q, want %q", a.Err, tt.message)
			}
			if diff := cmp.Diff(tt.want, log); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			w.noProblems()
		})
	}
}

func named(node string) *api.NodeAffinity {
	return &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{node}}},
	}}}}
}
