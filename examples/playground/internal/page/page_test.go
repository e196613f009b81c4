//go:build full

package page

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/scheduling"
)

// do makes a request that must have no problem.
func do(t testing.TB, p *Page, r Request) *Reply {
	t.Helper()
	reply := p.Do(&r)
	if len(reply.Problems) > 0 {
		t.Fatalf("%s %s: %v", r.Do, r.Name, reply.Problems)
	}
	return reply
}

// opened returns a page with a sample.
func opened(t testing.TB, sample string) *Page {
	t.Helper()
	p := New()
	if v := do(t, p, Request{Do: "sample", Name: sample}).View; len(v.Problems) > 0 {
		t.Fatalf("sample %s: %v", sample, v.Problems)
	}
	return p
}

// TestSamples places all pods of every sample, and checks what the page says on the way.
func TestSamples(t *testing.T) {
	tests := []struct {
		sample, first                     string
		nodes, running, waiting, unplaced int
	}{
		{"shop", "shop/web-0 goes to b-2 with 668 points, the best of 4 feasible nodes among 6.", 6, 2, 10, 1},
		{"ties", "default/worker-0 goes to node-5 with 486 points: one of 8 best nodes, chosen by the tie rule Random. 8 of 8 nodes are feasible.", 8, 0, 12, 0},
		{"load", "default/api-0 goes to calm-2 with", 4, 2, 5, 0},
		{"large", "default/app-00-0 goes to", 500, 0, 5000, 0},
	}
	for _, test := range tests {
		t.Run(test.sample, func(t *testing.T) {
			p := opened(t, test.sample)
			v := do(t, p, Request{Do: "edit"}).View
			if v.Nodes != test.nodes || v.Running != test.running || v.Waiting != test.waiting {
				t.Errorf("%d nodes, %d pods run, %d wait; want %d, %d, %d", v.Nodes, v.Running, v.Waiting, test.nodes, test.running, test.waiting)
			}
			if !strings.HasPrefix(v.Sentence, test.first) {
				t.Errorf("sentence %q, want %q", v.Sentence, test.first)
			}
			v = do(t, p, Request{Do: "place", N: 10_000}).View
			if v.Waiting != 0 || v.Unplaced != test.unplaced || v.Running != test.running+test.waiting-test.unplaced {
				t.Errorf("at the end %d pods run, %d wait, %d fit nowhere; want %d unplaced: %v", v.Running, v.Waiting, v.Unplaced, test.unplaced, v.History[0])
			}
			for v.Steps > test.waiting-3 { // back shows the same as forth
				v = do(t, p, Request{Do: "back"}).View
			}
			again := do(t, p, Request{Do: "place", N: 1}).View
			back := do(t, p, Request{Do: "back"}).View
			if diff := cmp.Diff(v, back, cmp.AllowUnexported(Preset{}, Row{}), ignoreFuncs); diff != "" {
				t.Errorf("after a step forth and back (-want +got):\n%s", diff)
			}
			if again.History[0].Node != v.Decision.Chosen {
				t.Errorf("the pod went to %s, the page said %s", again.History[0].Node, v.Decision.Chosen)
			}
		})
	}
}

var ignoreFuncs = cmp.FilterPath(func(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".profile" || name == ".registry" || name == ".node"
}, cmp.Ignore())

// TestWeights compares the table under other weights with what a scheduler of these weights
// explains, for every rule and in the middle of a history.
func TestWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		p.Do(&Request{Do: "sample", Name: rapid.SampledFrom([]string{"shop", "ties", "load"}).Draw(t, "sample")})
		p.Do(&Request{Do: "preset", Name: rapid.SampledFrom([]string{"1.18", "1.34", "1.37", LoadAware}).Draw(t, "preset")})
		p.Do(&Request{Do: "seed", Seed: rapid.Uint64Max(50).Draw(t, "seed")})
		p.Do(&Request{Do: "place", N: rapid.IntRange(1, 4).Draw(t, "placed")})
		v := p.Do(&Request{Do: "edit"}).View
		weights := map[string]int64{}
		for _, s := range v.Scorers {
			if rapid.Bool().Draw(t, s.Plugin) {
				weights[s.Plugin] = rapid.Int64Range(0, 5).Draw(t, "weight")
			}
		}
		reply := p.Do(&Request{Do: "weigh", Weights: weights})
		if len(reply.Problems) > 0 {
			if !strings.Contains(reply.Problems[0].Text, "all weights are 0") {
				t.Fatal(reply.Problems)
			}
			return
		}
		compare(t, p, reply.View, weights)
	})
}

// compare decides anew, with a scheduler of its own, and compares.
func compare(t *rapid.T, p *Page, v *View, weights map[string]int64) {
	w := p.world
	pod := p.subject(w)
	profile := w.laneOf(pod).profile
	profile.Score = nil
	for _, s := range w.laneOf(pod).profile.Score {
		if weight, ok := weights[s.Plugin.Name()]; ok && weight == 0 {
			continue
		} else if ok {
			s.Weight = weight
		}
		profile.Score = append(profile.Score, s)
	}
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	sched.Seek(w.last.Position())
	want := sched.Explain(w.snapshot, pod)
	d := v.Decision
	if d.Chosen != want.Chosen || d.Feasible != want.Feasible || d.Unscored != want.Unscored {
		t.Errorf("chosen %s of %d; want %s of %d", d.Chosen, d.Feasible, want.Chosen, want.Feasible)
	}
	if !want.Unscored && len(want.TiedNodes) > 0 {
		tied := map[string]bool{}
		for _, n := range d.Tied {
			tied[n] = true
		}
		if len(tied) != len(want.TiedNodes) || !tied[want.TiedNodes[0]] {
			t.Errorf("tied %v, want %v", d.Tied, want.TiedNodes)
		}
	}
	rows := map[string]*Row{}
	for _, r := range v.Rows {
		rows[r.Node] = r
	}
	for _, n := range want.Nodes {
		r := rows[n.Node]
		if r == nil {
			t.Fatalf("node %s has no row", n.Node)
		}
		if r.Total != n.Total || r.Rank != n.Rank || r.Verdict != n.Verdict || strings.Join(r.Reasons, ";") != strings.Join(n.Reasons, ";") {
			t.Errorf("node %s: %+v, want %+v", n.Node, r, n)
		}
		for _, s := range n.Scores {
			for i, c := range r.Cells {
				if v.Scorers[i].Plugin == s.Plugin && *c != (Cell{s.Raw, s.Normalized, s.Weighted}) {
					t.Errorf("node %s, %s: %+v, want %+v", n.Node, s.Plugin, *c, s)
				}
			}
		}
	}
}

// TestElsewhere counts by hand which waiting pods other weights would put elsewhere.
func TestElsewhere(t *testing.T) {
	p := opened(t, "shop")
	v := do(t, p, Request{Do: "weigh", Weights: map[string]int64{"NodeResourcesFit": 0, "NodeResourcesBalancedAllocation": 0, "ImageLocality": 50}}).View
	e := v.Elsewhere
	if e == nil || !e.All || e.Of != 10 {
		t.Fatalf("elsewhere %+v, want all 10 pods", e)
	}
	want := []Moved{{"shop/web-0", "b-2", "b-1"}, {"shop/search-0", "b-2", "a-2"}, {"shop/search-1", "b-2", "a-2"}, {"shop/search-2", "b-2", "a-2"}}
	if diff := cmp.Diff(want, e.Moves); diff != "" || e.Pods != 9 || e.Classes != 4 {
		t.Errorf("elsewhere %+v, want the 6 pods of web on b-1, which has their image, and the 3 of search:\n%s", e, diff)
	}
	if v.Decision.Own != "b-2" || v.Decision.Chosen != "b-1" {
		t.Errorf("from %s to %s", v.Decision.Own, v.Decision.Chosen)
	}
	v = do(t, p, Request{Do: "weigh"}).View
	if v.Elsewhere != nil || v.Decision.Own != "" || v.Decision.Chosen != "b-2" {
		t.Errorf("with the profile's own weights: %+v, %+v", v.Elsewhere, v.Decision)
	}
	reply := p.Do(&Request{Do: "weigh", Weights: map[string]int64{"Nonsense": 1}})
	if len(reply.Problems) != 1 || reply.Problems[0].Area != "weights" || reply.View == nil {
		t.Errorf("unknown scorer: %+v", reply.Problems)
	}
}

// TestWhatIf drains, adds and evicts, and takes it all back.
func TestWhatIf(t *testing.T) {
	p := opened(t, "shop")
	first := do(t, p, Request{Do: "node", Name: "a-2"}).View
	if first.Panel == nil || first.Panel.Why == nil || len(first.Panel.Why.Gaps) == 0 || len(first.Panel.Why.Remedies) == 0 {
		t.Fatalf("panel %+v, want why not with gaps and remedies", first.Panel)
	}
	gpu := do(t, p, Request{Do: "node", Name: "gpu"}).View
	if r := gpu.Panel.Why.Rejections; len(r) != 1 || r[0].Plugin != "TaintToleration" || len(r[0].Details) == 0 {
		t.Errorf("gpu is rejected by %+v, want TaintToleration with its numbers", r)
	}
	if len(gpu.Panel.Why.Remedies) == 0 || !strings.Contains(gpu.Panel.Why.Remedies[0], "tolerate the taint nvidia.com/gpu:NoSchedule") {
		t.Errorf("remedies %q", gpu.Panel.Why.Remedies)
	}
	do(t, p, Request{Do: "place", N: 10})
	drained := do(t, p, Request{Do: "drain", Name: "a-2"}).View
	if drained.Waiting == 0 || drained.Running+drained.Waiting+drained.Unplaced != 12 {
		t.Errorf("after a drain %d pods run, %d wait", drained.Running, drained.Waiting)
	}
	for _, r := range drained.Rows {
		if r.Node == "a-2" && (r.Plugin != "NodeUnschedulable" || r.Verdict != scheduling.VerdictRejected) {
			t.Errorf("drained node: %+v", r)
		}
	}
	added := do(t, p, Request{Do: "add", Name: "a-2"}).View
	if added.Nodes != 7 || added.History[0].Node != "a-2-copy-1" {
		t.Errorf("%d nodes after adding one, %v", added.Nodes, added.History[0])
	}
	end := do(t, p, Request{Do: "place", N: 20}).View
	if end.Running != 11 || end.Unplaced != 1 {
		t.Errorf("at the end %d pods run, %d fit nowhere; want all but one of search", end.Running, end.Unplaced)
	}
	evicted := do(t, p, Request{Do: "evict", Name: "shop/cache-0"}).View
	if evicted.Waiting != 2 || evicted.Queue[0] != "shop/cache-0" {
		t.Errorf("after an eviction %v waits", evicted.Queue)
	}
	for _, r := range []Request{{Do: "evict", Name: "nobody"}, {Do: "drain", Name: "nobody"}, {Do: "add", Name: "nobody"}, {Do: "pod", Name: "nobody"}, {Do: "nonsense"}} {
		if reply := p.Do(&r); len(reply.Problems) != 1 || reply.View == nil || reply.View.Waiting != 2 {
			t.Errorf("%s nobody: %v", r.Do, reply.Problems)
		}
	}
	v := evicted
	for v.Steps > 0 {
		v = do(t, p, Request{Do: "back"}).View
	}
	if v = do(t, p, Request{Do: "node", Name: "a-2"}).View; cmp.Diff(first, v, ignoreFuncs, cmp.AllowUnexported(Preset{}, Row{})) != "" {
		t.Error("going all the way back does not show the beginning")
	}
}

// TestPod looks at a pod that is not the next one, and places it first.
func TestPod(t *testing.T) {
	p := opened(t, "shop")
	v := do(t, p, Request{Do: "pod", Name: "shop/train-0"}).View
	if v.Decision.Pod != "shop/train-0" || v.Decision.Chosen != "gpu" || !v.Decision.Unscored {
		t.Errorf("decision %+v, want gpu, the only one", v.Decision)
	}
	v = do(t, p, Request{Do: "place"}).View
	if v.History[0].Pod != "shop/train-0" || v.Decision.Pod != "shop/web-0" || v.Waiting != 9 {
		t.Errorf("placed %v, next is %s", v.History[0], v.Decision.Pod)
	}
	v = do(t, p, Request{Do: "place", N: 2}).View
	again := do(t, p, Request{Do: "again"}).View
	if again.Steps != 3 || v.Steps != 3 {
		t.Errorf("%d steps placed again, want 3", again.Steps)
	}
}

// TestRows pages through the table and finds nodes by name.
func TestRows(t *testing.T) {
	p := opened(t, "large")
	seen := map[string]bool{}
	for n := 0; n < 500; n += pageRows {
		for _, r := range do(t, p, Request{Do: "rows", N: n}).View.Rows {
			seen[r.Node] = true
		}
	}
	if len(seen) != 500 {
		t.Errorf("%d different rows, want 500", len(seen))
	}
	v := do(t, p, Request{Do: "rows", Text: "-49"}).View
	if v.Found != 15 || len(v.Rows) != 15 { // 049, 149, ..., 490 to 499
		t.Logf("rows %v", v.Rows)
	}
	if v := do(t, p, Request{Do: "rows", Text: "nobody"}).View; v.Found != 0 || v.Rows == nil {
		t.Errorf("%d rows found", v.Found)
	}
	if v := do(t, p, Request{Do: "rows", N: 1 << 40}).View; v.Row != 0 {
		t.Errorf("row %d", v.Row)
	}
}

// TestCall checks the outer side: JSON in, JSON out, whatever comes in.
func TestCall(t *testing.T) {
	p := New()
	var reply Reply
	if err := json.Unmarshal(p.Call([]byte(`{"do":"open"}`)), &reply); err != nil || reply.View == nil || reply.Texts == nil || len(reply.Problems) > 0 {
		t.Errorf("open: %v, %+v", err, reply.Problems)
	}
	for _, text := range []string{"", "{", `{"do":7}`, `{"do":"open","text":"junk"}`, `{"do":"weigh","weights":{"ImageLocality":-1}}`} {
		reply = Reply{}
		if err := json.Unmarshal(p.Call([]byte(text)), &reply); err != nil || len(reply.Problems) != 1 {
			t.Errorf("%s: %v, problems %v; want one", text, err, reply.Problems)
		}
	}
}

// TestPanic makes a fault of the program itself. The page must say so and go on.
func TestPanic(t *testing.T) {
	p := opened(t, "shop")
	do(t, p, Request{Do: "place", N: 2})
	p.world.lanes["default-scheduler"].plain = nil
	p.kept = nil
	reply := p.Do(&Request{Do: "place", N: 1})
	if len(reply.Problems) != 1 || reply.Problems[0].Area != "page" {
		t.Fatalf("problems %v, want a fault", reply.Problems)
	}
	if v := do(t, p, Request{Do: "edit"}).View; v.Steps != 2 || v.Decision == nil {
		t.Errorf("after a fault: %d steps, want the 2 of before", v.Steps)
	}
}

// BenchmarkWeight moves a slider with 500 nodes and 5,000 pods that wait, beside deciding
// anew about one pod of each class.
func BenchmarkWeight(b *testing.B) {
	for _, name := range []string{"kept", "anew"} {
		b.Run(name, func(b *testing.B) {
			p := opened(b, "large")
			do(b, p, Request{Do: "weigh", Weights: map[string]int64{"NodeResourcesFit": 1}})
			r := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				if name == "anew" {
					p.kept, p.world.kept = nil, nil
				}
				p.Call(fmt.Appendf(nil, `{"do":"weigh","weights":{"NodeResourcesFit":%d}}`, 2+r.IntN(8)))
			}
		})
	}
}
