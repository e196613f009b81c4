package multicluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func clusterOf(name string, change ...func(*api.Cluster)) *api.Cluster {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: name}}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestFilters(t *testing.T) {
	deployments := func(c *api.Cluster) {
		c.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "apps/v1", Resources: []api.APIResource{{Name: "deployments", Kind: "Deployment"}}}}
	}
	complete := func(c *api.Cluster) {
		c.Status.Conditions = []api.Condition{{Type: api.ClusterConditionCompleteAPIEnablements, Status: api.ConditionTrue}}
	}
	tainted := func(effect api.TaintEffect) func(*api.Cluster) {
		return func(c *api.Cluster) {
			c.Spec.Taints = append(c.Spec.Taints, api.Taint{Key: "k", Value: "v", Effect: effect})
		}
	}
	web := multicluster.Workload{APIVersion: "apps/v1", Kind: "Deployment"}
	here := web
	here.Clusters = targets("m", 1)
	tolerant := web
	tolerant.Placement.ClusterTolerations = []api.Toleration{{Key: "k", Operator: api.TolerationOpExists}}
	elsewhere := web
	elsewhere.Placement.ClusterAffinity = &multicluster.ClusterAffinity{ExcludeClusters: []string{"m"}}
	leaving := web
	leaving.Evicting = []string{"m"}
	spread := func(f multicluster.SpreadField) *multicluster.Workload {
		w := web
		w.Placement.SpreadConstraints = []multicluster.SpreadConstraint{{SpreadByField: f}}
		return &w
	}
	const noAPI = "cluster(s) did not have the API resource"
	for _, c := range []struct {
		name     string
		filter   multicluster.Filter
		workload *multicluster.Workload
		cluster  *api.Cluster
		want     string
	}{
		{"served", multicluster.APIEnablement{}, &web, clusterOf("m", deployments), ""},
		{"not served", multicluster.APIEnablement{}, &web, clusterOf("m"), noAPI},
		{"kind not said", multicluster.APIEnablement{}, &multicluster.Workload{}, clusterOf("m"), ""},
		{"not served any more", multicluster.APIEnablement{}, &here, clusterOf("m", complete), ""},
		{"not served any more, 1.13", multicluster.APIEnablement{OnlyIncomplete: true}, &here, clusterOf("m", complete), noAPI},
		{"list incomplete, 1.13", multicluster.APIEnablement{OnlyIncomplete: true}, &here, clusterOf("m"), ""},
		{"tainted", multicluster.TaintToleration{}, &web, clusterOf("m", tainted("NoSchedule")), "cluster(s) had untolerated taint {k=v:NoSchedule}"},
		{"tainted, tolerated", multicluster.TaintToleration{}, &tolerant, clusterOf("m", tainted("NoExecute")), ""},
		{"tainted, there already", multicluster.TaintToleration{}, &here, clusterOf("m", tainted("NoExecute")), ""},
		{"not preferred", multicluster.TaintToleration{}, &web, clusterOf("m", tainted("PreferNoSchedule")), ""},
		{"not selected", multicluster.Affinity{}, &elsewhere, clusterOf("m"), "cluster(s) did not match the placement cluster affinity constraint"},
		{"selected", multicluster.Affinity{}, &elsewhere, clusterOf("n"), ""},
		{"no provider", multicluster.SpreadProperties{}, spread("provider"), clusterOf("m"), "cluster(s) did not have provider property"},
		{"no region", multicluster.SpreadProperties{}, spread("region"), clusterOf("m"), "cluster(s) did not have region property"},
		{"no zones", multicluster.SpreadProperties{}, spread("zone"), clusterOf("m"), "cluster(s) did not have zones property"},
		{"old zone", multicluster.SpreadProperties{}, spread("zone"), clusterOf("m", func(c *api.Cluster) { c.Spec.Zone = "z" }), ""},
		{"by cluster", multicluster.SpreadProperties{}, spread("cluster"), clusterOf("m"), ""},
		{"leaving", multicluster.Eviction{}, &leaving, clusterOf("m"), "cluster(s) is in the process of eviction"},
		{"not leaving", multicluster.Eviction{}, &leaving, clusterOf("n"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.filter.Filter(c.workload, c.cluster)
			if got.Message() != c.want || got.IsRejected() != (c.want != "") {
				t.Errorf("%s: %v, want %q", c.filter.Name(), got, c.want)
			}
		})
	}
}

func TestLocality(t *testing.T) {
	w := &multicluster.Workload{Clusters: targets("m", 0)}
	if got := (multicluster.Locality{}).Score(w, clusterOf("m")); got != 100 {
		t.Errorf("Score = %d for a cluster that holds the workload, want 100", got)
	}
	if got := (multicluster.Locality{}).Score(w, clusterOf("n")); got != 0 {
		t.Errorf("Score = %d for another cluster, want 0", got)
	}
}

func TestClusterAffinityMatches(t *testing.T) {
	field := func(key string, op api.NodeSelectorOperator, values ...string) *multicluster.ClusterAffinity {
		return &multicluster.ClusterAffinity{FieldSelector: &multicluster.FieldSelector{
			MatchExpressions: []api.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}},
		}}
	}
	labels := func(s api.LabelSelector) *multicluster.ClusterAffinity {
		return &multicluster.ClusterAffinity{LabelSelector: &s}
	}
	all := map[string]*api.Cluster{
		"a": clusterOf("a", func(c *api.Cluster) {
			c.Labels = map[string]string{"tier": "gold"}
			c.Spec.Provider, c.Spec.Region, c.Spec.Zones = "p1", "r1", []string{"z1", "z2"}
		}),
		"b": clusterOf("b", func(c *api.Cluster) {
			c.Spec.Provider, c.Spec.Zones = "p2", []string{"z3"}
		}),
		"c": clusterOf("c"),
	}
	for _, c := range []struct {
		name     string
		affinity *multicluster.ClusterAffinity
		want     []string
	}{
		{"nothing asked", &multicluster.ClusterAffinity{}, []string{"a", "b", "c"}},
		{"names", &multicluster.ClusterAffinity{ClusterNames: []string{"a", "c"}}, []string{"a", "c"}},
		{"excluded though named", &multicluster.ClusterAffinity{ClusterNames: []string{"a", "c"}, ExcludeClusters: []string{"a"}}, []string{"c"}},
		{"label", labels(api.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}), []string{"a"}},
		{"malformed label", labels(api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "tier", Operator: "In"}}}), nil},
		{"provider", field("provider", "In", "p1"), []string{"a"}},
		{"not the provider", field("provider", "NotIn", "p1"), []string{"b", "c"}},
		{"some region", field("region", "Exists"), []string{"a"}},
		{"all zones among", field("zone", "In", "z1", "z2", "z3"), []string{"a", "b"}},
		{"some zone among", field("zone", "In", "z1"), []string{"a"}},
		{"no zone of", field("zone", "NotIn", "z2"), []string{"b", "c"}},
		{"zones", field("zone", "Exists"), []string{"a", "b"}},
		{"no zones", field("zone", "DoesNotExist"), []string{"c"}},
		{"zones cannot be compared", field("zone", "Gt", "1"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, name := range []string{"a", "b", "c"} {
				if c.affinity.Matches(all[name]) {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Matches differs (-want +got):\n%s", diff)
			}
		})
	}
	// Up to 1.16, In selects a cluster only if all of its zones are among the
	// values.
	for _, values := range [][]string{{"z1"}, {"z1", "z2", "z3"}} {
		w := &multicluster.Workload{Placement: multicluster.Placement{ClusterAffinity: field("zone", "In", values...)}}
		got := multicluster.Affinity{Zones: multicluster.EveryZone}.Filter(w, all["a"]).IsSuccess()
		if want := len(values) == 3; got != want {
			t.Errorf("EveryZone: In %v matches zones %v = %v, want %v", values, all["a"].Spec.Zones, got, want)
		}
	}
	if (&multicluster.ClusterAffinity{}).Matches(nil) || !(*multicluster.ClusterAffinity)(nil).Matches(all["a"]) {
		t.Error("a nil cluster is selected, or a nil affinity selects none")
	}
}
