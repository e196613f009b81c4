package frameworktest_test

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
)

func high(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return 101 }

// Check joins the failures, each with all that is needed to find the place.
func TestCheckReports(t *testing.T) {
	meddler := bindScore(func(_ *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
		feasible[0].AllowedPods++
		return scoreFunc(high)
	})
	err := frameworktest.Check(meddler, frameworktest.Config{Seed: 5, Clusters: 2})
	want := []string{ // what the generator decides is left out
		"PreScorer: mutation: cluster 5, node node-*: allocatable, afterwards = [*] *, want [*] *",
		"PreScorer: bounds: cluster 5, pod * node node-*: score, which nothing normalizes, = 101, want 0 to 100",
		"PreScorer: exercise: clusters 5 to 6: pods for which two feasible nodes had different scores = 0, want one or more*Unexercised[frameworktest.Ranks])",
	}
	var got []string
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		got = append(got, err.Error())
	}
	if len(got) != len(want) {
		t.Fatalf("failures:\n%s\nwant %d", strings.Join(got, "\n"), len(want))
	}
	for i := range want {
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(want[i]), `\*`, ".*") + "$"
		if !regexp.MustCompile(pattern).MatchString(got[i]) {
			t.Errorf("failure %d is\n  %s\nwant one like\n  %s", i, got[i], want[i])
		}
	}
	var f *frameworktest.Failure
	if !errors.As(errors.Join(err.(interface{ Unwrap() []error }).Unwrap()[1:]...), &f) || f.Plugin != "PreScorer" || f.Check != "bounds" || f.Cluster != 5 || f.Node == "" || f.Got != "101" || f.Want != "0 to 100" {
		t.Errorf("errors.As finds %+v", f)
	}
}

func TestCheckPasses(t *testing.T) {
	if err := frameworktest.Check(nameFunc(func() string { return "Silent" })); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
}

func TestCheckRefuses(t *testing.T) {
	if err := frameworktest.Check(nil); err == nil || err.Error() != "frameworktest: the plugin is nil" {
		t.Errorf("Check(nil) = %v", err)
	}
	panics := nameFunc(func() string { panic("nobody") })
	if err := frameworktest.Check(panics); err == nil || err.Error() != "name: cluster 0: Name() = a panic: nobody, want a name" {
		t.Errorf("Check of a plugin whose Name panics = %v", err)
	}
	defer func() {
		if v := recover(); v != "frameworktest: 2 Configs, want one at most" {
			t.Errorf("two Config: %v", v)
		}
	}()
	_ = frameworktest.Check(scoreFunc(high), frameworktest.Config{}, frameworktest.Config{})
}

// The author's clusters come beside those of the kit, and are prepared.
func TestConfig(t *testing.T) {
	own := func(seed uint64) *api.Objects {
		o := frameworktest.Cluster(seed)
		for _, n := range o.Nodes {
			n.Labels = map[string]string{"own": "yes"}
		}
		return o
	}
	rare := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		if n.Node.Labels["own"] == "yes" {
			return 101
		}
		return 0
	})
	if f := checkOnly(t, "bounds", rare, frameworktest.Config{}); f != nil {
		t.Errorf("a score that needs the author's label fails without it: %v", f)
	}
	if f := checkOnly(t, "bounds", rare, frameworktest.Config{Generate: own}); f == nil {
		t.Error("the author's clusters were not used")
	}
	prepared := preScoreFunc(func(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
		if framework.Lookup[api.Service](c.Snapshot, "default/prepared") == nil {
			return nil, framework.UnschedulableStatus("not prepared")
		}
		return scoreFunc(high), framework.Status{}
	})
	prepare := func(s *framework.Snapshot) error {
		return framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "prepared"}})
	}
	if f := checkOnly(t, "bounds", prepared, frameworktest.Config{Prepare: prepare}); f == nil {
		t.Error("the snapshots were not prepared")
	}
	fails := func(*framework.Snapshot) error { return errors.New("no metrics") }
	f := checkOnly(t, "bounds", rare, frameworktest.Config{Prepare: fails})
	if f == nil || f.Got != "the option Prepare: no metrics" {
		t.Errorf("a Prepare that fails is reported as %v", f)
	}
	double := func(seed uint64) *api.Objects {
		o := frameworktest.Cluster(seed)
		o.Nodes = append(o.Nodes, api.MakeNode("twin", "1", "").Obj(), api.MakeNode("twin", "1", "").Obj())
		return o
	}
	f = checkOnly(t, "bounds", rare, frameworktest.Config{Generate: double})
	if f == nil || f.Got != `the generator's objects: node twin: metadata.name: "twin": there is already a node of this name` {
		t.Errorf("a generator of bad objects is reported as %v", f)
	}
}

// A wrapper is tested like what is inside.
func TestWrapped(t *testing.T) {
	f := checkOnly(t, "bounds", scoped{Plugin: scoped{Plugin: scoreFunc(high)}}, frameworktest.Config{})
	if f == nil || f.Plugin != "Scorer" {
		t.Errorf("a wrapped scorer that is out of bounds is reported as %v", f)
	}
}

// The clusters are made once for all checks, unless the plugin changes what it
// is given: then every check has its own.
func TestClustersAreMadeOnce(t *testing.T) {
	made := 0
	config := frameworktest.Config{Clusters: 3, Generate: func(seed uint64) *api.Objects {
		made++
		return frameworktest.Cluster(seed)
	}}
	if err := frameworktest.Check(scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return min(100, pods(n)) }), config); err != nil {
		t.Error(err)
	}
	if made != config.Clusters {
		t.Errorf("%d clusters were made, want %d", made, config.Clusters)
	}
	made = 0
	var mu sync.Mutex // the kit asks from several goroutines
	cordons := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		mu.Lock()
		defer mu.Unlock()
		n.Node.Spec.Unschedulable = true
		return min(100, pods(n))
	})
	var f *frameworktest.Failure
	if err := frameworktest.Check(cordons, config); !errors.As(err, &f) || f.Check != "mutation" {
		t.Errorf("a plugin that cordons: %v", err)
	}
	if made <= config.Clusters {
		t.Errorf("%d clusters were made for a plugin that changes them, want new ones for each check", made)
	}
}

// checkOnly makes one check, and returns its failure, nil if there is none.
func checkOnly(t *testing.T, name string, p framework.Plugin, c frameworktest.Config) *frameworktest.Failure {
	t.Helper()
	c.Only = name
	err := frameworktest.Check(p, c)
	var failure *frameworktest.Failure
	if err != nil && !errors.As(err, &failure) {
		t.Fatal(err)
	}
	return failure
}

// A name that no check has is an error, not a test that checks nothing.
func TestOnlyUnknown(t *testing.T) {
	if err := frameworktest.Check(nameFunc(func() string { return "Silent" }), frameworktest.Config{Only: "scopes"}); err == nil || !strings.Contains(err.Error(), "scopes") {
		t.Errorf("error %v, want one that names the check", err)
	}
}
