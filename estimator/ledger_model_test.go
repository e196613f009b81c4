package estimator_test

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
)

// modelPod is the model's record of a pod on a node.
type modelPod struct {
	info     *framework.PodInfo // the ledger's version
	resident *framework.PodInfo // the snapshot's version, if any
	listed   bool               // in the snapshot
	assigned bool               // in the ledger
	first    time.Time
	last     time.Time
	kept     *framework.PodInfo
	keptAt   time.Time
}

// modelNode is the model's record of a node.
type modelNode struct {
	node    *api.Node
	metric  *api.NodeMetric
	updated time.Time
	pods    map[api.UID]modelPod
}

// modelDeparture is the pod that left the snapshot last, if it has not come back.
type modelDeparture struct {
	node string
	pod  modelPod
	at   time.Time
}

// ledgerModel is a cluster kept twice: in a snapshot with its ledger, and as plain
// facts for sums from scratch.
type ledgerModel struct {
	snapshot *framework.Snapshot
	loads    []*estimator.Load
	nodes    map[string]modelNode
	observed map[api.UID]*framework.PodInfo
	departed *modelDeparture
	seen     *modelDeparture // the pod that came or left last, rolled back or not
	open     []openTransaction
	left     []*ledgerModel // earlier versions that were forked
	uids     *int
}

type openTransaction struct {
	mark     framework.Mark
	nodes    map[string]modelNode
	observed map[api.UID]*framework.PodInfo
	departed *modelDeparture
}

func cloneNodes(nodes map[string]modelNode) map[string]modelNode {
	c := maps.Clone(nodes)
	for name, n := range c {
		n.pods = maps.Clone(n.pods)
		c[name] = n
	}
	return c
}

// TestLedgerModel drives a ledger through random changes. After every step it
// compares all sums of all rules with a slow transcription.
func TestLedgerModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newLedgerModel(t)
		m.check(t)
		t.Repeat(map[string]func(*rapid.T){
			"":           m.check,
			"add":        m.addPod,
			"remove":     m.removePod,
			"depart":     m.depart,
			"return":     m.returnPod,
			"update":     m.updatePod,
			"overlap":    m.overlapPod,
			"assign":     m.assign,
			"unassign":   m.unassign,
			"reserve":    m.reserve,
			"observe":    m.observe,
			"unobserve":  m.unobserve,
			"metric":     m.setMetric,
			"metric2":    m.setMetric,
			"next":       m.nextMetric,
			"next2":      m.nextMetric,
			"unmeasure":  m.removeMetric,
			"node":       m.updateNode,
			"time":       m.passTime,
			"begin":      m.begin,
			"rollback":   m.rollback,
			"commit":     m.commit,
			"fork":       m.fork,
			"other load": m.addLoad,
			"more":       m.countMore,
			"more2":      m.countMore,
		})
	})
}

func newLedgerModel(t *rapid.T) *ledgerModel {
	m := &ledgerModel{
		snapshot: framework.NewSnapshot(framework.ZoneInterleaved), nodes: map[string]modelNode{},
		observed: map[api.UID]*framework.PodInfo{}, uids: new(int),
	}
	m.snapshot.SetNow(modelStart)
	for i := range 3 {
		node := api.MakeNode(fmt.Sprintf("n%d", i), "8", "16Gi").Obj()
		must(t, m.snapshot.AddNode(node))
		m.nodes[node.Name] = modelNode{node: node, pods: map[api.UID]modelPod{}}
	}
	estimator.LedgerOf(m.snapshot)
	m.addLoad(t)
	m.addLoad(t)
	return m
}

var modelStart = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// addLoad starts to use another configuration.
func (m *ledgerModel) addLoad(t *rapid.T) {
	if len(m.loads) == 5 {
		t.Skip("enough")
	}
	c := estimator.LoadConfig{
		Rules: rapid.SampledFrom([]estimator.Rules{
			estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18, estimator.Koordinator18,
		}).Draw(t, "rules"),
		ScoreProd:          rapid.Bool().Draw(t, "score prod"),
		ProdIncludesSystem: rapid.Bool().Draw(t, "system"),
		PodAnnotations:     true,
	}
	if rapid.Bool().Draw(t, "prod thresholds") {
		c.ProdThresholds = map[resource.Name]int64{resource.CPU: 50}
	}
	if rapid.Bool().Draw(t, "aggregated") {
		kinds := []api.AggregationType{"", api.P50, api.P95}
		durations := []time.Duration{0, 5 * time.Minute, 10 * time.Minute}
		c.Aggregated = &estimator.Aggregated{
			Thresholds: map[resource.Name]int64{resource.CPU: 50},
			Type:       rapid.SampledFrom(kinds).Draw(t, "kind"), Duration: rapid.SampledFrom(durations).Draw(t, "period"),
			ScoreType: rapid.SampledFrom(kinds).Draw(t, "score kind"), ScoreDuration: rapid.SampledFrom(durations).Draw(t, "score period"),
		}
	}
	if rapid.Bool().Draw(t, "window") {
		c.EstimateScheduled = time.Minute
	}
	load, err := estimator.NewLoad(c)
	must(t, err)
	m.loads = append(m.loads, load)
}

func (m *ledgerModel) ledger() *estimator.Ledger { return estimator.LedgerOf(m.snapshot) }

func (m *ledgerModel) now() time.Time { return m.snapshot.Now() }

func (m *ledgerModel) drawNode(t *rapid.T) string {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.nodes))).Draw(t, "node")
}

// drawPod chooses a pod that satisfies the condition, with its node.
func (m *ledgerModel) drawPod(t *rapid.T, ok func(modelPod) bool) (string, modelPod) {
	node := m.drawNode(t)
	var uids []api.UID
	for uid, p := range m.nodes[node].pods {
		if ok(p) {
			uids = append(uids, uid)
		}
	}
	if len(uids) == 0 {
		t.Skip("no such pod")
	}
	slices.Sort(uids)
	return node, m.nodes[node].pods[rapid.SampledFrom(uids).Draw(t, "uid")]
}

func (m *ledgerModel) newPod(t *rapid.T) *api.Pod {
	*m.uids++
	// Few names, so that some pods share a name and metrics name them by chance.
	b := api.MakePod(fmt.Sprintf("p%d", rapid.IntRange(0, 5).Draw(t, "name"))).UID(api.UID(fmt.Sprintf("u%02d", *m.uids)))
	if rapid.Bool().Draw(t, "requests") {
		cpu := rapid.IntRange(1, 40).Draw(t, "cpu")
		b = b.Requests(fmt.Sprintf("%dm", 50*cpu), fmt.Sprintf("%dMi", 40*rapid.IntRange(1, 50).Draw(t, "memory")))
	}
	if rapid.IntRange(0, 3).Draw(t, "class") == 0 {
		b = b.Labels(estimator.LabelPriorityClass, "koord-batch")
	}
	p := b.Obj()
	m.drawConditions(t, p)
	if rapid.IntRange(0, 9).Draw(t, "phase") == 0 {
		p.Status.Phase = api.PodSucceeded
	}
	if rapid.IntRange(0, 4).Draw(t, "own window") == 0 {
		p.Annotations = map[string]string{estimator.AnnotationEstimateInitialized: "90"}
	}
	return p
}

func (m *ledgerModel) drawConditions(t *rapid.T, p *api.Pod) {
	p.Status.Conditions = nil
	for _, kind := range []api.PodConditionType{api.PodScheduled, api.PodInitialized} {
		if rapid.IntRange(0, 3).Draw(t, string(kind)) == 0 {
			p.Status.Conditions = append(p.Status.Conditions, api.PodCondition{
				Type: kind, Status: api.ConditionTrue, LastTransitionTime: m.drawTime(t),
			})
		}
	}
}

// drawTime chooses a time around now, at a full minute or one second off.
func (m *ledgerModel) drawTime(t *rapid.T) time.Time {
	d := rapid.IntRange(-1, 5).Draw(t, "minutes")*60 + rapid.IntRange(-1, 1).Draw(t, "seconds")
	return m.now().Add(-time.Duration(d) * time.Second)
}

func (m *ledgerModel) info(t *rapid.T, p *api.Pod) *framework.PodInfo {
	info, err := m.snapshot.NewPodInfo(p)
	must(t, err)
	return info
}

// enter records an assigned pod.
func (m *ledgerModel) enter(node string, p modelPod) {
	if finished(p.info.Pod) {
		if !p.listed {
			return
		}
	} else {
		p.assigned = true
	}
	m.nodes[node].pods[p.info.Pod.UID] = p
}

func finished(p *api.Pod) bool { return p.Status.Phase == api.PodSucceeded }

func (m *ledgerModel) fresh(info *framework.PodInfo, listed bool) modelPod {
	return modelPod{info: info, resident: info, listed: listed, first: m.now(), last: m.now(), kept: info, keptAt: m.now()}
}

func (m *ledgerModel) addPod(t *rapid.T) {
	node, info := m.drawNode(t), m.info(t, m.newPod(t))
	must(t, m.snapshot.AddPod(info, node))
	p := m.fresh(info, true)
	m.enter(node, p)
	m.seen = &modelDeparture{node, p, m.now()}
}

// countMore compares the use after some pods more with that of pods that are added and taken away again. No report names them.
func (m *ledgerModel) countMore(t *rapid.T) {
	node := m.drawNode(t)
	p := m.newPod(t)
	p.Status.Phase, p.Name = "", "more"
	info := m.info(t, p)
	mark := m.snapshot.Begin()
	defer m.snapshot.Rollback(mark)
	for more := range int64(3) {
		for _, load := range m.loads {
			m.compareMore(t, load, node, info, more)
		}
		one, err := info.Named(fmt.Sprint("more-", more))
		must(t, err)
		must(t, m.snapshot.AddPod(one, node))
	}
}

// compareMore expects that some of these pods have been added.
func (m *ledgerModel) compareMore(t *rapid.T, load *estimator.Load, node string, info *framework.PodInfo, added int64) {
	view, n := load.View(m.snapshot), m.snapshot.Node(node)
	for _, b := range []estimator.Basis{estimator.WholeForFilter, estimator.ProdForFilter, estimator.WholeForScore, estimator.ProdForScore} {
		use := slices.Clone(view.Use(n, b))
		if use == nil {
			continue
		}
		one, err := info.Named("and-more")
		must(t, err)
		mark := m.snapshot.Begin()
		must(t, m.snapshot.AddPod(one, node))
		after := slices.Clone(view.Use(m.snapshot.Node(node), b))
		m.snapshot.Rollback(mark)
		for r := range use {
			if none, got := view.UseAfter(n, b, load.Pod(info), 0, r), view.UseAfter(n, b, load.Pod(info), 1, r); none != use[r] || got != after[r] {
				t.Fatalf("%s, basis %d, resource %d, %d pods added: use %d, %d after one more, want %d, %d", node, b, r, added, none, got, use[r], after[r])
			}
		}
	}
}

func (m *ledgerModel) removePod(t *rapid.T) {
	node, p := m.drawDeparture(t)
	// The pod is gone for good, so a later one is not an update.
	must(t, m.ledger().Unassign(p.info, m.snapshot.Node(node)))
	m.forget(p)
}

// depart removes a pod that may come back.
func (m *ledgerModel) depart(t *rapid.T) { m.drawDeparture(t) }

func (m *ledgerModel) drawDeparture(t *rapid.T) (string, modelPod) {
	node, p := m.drawPod(t, func(p modelPod) bool { return p.listed })
	must(t, m.snapshot.RemovePod(p.info, node))
	m.leave(node, p.info.Pod.UID)
	m.seen = &modelDeparture{node, p, m.now()}
	if p.assigned {
		m.departed = m.seen
	}
	return node, p
}

// forget clears the departure if it is that pod's.
func (m *ledgerModel) forget(p modelPod) *modelDeparture {
	d := m.departed
	if d == nil || d.pod.info.Pod.UID != p.info.Pod.UID {
		return nil
	}
	m.departed = nil
	return d
}

// returnPod brings back the pod that came or left last, mostly to its node, if it
// is not there now. It may have left, or been rolled back.
func (m *ledgerModel) returnPod(t *rapid.T) {
	if m.seen == nil {
		t.Skip("none")
	}
	node, p := m.seen.node, m.seen.pod
	for _, n := range m.nodes {
		if _, ok := n.pods[p.info.Pod.UID]; ok {
			t.Skip("there")
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "elsewhere") == 0 {
		node = m.drawNode(t)
	}
	m.whatIf(t, node, p)
	m.comeBack(t, node, m.newerVersion(t, p.info.Pod))
}

// comeBack adds a pod as an update of the pod that left the node at the same time.
func (m *ledgerModel) comeBack(t *rapid.T, node string, info *framework.PodInfo) {
	must(t, m.snapshot.AddPod(info, node))
	next := m.fresh(info, true)
	if d := m.forget(next); d != nil && d.node == node && d.at.Equal(m.now()) {
		p := d.pod
		next.first = p.first
		same := fmt.Sprintf("%+v", p.kept.Pod.Spec) == fmt.Sprintf("%+v", info.Pod.Spec) &&
			fmt.Sprintf("%+v", p.kept.Pod.Status.Conditions) == fmt.Sprintf("%+v", info.Pod.Status.Conditions)
		if same {
			next.kept, next.keptAt = p.kept, p.keptAt
		}
	}
	m.enter(node, next)
	m.seen = &modelDeparture{node, next, m.now()}
}

func (m *ledgerModel) leave(node string, uid api.UID) {
	n := m.nodes[node]
	delete(n.pods, uid)
	m.tidy(node)
}

// tidy clears the time of the last metric of a node without metric and pods.
func (m *ledgerModel) tidy(node string) {
	n := m.nodes[node]
	for _, p := range n.pods {
		if p.assigned {
			return
		}
	}
	if n.metric == nil {
		n.updated = time.Time{}
		m.nodes[node] = n
	}
}

// newerVersion changes something about a pod, or nothing.
func (m *ledgerModel) newerVersion(t *rapid.T, p *api.Pod) *framework.PodInfo {
	newer := api.Clone(p)
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0: // nothing
	case 1:
		newer.Labels = map[string]string{estimator.LabelPriorityClass: rapid.SampledFrom([]string{"koord-prod", "koord-batch"}).Draw(t, "class")}
	case 2:
		newer.Spec.Containers[0].Resources = api.ResourceRequirements{Requests: resource.List{resource.CPU: resource.Milli(777)}}
	case 3:
		m.drawConditions(t, newer)
	case 4:
		newer.Status.Phase = api.PodSucceeded
	}
	return m.info(t, newer)
}

// updatePod replaces a pod with a newer version.
func (m *ledgerModel) updatePod(t *rapid.T) {
	node, p := m.drawDeparture(t)
	m.whatIf(t, node, p)
	m.comeBack(t, node, m.newerVersion(t, p.info.Pod))
}

// whatIf tries something while the pod is away, and rolls it back: later steps must
// not notice.
func (m *ledgerModel) whatIf(t *rapid.T, node string, p modelPod) {
	kind := rapid.IntRange(0, 6).Draw(t, "what if")
	if kind == 0 {
		m.reserve(t)
	}
	if kind == 0 || kind > 4 {
		return
	}
	mark := m.snapshot.Begin()
	switch n := m.snapshot.Node(node); kind {
	case 1:
		must(t, m.snapshot.AddPod(m.newerVersion(t, p.info.Pod), node))
	case 2:
		must(t, m.snapshot.AddPod(m.info(t, m.newPod(t)), node))
	case 3:
		must(t, m.ledger().Unassign(p.info, n))
	case 4:
		if len(n.Pods) > 0 {
			must(t, m.snapshot.RemovePod(n.Pods[0], node))
		}
	}
	m.snapshot.Rollback(mark)
}

// overlapPod updates in the other order: the newer version comes before the older
// one leaves.
func (m *ledgerModel) overlapPod(t *rapid.T) {
	node, p := m.drawPod(t, func(p modelPod) bool { return p.listed })
	if !slices.Contains(m.snapshot.Node(node).Pods, p.info) {
		t.Skip("assigned in a version that is not in the snapshot")
	}
	info := m.newerVersion(t, p.info.Pod)
	must(t, m.snapshot.AddPod(info, node))
	must(t, m.snapshot.RemovePod(p.info, node))
	next := m.fresh(info, true)
	if finished(info.Pod) {
		m.leave(node, p.info.Pod.UID)
		if p.assigned {
			m.departed = &modelDeparture{node, p, m.now()}
		}
	} else if p.assigned {
		next.first = p.first
	}
	m.enter(node, next)
}

func (m *ledgerModel) assign(t *rapid.T) {
	node := m.drawNode(t)
	info := m.info(t, m.newPod(t))
	if rapid.Bool().Draw(t, "again") {
		var p modelPod
		if node, p = m.drawPod(t, func(p modelPod) bool { return p.assigned }); rapid.Bool().Draw(t, "newer") {
			info = m.assignedVersion(t, p.info.Pod)
		} else {
			info = p.info
		}
	}
	must(t, m.ledger().Assign(info, m.snapshot.Node(node)))
	next := m.fresh(info, false)
	if p, ok := m.nodes[node].pods[info.Pod.UID]; ok {
		if p.info == info && p.assigned {
			return
		}
		next.listed, next.resident = p.listed, p.resident
		if p.assigned {
			next.first = p.first
		}
	}
	m.enter(node, next)
}

// assignedVersion returns another version of the pod that has not finished.
func (m *ledgerModel) assignedVersion(t *rapid.T, p *api.Pod) *framework.PodInfo {
	newer := m.newerVersion(t, p)
	newer.Pod.Status.Phase = p.Status.Phase
	return newer
}

func (m *ledgerModel) unassign(t *rapid.T) {
	node, p := m.drawPod(t, func(p modelPod) bool { return p.assigned })
	must(t, m.ledger().Unassign(p.info, m.snapshot.Node(node)))
	m.forget(p)
	if p.listed {
		p.assigned = false
		m.nodes[node].pods[p.info.Pod.UID] = p
		m.tidy(node)
		return
	}
	m.leave(node, p.info.Pod.UID)
}

// reserve reserves a node for a pod and undoes that: every sum must be exactly as
// before, and later steps must not notice either.
func (m *ledgerModel) reserve(t *rapid.T) {
	before := m.uses()
	var c framework.Cycle
	c.Reset(m.info(t, m.newPod(t)), m.snapshot, 0, 0)
	node := m.snapshot.Node(m.drawNode(t))
	must(t, estimator.Assigner{}.Reserve(&c, node).Err())
	estimator.Assigner{}.Unreserve(&c, node)
	if diff := cmp.Diff(before, m.uses()); diff != "" {
		t.Fatalf("uses after Reserve and Unreserve (-want +got):\n%s", diff)
	}
}

// uses returns all uses of the nodes in the ledger.
func (m *ledgerModel) uses() map[string][][]int64 {
	out := map[string][][]int64{}
	for _, n := range m.snapshot.All() {
		for _, load := range m.loads {
			for _, b := range []estimator.Basis{estimator.WholeForFilter, estimator.ProdForFilter, estimator.WholeForScore, estimator.ProdForScore} {
				out[n.Name()] = append(out[n.Name()], slices.Clone(load.View(m.snapshot).Use(n, b)))
			}
		}
	}
	return out
}

func (m *ledgerModel) observe(t *rapid.T) {
	info := m.info(t, m.newPod(t))
	m.ledger().Observe(info)
	m.observed[info.Pod.UID] = info
}

func (m *ledgerModel) unobserve(t *rapid.T) {
	if len(m.observed) == 0 {
		t.Skip("none")
	}
	uid := rapid.SampledFrom(slices.Sorted(maps.Keys(m.observed))).Draw(t, "uid")
	m.ledger().Unobserve(m.observed[uid])
	delete(m.observed, uid)
}

func (m *ledgerModel) drawUse(t *rapid.T, label string) api.ResourceMap {
	if rapid.IntRange(0, 9).Draw(t, label+" empty") == 0 {
		return api.ResourceMap{}
	}
	return api.ResourceMapOf(resource.List{
		resource.CPU:    resource.MustParse(fmt.Sprintf("%d00500u", rapid.IntRange(0, 30).Draw(t, label))),
		resource.Memory: resource.MustParse(fmt.Sprintf("%d500m", rapid.IntRange(0, 1<<31).Draw(t, label+" memory"))),
	})
}

func (m *ledgerModel) setMetric(t *rapid.T) {
	name := m.drawNode(t)
	metric := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
	if rapid.IntRange(0, 9).Draw(t, "untimed") > 0 {
		metric.Status.UpdateTime = new(m.drawTime(t))
	}
	if rapid.Bool().Draw(t, "interval") {
		metric.Spec.CollectPolicy = &api.NodeMetricCollectPolicy{ReportIntervalSeconds: new(int64(rapid.IntRange(-1, 3).Draw(t, "seconds") * 60))}
	}
	if rapid.IntRange(0, 9).Draw(t, "unmeasured") > 0 {
		info := &api.NodeMetricInfo{NodeUsage: m.drawUse(t, "node"), SystemUsage: m.drawUse(t, "system")}
		for range rapid.IntRange(0, 3).Draw(t, "periods") {
			info.AggregatedNodeUsages = append(info.AggregatedNodeUsages, api.AggregatedUsage{
				Duration: api.Duration{Duration: time.Duration(rapid.IntRange(0, 2).Draw(t, "5 minutes")) * 5 * time.Minute},
				Usage: map[api.AggregationType]api.ResourceMap{
					api.P50: m.drawUse(t, "p50"), api.P95: m.drawUse(t, "p95"),
				},
			})
		}
		metric.Status.NodeMetric = info
	}
	report := func(name string) { metric.Status.PodsMetric = append(metric.Status.PodsMetric, m.drawReport(t, name)) }
	if rapid.Bool().Draw(t, "exactly the pods") {
		var uids []api.UID
		for uid, p := range m.nodes[name].pods {
			if p.assigned {
				uids = append(uids, uid)
			}
		}
		slices.Sort(uids)
		for _, uid := range uids {
			report(m.nodes[name].pods[uid].info.Pod.Name)
		}
	} else {
		for range rapid.IntRange(0, 5).Draw(t, "reports") {
			report(fmt.Sprintf("p%d", rapid.IntRange(0, 6).Draw(t, "reported")))
		}
		if rapid.IntRange(0, 9).Draw(t, "nil report") == 0 {
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, nil)
		}
	}
	m.report(t, metric)
}

// report sends a metric.
func (m *ledgerModel) report(t *rapid.T, metric *api.NodeMetric) {
	must(t, m.ledger().SetMetric(metric))
	n := m.nodes[metric.Name]
	n.metric = metric
	if metric.Status.UpdateTime != nil {
		n.updated = *metric.Status.UpdateTime
	}
	m.nodes[metric.Name] = n
}

func (m *ledgerModel) drawReport(t *rapid.T, name string) *api.PodMetricInfo {
	return &api.PodMetricInfo{
		Name: name, Namespace: "default", PodUsage: m.drawUse(t, "pod"),
		Priority: rapid.SampledFrom([]string{"koord-prod", "koord-prod", "koord-batch", ""}).Draw(t, "priority"),
	}
}

// nextMetric sends the next metric of a node, with mostly the same pods in mostly
// the same order.
func (m *ledgerModel) nextMetric(t *rapid.T) {
	name := m.drawNode(t)
	before := m.nodes[name].metric
	if before == nil {
		t.Skip("no metric")
	}
	metric := api.Clone(before)
	metric.Status.UpdateTime = new(m.drawTime(t))
	reports := metric.Status.PodsMetric
	for k, r := range reports {
		if r != nil {
			reports[k] = m.drawReport(t, r.Name)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		at := rapid.IntRange(0, len(reports)).Draw(t, "at")
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind == 0:
			reports = slices.Insert(reports, at, m.drawReport(t, fmt.Sprintf("p%d", rapid.IntRange(0, 6).Draw(t, "reported"))))
		case at == len(reports):
		case kind == 1:
			reports = slices.Delete(reports, at, at+1)
		case kind == 2:
			reports = slices.Concat(reports[at:], reports[:at])
		default:
			reports[0], reports[at] = reports[at], reports[0]
		}
	}
	metric.Status.PodsMetric = reports
	m.report(t, metric)
}

func (m *ledgerModel) removeMetric(t *rapid.T) {
	name := m.drawNode(t)
	m.ledger().RemoveMetric(name)
	n := m.nodes[name]
	n.metric = nil
	m.nodes[name] = n
	m.tidy(name)
}

func (m *ledgerModel) updateNode(t *rapid.T) {
	if len(m.open) > 0 {
		t.Skip("not in a transaction")
	}
	name := m.drawNode(t)
	n := m.nodes[name]
	n.node = api.Clone(n.node)
	n.node.Annotations = map[string]string{estimator.AnnotationUsageThresholds: rapid.SampledFrom([]string{
		"{}", `{"prodUsageThresholds":{"cpu":40}}`, `{"usageThresholds":{"example.com/foo":40}}`,
		`{"aggregatedUsage":{"usageThresholds":{"cpu":1},"usageAggregationType":"p95","usageAggregatedDuration":"5m"}}`,
	}).Draw(t, "annotation")}
	must(t, m.snapshot.UpdateNode(n.node))
	m.nodes[name] = n
}

func (m *ledgerModel) passTime(t *rapid.T) {
	m.snapshot.SetNow(m.now().Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second))
}

func (m *ledgerModel) begin(t *rapid.T) {
	m.open = append(m.open, openTransaction{m.snapshot.Begin(), cloneNodes(m.nodes), maps.Clone(m.observed), m.departed})
}

func (m *ledgerModel) rollback(t *rapid.T) {
	if len(m.open) == 0 {
		t.Skip("none open")
	}
	last := len(m.open) - 1
	tx := m.open[last]
	m.open = m.open[:last]
	m.snapshot.Rollback(tx.mark)
	m.nodes, m.observed, m.departed = tx.nodes, tx.observed, tx.departed
}

func (m *ledgerModel) commit(t *rapid.T) {
	if len(m.open) == 0 {
		t.Skip("none open")
	}
	last := len(m.open) - 1
	m.snapshot.Commit(m.open[last].mark)
	m.open = m.open[:last]
}

// fork continues with a fork, or with the original; the other must not change.
func (m *ledgerModel) fork(t *rapid.T) {
	if len(m.left) == 3 || len(m.open) > 0 {
		t.Skip("enough, or in a transaction")
	}
	other := *m
	other.snapshot = m.snapshot.Fork()
	other.nodes, other.observed = cloneNodes(m.nodes), maps.Clone(m.observed)
	other.loads, other.left = slices.Clone(m.loads), nil
	if rapid.Bool().Draw(t, "go on with the fork") {
		m.snapshot, other.snapshot = other.snapshot, m.snapshot
	}
	m.left = append(m.left, &other)
}

// check compares all sums with the oracle.
func (m *ledgerModel) check(t *rapid.T) {
	must(t, m.snapshot.Check())
	for _, other := range m.left {
		other.check(t)
	}
	exists := map[estimator.Rules]map[string]bool{}
	for _, load := range m.loads {
		if exists[load.Config().Rules] == nil {
			exists[load.Config().Rules] = m.residents(load)
		}
		view := load.View(m.snapshot)
		for name := range m.nodes {
			m.checkNode(t, load, view, name, exists[load.Config().Rules])
		}
	}
}

// residents reports, for each name of a pod, whether that pod is prod. If there are
// several, the greatest UID counts.
func (m *ledgerModel) residents(load *estimator.Load) map[string]bool {
	all := maps.Clone(m.observed)
	for _, n := range m.nodes {
		for uid, p := range n.pods {
			if p.listed {
				all[uid] = p.resident
			}
		}
	}
	exists := map[string]bool{}
	for _, uid := range slices.Sorted(maps.Keys(all)) {
		exists["default/"+all[uid].Pod.Name] = load.Pod(all[uid]).Prod
	}
	return exists
}

func (m *ledgerModel) checkNode(t *rapid.T, load *estimator.Load, view estimator.View, name string, exists map[string]bool) {
	n, info := m.nodes[name], m.snapshot.Node(name)
	facts := load.Node(info)
	c := load.Config()
	var pods []oracle.LoadPod
	for _, p := range n.pods {
		if p.assigned {
			pods = append(pods, m.oraclePod(load, p))
		}
	}
	whole, score := m.statistics(load, n.node)
	for _, basis := range []estimator.Basis{estimator.WholeForFilter, estimator.ProdForFilter, estimator.WholeForScore, estimator.ProdForScore} {
		prod := basis == estimator.ProdForFilter || basis == estimator.ProdForScore
		if prod && !facts.ForProd && !c.ScoreProd {
			continue // no Load needs it
		}
		s := whole
		if basis == estimator.WholeForScore {
			s = score
		}
		got := view.Use(info, basis)
		for i, r := range facts.Resources {
			want, known := m.want(c, r, n, pods, exists, s, score, basis, prod)
			if known != (got != nil) {
				t.Fatalf("rules %s, node %s, basis %d: use = %v, want it known: %t", c.Rules, name, basis, got, known)
			}
			if known && got[i] != want {
				t.Fatalf("rules %s, node %s, basis %d: use of %s = %d, want %d", c.Rules, name, basis, r, got[i], want)
			}
		}
	}
}

// statistics returns the statistics of filter and score, by configuration and
// annotation.
func (m *ledgerModel) statistics(load *estimator.Load, node *api.Node) (whole, score oracle.LoadStatistic) {
	if a := load.Config().Aggregated; a != nil {
		score = oracle.LoadStatistic{Kind: a.ScoreType, Duration: a.ScoreDuration}
		if a.Type != "" {
			whole = oracle.LoadStatistic{Kind: a.Type, Duration: a.Duration}
		}
		if a.ScoreType == "" {
			score = oracle.LoadStatistic{}
		}
	}
	if text := node.Annotations[estimator.AnnotationUsageThresholds]; len(text) > 80 {
		whole = oracle.LoadStatistic{Kind: api.P95, Duration: 5 * time.Minute}
	}
	return whole, score
}

func (m *ledgerModel) oraclePod(load *estimator.Load, p modelPod) oracle.LoadPod {
	seen, placed := p.info, p.last
	switch load.Config().Rules {
	case estimator.Koordinator18:
		seen, placed = p.kept, p.keptAt
		for _, c := range seen.Pod.Status.Conditions {
			if c.Type == api.PodScheduled {
				placed = c.LastTransitionTime
			}
		}
	case estimator.Koordinator16:
		placed = p.first
	}
	estimate, err := load.Config().Estimator.EstimatePod(seen.Pod)
	if err != nil {
		panic(err)
	}
	o := oracle.LoadPod{
		Namespace: "default", Name: seen.Pod.Name, Prod: estimator.PodPriorityClass(seen.Pod) == estimator.PriorityProd,
		Estimate: estimate, Placed: placed,
	}
	if load.Config().Rules == estimator.Koordinator18 {
		if load.Config().EstimateScheduled > 0 {
			o.Deadline = placed.Add(load.Config().EstimateScheduled)
		}
		if seen.Pod.Annotations != nil {
			for _, c := range seen.Pod.Status.Conditions {
				if c.Type == api.PodInitialized {
					o.Deadline = c.LastTransitionTime.Add(90 * time.Second)
				}
			}
		}
	}
	return o
}

func (m *ledgerModel) want(
	c estimator.LoadConfig, r resource.Name, n modelNode, pods []oracle.LoadPod, exists map[string]bool,
	s, score oracle.LoadStatistic, basis estimator.Basis, prod bool,
) (int64, bool) {
	filter := basis == estimator.WholeForFilter || basis == estimator.ProdForFilter
	metricsOnly := c.Rules == estimator.Koordinator14 || c.Rules == estimator.Koordinator15
	switch {
	case c.Rules == estimator.Koordinator18:
		sum, known := oracle.Load18(r, n.metric, n.updated, pods, s, prod, c.ProdIncludesSystem)
		if !known {
			return 0, false
		}
		return cut(sum), true
	case n.metric == nil, !metricsOnly && n.metric.Status.NodeMetric == nil:
		return 0, false
	case !metricsOnly || !filter:
		return cut(oracle.LoadLegacy(r, n.metric, pods, exists, s, score, prod, metricsOnly)), true
	case prod:
		sum := resource.Quantity{}
		latest := map[string]resource.List{}
		for _, report := range n.metric.Status.PodsMetric {
			if report != nil && exists[report.Namespace+"/"+report.Name] {
				latest[report.Name] = report.PodUsage.List()
			}
		}
		for _, usage := range latest {
			sum = sum.Add(usage[r])
		}
		return sum.MilliValue(), len(n.metric.Status.PodsMetric) > 0
	}
	list, known := oracle.LegacyStatistic(n.metric.Status.NodeMetric, s, true)
	q := list[r]
	return q.MilliValue(), known
}

func cut(x *big.Int) int64 {
	switch {
	case x.IsInt64():
		return x.Int64()
	case x.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
