package framework_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Spare prefers nodes with few pods. It is a whole plugin.
type Spare struct{}

func (Spare) Name() string { return "Spare" }

func (Spare) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return max(0, 100-int64(len(node.Pods)))
}

func ExampleScorePlugin() {
	s, p := twoNodes()
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	var plugin framework.ScorePlugin = Spare{}
	for _, n := range s.All() {
		fmt.Println(plugin.Name(), n.Name(), plugin.Score(p, n))
	}
	// Output:
	// Spare n1 99
	// Spare n2 100
}

// Quay keeps pods on nodes of the quay that their label asks for.
type Quay struct{}

func (Quay) Name() string { return "Quay" }

func (Quay) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if want := pod.Pod.Labels["quay"]; want != "" && node.Node.Labels["quay"] != want {
		return framework.UnresolvableStatus("node(s) were on another quay")
	}
	return framework.Status{}
}

// Scope makes Quay fast: its answers can be kept for all pods of one quay.
func (Quay) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldLabels, Reads: framework.ReadsNode}
}

func ExampleFilterPlugin() {
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("ship").Labels("quay", "north").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var plugin framework.FilterPlugin = Quay{}
	fmt.Println(plugin.Filter(p, s.At(0)))
	// Output: UnschedulableAndUnresolvable: node(s) were on another quay
}

func ExampleScoper() {
	s, p := twoNodes()
	var plugin framework.Scoper = Quay{}
	scope := plugin.Scope(p)
	other, err := s.NewPodInfo(api.MakePod("another").Requests("2", "2Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("one class:", p.ClassKey(scope.Pod) == other.ClassKey(scope.Pod))
	fmt.Println("follows the pods of the node:", scope.Reads&framework.ReadsPods != 0)
	// Output:
	// one class: true
	// follows the pods of the node: false
}

// logged writes down who is asked and passes everything on.
type logged struct{ framework.Plugin }

func (l logged) Unwrap() framework.Plugin { return l.Plugin }

// Optional interfaces are found through wrappers.
func ExampleAs() {
	wrapped := logged{Quay{}}
	_, filters := framework.As[framework.FilterPlugin](wrapped)
	_, scores := framework.As[framework.ScorePlugin](wrapped)
	fmt.Println(filters, scores)
	// Output: true false
}

// Tide closes nodes on shallow quays while the tide is low. What it computes
// for one pod is in the filter that PreFilter returns.
type Tide struct{ Low bool }

func (Tide) Name() string { return "Tide" }

func (t Tide) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if !t.Low || c.Pod.Pod.Labels["draught"] == "" {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	deep := framework.Scratch[tideFilter](c)
	deep.quays = append(deep.quays[:0], "north", "east")
	return framework.PreFiltered{Filter: deep}, framework.Status{}
}

type tideFilter struct{ quays []string }

func (f *tideFilter) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	for _, quay := range f.quays {
		if node.Node.Labels["quay"] == quay {
			return framework.Status{}
		}
	}
	return framework.UnschedulableStatus("node(s) had too little water")
}

func ExamplePreFilterPlugin() {
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("ship").Labels("draught", "deep").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(p, s, 0, 0)
	bound, status := Tide{Low: true}.PreFilter(&c)
	fmt.Println(status)
	fmt.Println(bound.Filter.Filter(p, s.At(0)))
	_, status = framework.PreFilterPlugin(Tide{}).PreFilter(&c)
	fmt.Println(status)
	// Output:
	// Success
	// Unschedulable: node(s) had too little water
	// Skip
}

// Pinned knows before any node is looked at which ones can do.
type Pinned struct{}

func (Pinned) Name() string { return "Pinned" }

func (Pinned) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	node := c.Pod.Pod.Annotations["pinned"]
	if node == "" {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{NodeNames: []string{node}}, framework.Status{}
}

func ExamplePreFiltered() {
	s, _ := twoNodes()
	p, err := s.NewPodInfo(api.MakePod("ship").Annotations("pinned", "n2").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(p, s, 0, 0)
	bound, _ := framework.PreFilterPlugin(Pinned{}).PreFilter(&c)
	fmt.Println(bound.NodeNames, bound.Filter == nil)
	// Output: [n2] true
}

// Even prefers nodes with fewer pods than the average of the feasible ones.
type Even struct{}

func (Even) Name() string { return "Even" }

func (Even) PreScore(_ *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	total := 0
	for _, n := range feasible {
		total += len(n.Pods)
	}
	return evenScorer{int64(total / max(1, len(feasible)))}, framework.Status{}
}

// NormalizeScore maps the emptiest node to 100 and the fullest to 0.
func (Even) NormalizeScore(raw, smallest, largest int64) int64 {
	if smallest == largest {
		return framework.MaxNodeScore
	}
	return framework.MaxNodeScore * (raw - smallest) / (largest - smallest)
}

type evenScorer struct{ average int64 }

func (e evenScorer) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return e.average - int64(len(node.Pods))
}

func ExamplePreScorePlugin() {
	s, p := twoNodes()
	for range 4 {
		if err := s.AddPod(p, "n1"); err != nil {
			fmt.Println(err)
		}
	}
	var c framework.Cycle
	c.Reset(p, s, 0, 0)
	scorer, _ := Even{}.PreScore(&c, []*framework.NodeInfo{s.At(0), s.At(1)})
	for _, n := range s.All() {
		raw := scorer.Score(p, n)
		fmt.Println(n.Name(), raw, Even{}.NormalizeScore(raw, -2, 2))
	}
	// Output:
	// n1 -2 0
	// n2 2 100
}

func ExampleRangeNormalizer() {
	var n framework.RangeNormalizer = Even{}
	for _, raw := range []int64{-10, 0, 10} {
		fmt.Println(n.NormalizeScore(raw, -10, 10))
	}
	// Output:
	// 0
	// 50
	// 100
}

// ByRank scores the best node 100, the next 99, and so on: for that it has to
// see all scores at once.
type ByRank struct{ Spare }

func (ByRank) NormalizeScores(_ []*framework.NodeInfo, scores []int64) {
	ranks := make([]int64, len(scores))
	for i, a := range scores {
		for _, b := range scores {
			if b > a {
				ranks[i]++
			}
		}
	}
	for i, rank := range ranks {
		scores[i] = max(framework.MinNodeScore, framework.MaxNodeScore-rank)
	}
}

func ExampleScoreNormalizer() {
	var n framework.ScoreNormalizer = ByRank{}
	scores := []int64{-7, 3000, 12}
	n.NormalizeScores(make([]*framework.NodeInfo, 3), scores)
	fmt.Println(scores)
	// Output: [98 100 99]
}

// Slots gives each pod a numbered slot of its node, and keeps them in the
// snapshot. Unreserve may be called for a pod that has none.
type Slots struct{}

func (Slots) Name() string { return "Slots" }

func (Slots) Reserve(c *framework.Cycle, node *framework.NodeInfo) framework.Status {
	b := budgetKey.Of(c.Snapshot)
	if b.starts[node.Slot()] == 2 {
		return framework.UnschedulableStatus("node(s) had no free slot")
	}
	b.start(c.Snapshot, node)
	reservedKey.Set(c, node.Slot())
	return framework.Status{}
}

func (Slots) Unreserve(c *framework.Cycle, node *framework.NodeInfo) {
	if slot, ok := reservedKey.Get(c); ok {
		budgetKey.Of(c.Snapshot).starts[slot]--
		c.Snapshot.Touch(node)
		reservedKey.Delete(c)
	}
}

var reservedKey = framework.NewKey[int]("reserved slot")

func ExampleReservePlugin() {
	s, p := twoNodes()
	var plugin framework.ReservePlugin = Slots{}
	var c framework.Cycle
	for number := range uint64(3) {
		c.Reset(p, s, number, 0)
		fmt.Println(plugin.Reserve(&c, s.At(0)))
	}
	plugin.Unreserve(&c, s.At(0)) // nothing was reserved: nothing happens
	fmt.Println(budgetKey.Of(s).starts[s.At(0).Slot()])
	// Output:
	// Success
	// Success
	// Unschedulable: node(s) had no free slot
	// 2
}

// crowd rejects nodes while the whole cluster holds too many pods: a sum over
// one large domain.
type crowd struct {
	limit int
	pods  int
}

func newCrowd(s *framework.Snapshot, limit int) *crowd {
	c := &crowd{limit: limit}
	for _, n := range s.All() {
		c.pods += len(n.Pods)
	}
	return c
}

func (c *crowd) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if c.pods >= c.limit {
		return framework.UnschedulableStatus("the port is closed")
	}
	return framework.Status{}
}

// AddPod and RemovePod keep the sum right while others are tried.
func (c *crowd) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	c.pods++
	return framework.Status{}
}

func (c *crowd) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	c.pods--
	return framework.Status{}
}

func (c *crowd) Fork() framework.FilterUpdater {
	f := *c
	return &f
}

func ExampleFilterUpdater() {
	s, p := twoNodes()
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	var f framework.FilterUpdater = newCrowd(s, 1)
	try := f.Fork()
	try.RemovePod(nil, p, s.Node("n1"))
	fmt.Println("with the pod:", f.Filter(p, s.At(1)))
	fmt.Println("without it:", try.Filter(p, s.At(1)))
	// Output:
	// with the pod: Unschedulable: the port is closed
	// without it: Success
}

// Tow makes room by moving the least important pod of the first node that
// rejected the pod for now.
type Tow struct{}

func (Tow) Name() string { return "Tow" }

func (Tow) PostFilter(_ context.Context, c *framework.Cycle, verdicts framework.Verdicts) (framework.PostFiltered, framework.Status) {
	for _, n := range c.Snapshot.All() {
		if _, s := verdicts.Verdict(n); s.Code() != framework.Unschedulable {
			continue
		}
		for _, p := range n.Pods {
			if p.Priority < c.Pod.Priority {
				return framework.PostFiltered{Nominated: n.Name(), Victims: []framework.Victim{{Pod: p}}}, framework.Status{}
			}
		}
	}
	return framework.PostFiltered{}, framework.UnschedulableStatus("nothing can be towed")
}

// fullEverywhere is what a runner knows after no node did.
type fullEverywhere struct{}

func (fullEverywhere) Verdict(*framework.NodeInfo) (string, framework.Status) {
	return "NodeResourcesFit", framework.UnschedulableStatus("Too many pods")
}

func ExamplePostFilterPlugin() {
	s, low := twoNodes()
	if err := s.AddPod(low, "n2"); err != nil {
		fmt.Println(err)
	}
	high, err := s.NewPodInfo(api.MakePod("urgent").Priority(100).Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	var c framework.Cycle
	c.Reset(high, s, 0, 0)
	result, status := framework.PostFilterPlugin(Tow{}).PostFilter(context.Background(), &c, fullEverywhere{})
	fmt.Println(status, result.Nominated, result.Victims[0].Pod.Pod.Name)
	// Output: Success n2 web
}

// Customs stands for the plugins of the binding cycle: it waits for a permit,
// clears the pod, and writes down where it went.
type Customs struct{}

func (Customs) Name() string { return "Customs" }

func (Customs) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	return framework.NewStatus(framework.Wait, framework.Text("papers")), time.Minute
}

func (Customs) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	return true, framework.Status{}
}

func (Customs) PreBind(_ context.Context, c *framework.Cycle, node string) framework.Status {
	if c.Pod.Pod.Labels["papers"] == "" {
		return framework.AsStatus(fmt.Errorf("no papers for %s", node))
	}
	return framework.Status{}
}

func (Customs) Bind(context.Context, *framework.Cycle, string) framework.Status {
	return framework.SkipStatus() // the next Bind plugin does it
}

func (Customs) PostBind(_ context.Context, c *framework.Cycle, node string) {
	fmt.Println(c.Pod.Pod.Name, "is on", node)
}

// The plugins of the binding cycle may block, so they take a context; the
// cycle that they see is detached.
func ExamplePreBindPlugin() {
	s, p := twoNodes()
	var c framework.Cycle
	c.Reset(p, s, 0, 0)
	binding, ctx := c.Detach(), context.Background()

	var plugin framework.Plugin = Customs{}
	if permit, ok := framework.As[framework.PermitPlugin](plugin); ok {
		status, timeout := permit.Permit(ctx, binding, "n1")
		fmt.Println(status, timeout)
	}
	if flight, ok := framework.As[framework.PreBindPreFlighter](plugin); ok {
		parallel, status := flight.PreBindPreFlight(ctx, binding, "n1")
		fmt.Println(parallel, status, "then", flight.PreBind(ctx, binding, "n1"))
	}
	if bind, ok := framework.As[framework.BindPlugin](plugin); ok {
		fmt.Println(bind.Bind(ctx, binding, "n1"))
	}
	if post, ok := framework.As[framework.PostBindPlugin](plugin); ok {
		post.PostBind(ctx, binding, "n1")
	}
	// Output:
	// Wait: papers 1m0s
	// true Success then Error: no papers for n1
	// Skip
	// web is on n1
}

// A PostFilter may propose to take the devices from a claim.
func ExampleClaimRelease() {
	p := framework.PostFiltered{Claims: []framework.ClaimRelease{{Claim: "default/gpu"}}}
	fmt.Println(p.Claims[0].Claim, p.Claims[0].Delete)
	// Output: default/gpu false
}
