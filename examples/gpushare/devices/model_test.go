//go:build full

package devices_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"pgregory.net/rapid"
)

// refuser refuses, in Reserve, pods that are labelled so. It comes after GPUShare.
type refuser struct{}

func (refuser) Name() string { return "refuser" }

func (refuser) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	if c.Pod.Pod.Labels["refuse"] != "" {
		return framework.UnschedulableStatus("refused")
	}
	return framework.Status{}
}

func (refuser) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// holds is what the model knows of a pod on a node.
type holds struct {
	pod   *framework.PodInfo
	gpus  []int // none if it was put where it does not fit
	milli int64
}

// ledgers is the model of a snapshot: by node, what each pod holds.
type ledgers map[string]map[string]holds

func (l ledgers) clone() ledgers {
	c := ledgers{}
	for node, pods := range l {
		c[node] = maps.Clone(pods)
	}
	return c
}

// take gives the pod the GPUs with least left, one after another.
func (l ledgers) take(node string, gpus int, p *framework.PodInfo, r devices.Request, given []int) {
	left := make([]int64, gpus)
	for i := range left {
		left[i] = 1000
	}
	for _, h := range l[node] {
		for _, i := range h.gpus {
			left[i] -= h.milli
		}
	}
	h := holds{pod: p, milli: r.Milli, gpus: given}
	for len(h.gpus) < int(r.Count) {
		best := -1
		for i := range left {
			if r.Accepts(models[node]) && left[i] >= r.Milli && !slices.Contains(h.gpus, i) && (best < 0 || left[i] < left[best]) {
				best = i
			}
		}
		if best < 0 {
			h.gpus = nil
			break
		}
		h.gpus = append(h.gpus, best)
	}
	slices.Sort(h.gpus)
	l[node][p.Pod.Name] = h
}

// fits reports whether the node could take the pod, without some of its pods.
func (m *machine) fits(node string, p *framework.PodInfo, r devices.Request, without func(*api.Pod) bool) bool {
	c := m.model.clone()
	maps.DeleteFunc(c[node], func(_ string, h holds) bool { return without(h.pod.Pod) })
	if given := givenOn(p, node); given != nil {
		used := r.Milli
		for _, h := range c[node] {
			if slices.Contains(h.gpus, given[0]) {
				used += h.milli
			}
		}
		return used <= 1000 && r.Accepts(models[node])
	}
	c.take(node, m.sizes[node], p, r, nil)
	return len(c[node][p.Pod.Name].gpus) == int(r.Count)
}

// fitsSome reports whether some node could take the pod, without some of the pods there.
func (m *machine) fitsSome(p *framework.PodInfo, r devices.Request, without func(*api.Pod) bool) bool {
	for node := range m.sizes {
		if m.fits(node, p, r, without) {
			return true
		}
	}
	return false
}

func nobody(*api.Pod) bool { return false }

// givenOn is the GPU that a pod has that is bound to the node, nil if it is not.
func givenOn(p *framework.PodInfo, node string) []int {
	if index := p.Pod.Annotations[devices.Vendor+"/gpu-index"]; p.Pod.Spec.NodeName == node && index != "" {
		return []int{int(index[0] - '0')}
	}
	return nil
}

// branch is a snapshot, its model, and the transactions that are open.
type branch struct {
	snapshot *framework.Snapshot
	model    ledgers
	nominees map[string]*framework.PodInfo // by node
	open     []opened
}

type opened struct {
	mark     framework.Mark
	model    ledgers
	nominees map[string]*framework.PodInfo
}

// models are the models of GPUs, by node.
var models = map[string]string{"a": "T4", "b": "G2", "c": "T4"}

// machine is the state of the test.
type machine struct {
	t        *rapid.T
	seen     map[string]int // what the cases have shown
	gpus     *devices.GPUs
	sched    *scheduling.Scheduler
	sizes    map[string]int // GPUs by node
	branches []*branch
	*branch
	serial int
}

func newMachine(t *rapid.T, seen map[string]int) *machine {
	gpus := devices.New(devices.Config{})
	share := devices.GPUShare{GPUs: gpus}
	sched, err := scheduling.New(scheduling.Profile{
		Filter:     []framework.Plugin{filter.NodeResourcesFit{}, share},
		Score:      []scheduling.Weighted{{Plugin: devices.BestFit{GPUs: gpus}}},
		Reserve:    []framework.Plugin{share, refuser{}},
		PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
		Cache:      scheduling.CacheConfig{Verify: true},
	})
	m := &machine{t: t, seen: seen, gpus: gpus, sched: sched, sizes: map[string]int{"a": 1, "b": 2, "c": 4}}
	m.branch = &branch{snapshot: framework.NewSnapshot(framework.Arrival), model: ledgers{}, nominees: map[string]*framework.PodInfo{}}
	m.must(err)
	for _, node := range slices.Sorted(maps.Keys(m.sizes)) {
		m.must(m.snapshot.AddNode(api.MakeNode(node, "64", "256Gi").Resource(devices.Vendor+"/gpu", fmt.Sprint(m.sizes[node])).Labels(devices.Vendor+"/gpu-card-model", models[node]).Obj()))
		m.model[node] = map[string]holds{}
	}
	m.branches = []*branch{m.branch}
	return m
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// pod makes a pod, with other annotations if it is to say what it has.
func (m *machine) pod(change func(api.PodBuilder) api.PodBuilder) (*framework.PodInfo, devices.Request) {
	m.serial++
	b := api.MakePod(fmt.Sprint("p", m.serial)).Requests("100m", "100Mi")
	if milli := rapid.SampledFrom([]int{0, 200, 456, 500, 500, 712, 968, 1000}).Draw(m.t, "milli"); milli > 0 {
		count := rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(m.t, "count")
		b = b.Annotations(devices.Vendor+"/gpu-milli", fmt.Sprint(milli), devices.Vendor+"/gpu-count", fmt.Sprint(count))
		if accepted := rapid.SampledFrom([]string{"", "", "T4", "G2", "A10|G2"}).Draw(m.t, "models"); accepted != "" {
			b = b.Annotations(devices.Vendor+"/gpu-card-model", accepted)
		}
		if rapid.IntRange(0, 3).Draw(m.t, "left from an attempt") == 0 {
			b = b.Annotations(devices.Vendor+"/gpu-index", []string{"0", "0-1"}[count-1])
		}
	}
	if change != nil {
		b = change(b)
	}
	info, err := m.snapshot.NewPodInfo(b.Obj())
	m.must(err)
	r, err := m.gpus.Request(info)
	m.must(err)
	return info, r
}

// place places a pod and expects what the model expects.
func (m *machine) place(p *framework.PodInfo, r devices.Request) (placed bool, d scheduling.Decision) {
	d, err := m.sched.Place(m.snapshot, p)
	var unfit *scheduling.FitError
	switch {
	case errors.As(err, &unfit):
		if m.snapshot.Nominations() == 0 && p.Pod.Labels["refuse"] == "" && m.fitsSome(p, r, nobody) {
			m.t.Fatalf("%v fits nowhere: %v; the model knows a node", r, err)
		}
		return false, d
	case err != nil:
		m.t.Fatal(err)
	}
	if m.snapshot.Nominations() == 0 && !m.fits(d.Node, p, r, nobody) {
		m.t.Fatalf("%v was placed on %s, where it does not fit", r, d.Node)
	}
	m.model.take(d.Node, m.sizes[d.Node], p, r, givenOn(p, d.Node))
	if has := m.model[d.Node][p.Pod.Name]; len(has.gpus) != int(r.Count) {
		m.t.Fatalf("%v was placed on %s, where the model has no room", r, d.Node)
	} else if want := words(has.gpus); d.Reserved != want {
		m.t.Fatalf("Decision.Reserved = %q, want %q", d.Reserved, want)
	}
	return true, d
}

func words(gpus []int) string {
	if len(gpus) == 0 {
		return ""
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(gpus), "[]"), " ", "-")
	if len(gpus) == 1 {
		return "gpu " + text
	}
	return "gpus " + text
}

// some draws one of the pods on the nodes.
func (m *machine) some() (node string, h holds, ok bool) {
	var all []string
	for node, pods := range m.model {
		for name := range pods {
			all = append(all, node+"/"+name)
		}
	}
	if len(all) == 0 {
		return "", h, false
	}
	slices.Sort(all)
	node, name, _ := strings.Cut(rapid.SampledFrom(all).Draw(m.t, "pod"), "/")
	return node, m.model[node][name], true
}

func (m *machine) someNode() string {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.sizes))).Draw(m.t, "node")
}

// steps are what may happen.
func (m *machine) steps() map[string]func(*rapid.T) {
	steps := map[string]func(){
		"place a pod":       func() { m.place(m.pod(nil)) },
		"place another pod": func() { m.place(m.pod(nil)) },
		"a reserve is refused": func() {
			p, r := m.pod(func(b api.PodBuilder) api.PodBuilder { return b.Labels("refuse", "yes") })
			if placed, d := m.place(p, r); placed {
				m.t.Fatalf("%s was placed on %s", p.Pod.Name, d.Node)
			}
		},
		"release a pod": func() {
			if node, h, ok := m.some(); ok {
				m.must(m.sched.Release(m.snapshot, h.pod, node))
				delete(m.model[node], h.pod.Pod.Name)
			}
		},
		"a pod comes that runs":       m.running,
		"a bound pod is placed again": m.again,
		"a pod is put by force": func() {
			p, r := m.pod(nil)
			node := m.someNode()
			m.must(m.snapshot.AddPod(p, node))
			m.model.take(node, m.sizes[node], p, r, nil)
		},
		"begin": func() {
			if len(m.open) < 3 {
				m.open = append(m.open, opened{m.snapshot.Begin(), m.model.clone(), maps.Clone(m.nominees)})
			}
		},
		"roll back": func() {
			if last := len(m.open) - 1; last >= 0 {
				o := m.open[last]
				m.snapshot.Rollback(o.mark)
				m.model, m.nominees, m.open = o.model, o.nominees, m.open[:last]
			}
		},
		"commit": func() {
			if last := len(m.open) - 1; last >= 0 {
				m.snapshot.Commit(m.open[last].mark)
				m.open = m.open[:last]
			}
		},
		"fork": func() {
			f := &branch{snapshot: m.snapshot.Fork(), model: m.model.clone(), nominees: maps.Clone(m.nominees)}
			if len(m.branches) < 4 {
				m.branches = append(m.branches, f)
			}
			m.branch = f
		},
		"turn to another fork":           func() { m.branch = rapid.SampledFrom(m.branches).Draw(m.t, "fork") },
		"an urgent pod makes room":       m.preempt,
		"a nominated pod takes its node": m.claim,
	}
	wrapped := map[string]func(*rapid.T){"": func(t *rapid.T) { m.t = t; m.check() }}
	for name, do := range steps {
		wrapped[name] = func(t *rapid.T) { m.t = t; do() }
	}
	return wrapped
}

// running adds a pod that says which GPU it has, even if others have it too.
func (m *machine) running() {
	node := m.someNode()
	gpu := rapid.IntRange(0, m.sizes[node]-1).Draw(m.t, "gpu")
	p, r := m.pod(func(b api.PodBuilder) api.PodBuilder {
		return b.Annotations(devices.Vendor+"/gpu-count", "1", devices.Vendor+"/gpu-index", fmt.Sprint(gpu)).Node(node)
	})
	m.must(m.snapshot.AddPod(p, node))
	m.model.take(node, m.sizes[node], p, r, []int{gpu})
}

// again takes a pod away that is bound to a GPU, and places it.
func (m *machine) again() {
	node, h, ok := m.some()
	if !ok || givenOn(h.pod, node) == nil {
		return
	}
	m.must(m.sched.Release(m.snapshot, h.pod, node))
	delete(m.model[node], h.pod.Pod.Name)
	r, err := m.gpus.Request(h.pod)
	m.must(err)
	if !m.fits(node, h.pod, r, nobody) {
		m.seen["bound pods whose GPU is in use"]++
	}
	m.place(h.pod, r)
}

// preempt lets a pod of high priority look for victims. The search itself must leave
// everything as it is. Then the victims go, and the pod is nominated.
func (m *machine) preempt() {
	p, r := m.pod(func(b api.PodBuilder) api.PodBuilder {
		return b.Priority(int32(rapid.IntRange(1, 3).Draw(m.t, "priority"))).
			Annotations(devices.Vendor+"/gpu-milli", rapid.SampledFrom([]string{"500", "1000"}).Draw(m.t, "urgent milli"), devices.Vendor+"/gpu-count", "2", devices.Vendor+"/gpu-index", "0-1")
	})
	d, err := m.sched.Schedule(m.snapshot, p)
	var unfit *scheduling.FitError
	if !errors.As(err, &unfit) {
		m.must(err)
		return
	}
	found, _, _, err := m.sched.PostFilter(context.Background(), m.snapshot, p, d)
	if err != nil && (m.overfull() || m.unservedSome()) && strings.Contains(err.Error(), "expected at least one victim pod") {
		return // pods that share a GPU beyond its end, or have none, may get another one when they are put back
	}
	m.must(err)
	m.check()
	m.expect(p, r, found)
	if found.Nominated == "" || m.nominees[found.Nominated] != nil {
		return
	}
	m.seen["nominations"]++
	m.seen["victims"] += len(found.Victims)
	for _, v := range found.Victims {
		m.must(m.snapshot.RemovePod(v.Pod, found.Nominated))
		delete(m.model[found.Nominated], v.Pod.Pod.Name)
	}
	m.must(m.snapshot.Nominate(p, found.Nominated, ""))
	m.nominees[found.Nominated] = p
}

// expect compares what preemption has found with the model: a node if some node could take
// the pod once less urgent pods are gone, and only victims that are less urgent and in its
// way. Other nominated pods are not in the model.
func (m *machine) expect(p *framework.PodInfo, r devices.Request, found framework.PostFiltered) {
	if m.snapshot.Nominations() > 0 || m.overfull() {
		return
	}
	less := func(v *api.Pod) bool { return priority(v) < priority(p.Pod) }
	if can := m.fitsSome(p, r, less); can != (found.Nominated != "") {
		m.t.Fatalf("%v of priority %d is nominated to %q; the model knows a node: %v", r, priority(p.Pod), found.Nominated, can)
	}
	if found.Nominated == "" {
		m.seen["pods without a node"]++
		return
	}
	victims := map[string]bool{}
	for _, v := range found.Victims {
		victims[v.Pod.Pod.Name] = true
		if !less(v.Pod.Pod) {
			m.t.Fatalf("%s is a victim of a pod of priority %d", v.Pod.Pod.Name, priority(p.Pod))
		}
	}
	if m.unserved(found.Nominated) {
		return // the pod without GPUs may get some when it is put back, and others then get other ones
	}
	m.seen["searches compared"]++
	for spared := range victims {
		if m.fits(found.Nominated, p, r, func(v *api.Pod) bool { return victims[v.Name] && v.Name != spared }) {
			m.t.Fatalf("%s is a victim, and not in the way of %v", spared, r)
		}
	}
	if !m.fits(found.Nominated, p, r, func(v *api.Pod) bool { return victims[v.Name] }) {
		m.t.Fatalf("%v does not fit %s without its victims", r, found.Nominated)
	}
}

// unserved reports whether a pod on the node has no GPU though it asks for some.
func (m *machine) unserved(node string) bool {
	for _, h := range m.model[node] {
		if h.milli > 0 && len(h.gpus) == 0 {
			return true
		}
	}
	return false
}

// unservedSome reports whether some node has a pod without the GPUs that it asks for.
func (m *machine) unservedSome() bool {
	for node := range m.sizes {
		if m.unserved(node) {
			return true
		}
	}
	return false
}

func priority(p *api.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// overfull reports whether pods hold more of a GPU than there is.
func (m *machine) overfull() bool {
	for node, pods := range m.model {
		used := make([]int64, m.sizes[node])
		for _, h := range pods {
			for _, i := range h.gpus {
				if used[i] += h.milli; used[i] > 1000 {
					return true
				}
			}
		}
	}
	return false
}

// claim places a nominated pod, if it fits now.
func (m *machine) claim() {
	nominated := slices.Sorted(maps.Keys(m.nominees))
	if len(nominated) == 0 {
		return
	}
	node := nominated[0]
	p := m.nominees[node]
	m.snapshot.ClearNomination(p, node)
	delete(m.nominees, node)
	r, err := m.gpus.Request(p)
	m.must(err)
	if placed, _ := m.place(p, r); placed {
		m.seen["claims"]++
	}
}

// check compares the snapshot with the model.
func (m *machine) check() {
	m.t.Helper()
	m.must(m.snapshot.Check())
	m.must(m.gpus.Check(m.snapshot))
	for _, n := range m.snapshot.All() {
		pods := m.model[n.Name()]
		if len(n.Pods) != len(pods) {
			m.t.Fatalf("%s has %d pods, want %d", n.Name(), len(n.Pods), len(pods))
		}
		used := make([]int64, m.sizes[n.Name()])
		for _, p := range n.Pods {
			h := pods[p.Pod.Name]
			if got, want := m.gpus.Held(m.snapshot, n, p), words(h.gpus); "gpu "+got.String() != want && "gpus "+got.String() != want && (got != 0 || want != "") {
				m.t.Fatalf("%s on %s has GPUs %q, want %q", p.Pod.Name, n.Name(), got, want)
			}
			for _, i := range h.gpus {
				used[i] += h.milli
			}
		}
		free := m.gpus.Free(m.snapshot, n)
		for i, u := range used {
			if want := max(0, 1000-u); int64(free.Left[i]) != want {
				m.t.Fatalf("gpu %d of %s has %d left, want %d", i, n.Name(), free.Left[i], want)
			}
		}
	}
}

// TestModel compares what the plugins know with a plain model, through forks, nested
// transactions, refused reserves, preemption and nominated pods. All decisions are made on
// both paths.
func TestModel(t *testing.T) {
	seen, want := map[string]int{}, map[string]int{
		"nominations": 10, "victims": 20, "claims": 5, "searches compared": 10, "pods without a node": 2, "bound pods whose GPU is in use": 5,
	}
	enough.Check(t, seen, want, func(t *rapid.T) { t.Repeat(newMachine(t, seen).steps()) })
	t.Log(seen)
}

// TestNodeIsUpdated: what is left follows the node's own GPUs and model.
func TestNodeIsUpdated(t *testing.T) {
	gpus := devices.New(devices.Config{})
	s := framework.NewSnapshot(framework.Arrival)
	node := func(count, model string) *api.Node {
		return api.MakeNode("n", "8", "8Gi").Resource(devices.Vendor+"/gpu-count", count).Labels(devices.Vendor+"/gpu-card-model", model).Obj()
	}
	if err := s.AddNode(node("2", "T4")); err != nil {
		t.Fatal(err)
	}
	add := func(name, milli string) {
		p, err := s.NewPodInfo(api.MakePod(name).Annotations(devices.Vendor+"/gpu-milli", milli).Obj())
		if err == nil {
			err = s.AddPodAt(p, s.Node("n"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(model string, left ...int32) {
		t.Helper()
		f := gpus.Free(s, s.Node("n"))
		if !slices.Equal(f.Left[:f.GPUs], left) || f.Model != model {
			t.Errorf("%v of %s is left, want %v of %s", f.Left[:f.GPUs], f.Model, left, model)
		}
		if err := gpus.Check(s); err != nil {
			t.Error(err)
		}
	}
	check("T4", 1000, 1000)
	add("a", "300")
	add("b", "900")
	check("T4", 700, 100)
	for _, tt := range []struct {
		count, model string
		left         []int32
	}{{"4", "T4", []int32{700, 100, 1000, 1000}}, {"4", "G2", []int32{700, 100, 1000, 1000}}, {"1", "G2", []int32{700}}} {
		if err := s.UpdateNode(node(tt.count, tt.model)); err != nil {
			t.Fatal(err)
		}
		check(tt.model, tt.left...)
	}
	add("c", "700")
	check("G2", 0)
}

// TestPutBack: pods that leave and are put back have the GPUs that they had, in whatever
// order they come; once another pod has come, the place is anyone's.
func TestPutBack(t *testing.T) {
	gpus := devices.New(devices.Config{})
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "8", "8Gi").Resource(devices.Vendor+"/gpu-count", "2").Obj()); err != nil {
		t.Fatal(err)
	}
	pods := map[string]*framework.PodInfo{}
	for name, milli := range map[string]string{"a": "300", "b": "800", "c": "600", "d": "100"} {
		p, err := s.NewPodInfo(api.MakePod(name).Annotations(devices.Vendor+"/gpu-milli", milli).Obj())
		if err != nil {
			t.Fatal(err)
		}
		pods[name] = p
	}
	add := func(names ...string) {
		for _, name := range names {
			if err := s.AddPodAt(pods[name], s.Node("n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(names ...string) {
		for _, name := range names {
			if err := s.RemovePodAt(pods[name], s.Node("n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := func() (all string) {
		for _, name := range []string{"a", "b", "c", "d"} {
			all += name + gpus.Held(s, s.Node("n"), pods[name]).String() + " "
		}
		if err := gpus.Check(s); err != nil {
			t.Error(err)
		}
		return all
	}
	add("a", "b", "c")
	before := held()
	if before != "a0 b1 c0 d " {
		t.Fatalf("%s are held", before)
	}
	for _, order := range [][]string{{"b", "c", "a"}, {"c", "b", "a"}, {"b", "a", "c"}} {
		remove("a", "b", "c")
		add(order...)
		if got := held(); got != before {
			t.Errorf("put back as %v: %s, want %s", order, got, before)
		}
	}
	would := (devices.GPUShare{GPUs: gpus}).Reserves
	remove("a", "b", "c")
	if got := would(s, pods["b"], s.Node("n")); got != "gpu 1" {
		t.Errorf("b would get %q, want gpu 1", got)
	}
	add("d", "b")
	if got := held(); got != "a b0 c d0 " {
		t.Errorf("after another pod: %s", got)
	}
}
