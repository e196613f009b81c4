package estimator_test

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// noon is the time of the examples.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// measuredNode returns a snapshot with a node of 10 CPUs; 4 were in use a minute
// ago.
func measuredNode() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	s.SetNow(noon)
	if err := s.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()); err != nil {
		panic(err)
	}
	at := noon.Add(-time.Minute)
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n1"}}
	m.Status.UpdateTime = &at
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{
		resource.CPU: resource.MustParse("4"), resource.Memory: resource.MustParse("2Gi"),
	})}
	if err := estimator.LedgerOf(s).SetMetric(m); err != nil {
		panic(err)
	}
	return s
}

// podOf derives a pod with these requests.
func podOf(s *framework.Snapshot, cpu, memory string) *framework.PodInfo {
	p, err := s.NewPodInfo(api.MakePod("web").Requests(cpu, memory).Obj())
	if err != nil {
		panic(err)
	}
	return p
}

// loadOf prepares a valid configuration.
func loadOf(c estimator.LoadConfig) *estimator.Load {
	l, err := estimator.NewLoad(c)
	if err != nil {
		panic(err)
	}
	return l
}

// A new pod does not show in the last report of its node. The ledger adds its
// expected use: 85 percent of its 2 CPUs.
func ExampleLedger() {
	s := measuredNode()
	load := loadOf(estimator.LoadConfig{})
	var ledger *estimator.Ledger = estimator.LedgerOf(s)
	fmt.Println("reported:", ledger.Metric(s.Node("n1")).Status.NodeMetric.NodeUsage.Quantity(resource.CPU))
	fmt.Println("expected:", load.View(s).Use(s.Node("n1"), estimator.WholeForFilter)[0])
	if err := s.AddPod(podOf(s, "2", "1Gi"), "n1"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("with the pod:", load.View(s).Use(s.Node("n1"), estimator.WholeForFilter)[0])
	// Output:
	// reported: 4
	// expected: 4000
	// with the pod: 5700
}

// Filters and scorers read these values of a ledger for one Load: the use for the
// filter, the use for the score, and when they expire.
func ExampleView() {
	s := measuredNode()
	var v estimator.View = loadOf(estimator.LoadConfig{Expiration: 3 * time.Minute}).View(s)
	n := s.Node("n1")
	for _, basis := range []estimator.Basis{estimator.WholeForFilter, estimator.WholeForScore} {
		fmt.Println(v.Use(n, basis))
	}
	fmt.Println(v.Measured(n), v.Expired(n), v.ValidUntil(n).Sub(noon))
	// Output:
	// [4000 2147483648]
	// [4000 2147483648]
	// true false 2m0s
}

// Prepare a configuration once; filter and score share it.
func ExampleLoad() {
	var load *estimator.Load = loadOf(estimator.LoadConfig{
		Rules:      estimator.Koordinator16,
		Thresholds: map[resource.Name]int64{resource.CPU: 50},
		Expired:    estimator.RejectExpired,
		Aggregated: &estimator.Aggregated{
			Type: api.P95, Duration: 5 * time.Minute, Thresholds: map[resource.Name]int64{resource.CPU: 70},
		},
	})
	fmt.Println(load.Config().Rules, load.Resources(), load.Weights())
	// Output: 1.6 [cpu memory] [1 1]
}

// A Load derives the limits of a node, and the answer if one is exceeded.
func ExampleNodeLoad() {
	s := measuredNode()
	var n *estimator.NodeLoad = loadOf(estimator.LoadConfig{}).Node(s.Node("n1"))
	var whole estimator.Thresholds = n.Whole
	for _, limit := range whole.Limits {
		var l estimator.Limit = limit
		fmt.Printf("%s: %d%% of %d: %v\n", n.Resources[l.Resource], l.Percent, l.Allocatable, l.Exceeded)
	}
	// Output:
	// cpu: 65% of 10000: Unschedulable: node(s) cpu usage exceed threshold
	// memory: 95% of 10737418240: Unschedulable: node(s) memory usage exceed threshold
}

// A Load derives the estimate and the class of a pod.
func ExamplePodLoad() {
	s := measuredNode()
	pod, err := s.NewPodInfo(api.MakePod("web").Requests("2", "1Gi").Labels("koordinator.sh/priority-class", "koord-prod").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var p *estimator.PodLoad = loadOf(estimator.LoadConfig{}).Pod(pod)
	fmt.Println(p.Class == estimator.PriorityProd, p.Prod, p.Estimate[0])
	// Output: true true 1700
}

// Assigner is for runners that reserve before they count the pod on its node.
func ExampleAssigner() {
	s := measuredNode()
	n := s.Node("n1")
	load := loadOf(estimator.LoadConfig{})
	var c framework.Cycle
	c.Reset(podOf(s, "2", "1Gi"), s, 0, 0)
	fmt.Println(estimator.Assigner{}.Reserve(&c, n), load.View(s).Use(n, estimator.WholeForFilter)[0])
	estimator.Assigner{}.Unreserve(&c, n)
	fmt.Println(load.View(s).Use(n, estimator.WholeForFilter)[0])
	// Output:
	// Success 5700
	// 4000
}

// Sums saturate within int64; Koordinator's wrap around.
func ExampleArithmetic() {
	const huge = 1<<63 - 1
	fmt.Println(estimator.Saturating.Add(huge, 1) == huge, estimator.Saturating.Percent(30, 40))
	// Output: true 75
}

// byLabel takes the expected use of a pod from one of its labels.
type byLabel struct{ estimator.Estimator }

func (byLabel) EstimatePod(p *api.Pod) (map[resource.Name]int64, error) {
	q, err := resource.Parse(p.Labels["example.com/cpu"])
	if err != nil {
		return nil, err
	}
	return map[resource.Name]int64{resource.CPU: q.MilliValue()}, nil
}

// PodReads makes pods with equal labels one class.
func (byLabel) PodReads() framework.PodFields { return framework.FieldLabels }

// If an estimator declares its reads, the scheduler can cache its answers.
func ExamplePodReader() {
	e := byLabel{estimator.NewDefaultEstimator(estimator.LoadConfig{})}
	var reader estimator.PodReader = e
	use, err := e.EstimatePod(api.MakePod("web").Labels("example.com/cpu", "1500m").Obj())
	fmt.Println(use, err, reader.PodReads() == framework.FieldLabels)
	// Output: map[cpu:1500] <nil> true
}
