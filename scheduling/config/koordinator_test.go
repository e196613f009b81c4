package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/google/go-cmp/cmp"
)

// koordinatorMap is the ConfigMap of the article about Koordinator's load-aware
// scheduling.
const koordinatorMap = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: koord-scheduler-config
data:
  koord-scheduler-config: |
    apiVersion: kubescheduler.config.k8s.io/v1beta2
    kind: KubeSchedulerConfiguration
    profiles:
      - schedulerName: koord-scheduler
        plugins:
          filter:
            enabled:
              - name: LoadAwareScheduling
          score:
            enabled:
              - name: LoadAwareScheduling
                weight: 1
          reserve:
            enabled:
              - name: LoadAwareScheduling
        pluginConfig:
        - name: LoadAwareScheduling
          args:
            apiVersion: kubescheduler.config.k8s.io/v1beta2
            kind: LoadAwareSchedulingArgs
            filterExpiredNodeMetrics: true
            nodeMetricExpirationSeconds: 300
            resourceWeights:
              cpu: 1
              memory: 1
            usageThresholds:
              cpu: 75
              memory: 85
            prodUsageThresholds:
              cpu: 55
              memory: 65
            scoreAccordingProdUsage: true
            estimatedScalingFactors:
              cpu: 80
              memory: 70
            aggregated:
              usageThresholds:
                cpu: 65
                memory: 75
              usageAggregationType: "p99"
              scoreAggregationType: "p99"
`

// koordinatorFile returns the file in the ConfigMap.
func koordinatorFile(t *testing.T) string {
	t.Helper()
	documents, err := config.YAMLToJSON([]byte(koordinatorMap))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Data map[string]string }
	if err := json.Unmarshal(documents[0], &m); err != nil {
		t.Fatal(err)
	}
	return m.Data["koord-scheduler-config"]
}

// allRules are the versions of Koordinator that the file is loaded for.
var allRules = []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18}

// koordinator makes the profile of a file by the rules of a version.
func koordinator(t *testing.T, file string, rules estimator.Rules) scheduling.Profile {
	t.Helper()
	r := scheduling.Kubernetes137Registry()
	if err := r.Register("LoadAwareScheduling", scheduling.RegisterLoadAware(rules, estimator.KnownEstimators())); err != nil {
		t.Fatal(err)
	}
	p := build(t, file, config.LoadConfig{Registry: r}).Profiles[0]
	p.Parallelism, p.Cache.Verify = 1, true
	return p
}

// TestKoordinator loads the article's file unchanged and runs it: each of five pods
// goes where the metrics, and the estimates of its still unmeasured predecessors,
// allow. Once a metric shows how little they use, there is room again.
func TestKoordinator(t *testing.T) {
	for _, rules := range allRules {
		t.Run(string(rules), func(t *testing.T) {
			p := koordinator(t, koordinatorFile(t), rules)
			last := p.Score[len(p.Score)-1]
			if p.Name != "koord-scheduler" || last.Plugin.Name() != "LoadAwareScheduling" || last.Weight != 1 ||
				p.Filter[len(p.Filter)-1].Name() != "LoadAwareScheduling" || p.Reserve[len(p.Reserve)-1].Name() != "LoadAwareScheduling" {
				t.Fatalf("profile %q: %v", p.Name, kinds(p))
			}
			c := newMeasured(t)
			s, err := scheduling.New(p)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range 5 {
				got = append(got, c.place(t, s, i))
			}
			// The estimate of a pod is 80 % of its 2 cores. On n1 there are 1000m in
			// use and two such pods, on n2 2000m and two: another one makes 58 % and
			// 68 %, and the threshold is 55 %. Up to 1.5 filters ignore estimates,
			// but scores use them: 42 on n1, 32 on n2.
			want, then := []string{"n1", "n2", "n1", "n2", "0/2 nodes are available: 2 node(s) cpu usage exceed threshold."}, "n1"
			if rules == estimator.Koordinator14 || rules == estimator.Koordinator15 {
				want[4], then = "n1", "n2" // n1 has one pod more by now
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("placements (-want +got):\n%s", diff)
			}
			c.report(t, c.snap.Now().Add(5*time.Minute), map[string]int64{"p0": 100, "p1": 100, "p2": 100, "p3": 100, "p4": 100})
			if got := c.place(t, s, 5); got != then {
				t.Errorf("once measured: %s, want %s", got, then)
			}
		})
	}
}

// TestKoordinatorExpired asks to use expired metrics. A conversion of versions
// before v1, which 1.6 was the first to know, loses that setting.
func TestKoordinatorExpired(t *testing.T) {
	const refused = "0/1 nodes are available: 1 node(s) nodeMetric expired."
	file := `apiVersion: kubescheduler.config.k8s.io/%s
kind: KubeSchedulerConfiguration
profiles:
  - plugins: {filter: {enabled: [{name: LoadAwareScheduling}]}}
    pluginConfig:
      - name: LoadAwareScheduling
        args: {%s filterExpiredNodeMetrics: false}
`
	for _, rules := range allRules {
		for _, version := range []string{"v1beta2", "v1beta3", "v1"} {
			for _, given := range []string{"", `apiVersion: "", `, "apiVersion: kubescheduler.config.k8s.io/" + version + ", kind: LoadAwareSchedulingArgs,"} {
				want := refused
				switch {
				case rules == estimator.Koordinator14: // an expired metric never rejects
					want = "n1"
				case rules == estimator.Koordinator18, rules == estimator.Koordinator16 && version == "v1":
					want = "n1"
				}
				s, err := scheduling.New(koordinator(t, fmt.Sprintf(file, version, given), rules))
				if err != nil {
					t.Fatal(err)
				}
				c := newMeasured(t)
				if err := c.snap.RemoveNode("n2"); err != nil {
					t.Fatal(err)
				}
				c.snap.SetNow(c.snap.Now().Add(time.Hour))
				if got := c.place(t, s, 0); got != want {
					t.Errorf("rules %s, version %s, arguments {%s}: %s, want %s", rules, version, given, got, want)
				}
			}
		}
	}
}

// TestKoordinatorReserve lets the load-aware score alone decide: the file disables
// the others. The second pod goes elsewhere because the first is reserved. After
// Unreserve the ledger is as before, and the second pod goes where the first one
// went.
func TestKoordinatorReserve(t *testing.T) {
	file := strings.Replace(koordinatorFile(t), "score:\n", "score:\n        disabled: [{name: \"*\"}]\n", 1)
	for _, rules := range allRules {
		t.Run(string(rules), func(t *testing.T) {
			p := koordinator(t, file, rules)
			if len(p.Score) != 1 {
				t.Fatalf("scorers: %v, want one", kinds(p)["score"])
			}
			s, err := scheduling.New(p)
			if err != nil {
				t.Fatal(err)
			}
			c := newMeasured(t)
			first, second := c.prod(t, "p0"), c.prod(t, "p1")
			decide := func() string {
				t.Helper()
				d, err := s.Schedule(c.snap, second)
				if err != nil {
					t.Fatal(err)
				}
				return d.Node
			}
			before := c.scores(s, second)
			// n1: cpu 100-10-16, memory 100-10-7; n2: cpu 100-20-16. Truncated.
			if diff := cmp.Diff(map[string]int64{"n1": 78, "n2": 73}, before); diff != "" {
				t.Errorf("scores before (-want +got):\n%s", diff)
			}
			if got := decide(); got != "n1" {
				t.Fatalf("without a reservation: %s, want n1", got)
			}

			// The plugin alone, as in a program that keeps its pods elsewhere.
			reserve := p.Reserve[len(p.Reserve)-1].(framework.ReservePlugin)
			cycle := new(framework.Cycle)
			cycle.Reset(first, c.snap, 1, 1)
			if st := reserve.Reserve(cycle, c.snap.Node("n1")); !st.IsSuccess() {
				t.Fatalf("Reserve: %v", st)
			}
			// n1: cpu 100-10-2*16, memory 100-10-14.001, as estimates are rounded up.
			if diff := cmp.Diff(map[string]int64{"n1": 66, "n2": 73}, c.scores(s, second)); diff != "" {
				t.Errorf("scores with a reservation (-want +got):\n%s", diff)
			}
			if got := decide(); got != "n2" {
				t.Errorf("with a reservation on n1: %s, want n2", got)
			}
			reserve.Unreserve(cycle, c.snap.Node("n1"))
			reserve.Unreserve(cycle, c.snap.Node("n1")) // may be called twice
			if diff := cmp.Diff(before, c.scores(s, second)); diff != "" {
				t.Errorf("scores after Unreserve (-want +got):\n%s", diff)
			}

			// The whole cycle does the same, and reverts it on failure.
			if d, err := s.Place(c.snap, first); err != nil || d.Node != "n1" {
				t.Fatalf("the first pod: %s, %v, want n1", d.Node, err)
			}
			if got := decide(); got != "n2" {
				t.Errorf("after the first pod: %s, want n2", got)
			}
			if err := s.Release(c.snap, first, "n1"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, c.scores(s, second)); diff != "" {
				t.Errorf("scores after Release (-want +got):\n%s", diff)
			}
		})
	}
}

// measured is a cluster of two nodes with metrics, each with a prod pod that has
// run for an hour: it uses 1000m of n1's 10 cores, and 2000m of n2's.
type measured struct {
	snap *framework.Snapshot
	old  map[string]int64 // use of the first pods
}

func newMeasured(t *testing.T) *measured {
	t.Helper()
	c := &measured{snap: framework.NewSnapshot(framework.Arrival), old: map[string]int64{"old-n1": 1000, "old-n2": 2000}}
	start := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	c.snap.SetNow(start)
	estimator.LedgerOf(c.snap) // records when the pods arrived
	for _, name := range []string{"n1", "n2"} {
		if err := c.snap.AddNode(api.MakeNode(name, "10", "10Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		old, err := c.snap.NewPodInfo(api.MakePod("old-"+name).UID(api.UID("old-"+name)).Requests("100m", "100Mi").Priority(9500).Obj())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.snap.AddPod(old, name); err != nil {
			t.Fatal(err)
		}
	}
	c.report(t, start.Add(time.Hour), nil)
	return c
}

// prod makes a pod of 2 cores.
func (c *measured) prod(t *testing.T, name string) *framework.PodInfo {
	t.Helper()
	pod, err := c.snap.NewPodInfo(api.MakePod(name).UID(api.UID(name)).Requests("2", "1Gi").Priority(9500).Obj())
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// place places another pod, and returns the node or the reason for failure.
func (c *measured) place(t *testing.T, s *scheduling.Scheduler, i int) string {
	t.Helper()
	d, err := s.Place(c.snap, c.prod(t, fmt.Sprint("p", i)))
	if err != nil {
		return err.Error()
	}
	return d.Node
}

// report makes both nodes report, at a time, the use of their pods in thousandths of
// a core.
func (c *measured) report(t *testing.T, at time.Time, cpu map[string]int64) {
	t.Helper()
	c.snap.SetNow(at)
	use := func(cpu, memory int64) api.ResourceMap {
		return api.ResourceMapOf(resource.List{
			resource.CPU: resource.Milli(cpu), resource.Memory: resource.New(memory, resource.BinarySI),
		})
	}
	for _, n := range c.snap.All() {
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: n.Name()}}
		var total int64
		for _, p := range n.Pods {
			used, old := c.old[p.Pod.Name]
			if !old {
				used = cpu[p.Pod.Name]
			}
			total += used
			m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
				Name: p.Pod.Name, Namespace: p.Pod.Namespace, Priority: string(estimator.PriorityProd), PodUsage: use(used, 1<<30),
			})
		}
		m.Status.UpdateTime = &at
		whole := use(total, int64(len(n.Pods))<<30)
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: whole, AggregatedNodeUsages: []api.AggregatedUsage{
			{Duration: api.Duration{Duration: 5 * time.Minute}, Usage: map[api.AggregationType]api.ResourceMap{api.P99: whole}},
		}}
		if err := estimator.LedgerOf(c.snap).SetMetric(m); err != nil {
			t.Fatal(err)
		}
	}
}

// scores returns the load-aware score of each node for the pod.
func (c *measured) scores(s *scheduling.Scheduler, pod *framework.PodInfo) map[string]int64 {
	out := map[string]int64{}
	for _, n := range s.Explain(c.snap, pod).Nodes {
		for _, score := range n.Scores {
			if score.Plugin == "LoadAwareScheduling" {
				out[n.Node] = score.Raw
			}
		}
	}
	return out
}
