//go:build full

package page

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProblems writes faults into the texts. Each must be found at its line, and the page
// must go on showing the answers of before.
func TestProblems(t *testing.T) {
	const node = "kind: Node\nmetadata: {name: lone}\nstatus: {allocatable: {cpu: 4, pods: 10}}\n"
	const config = "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\n"
	deep := strings.Repeat("[", 20_000)
	deployment := func(fields string) string {
		return "# comment\n---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: main\n        resources:\n          " + fields + "\n"
	}
	many := func(name string) string {
		return "---\nkind: Deployment\nmetadata: {name: " + name + "}\nspec:\n  replicas: 70000\n  template: {spec: {containers: [{name: c}]}}\n"
	}
	tests := []struct {
		name, nodes, pods, config string
		want                      []Problem
	}{
		{
			"quantity", "# first\n\n---\n" + node + "---\nkind: Node\nmetadata:\n  name: bad\nstatus:\n  allocatable:\n    cpu: 4x\n", "", "",
			[]Problem{{"nodes", 13, `node bad: status.allocatable[cpu]: "4x": `}},
		},
		{"both texts", "kind: Node\nmetadata: {}\n", "kind: Pod\nmetadata: {name: 7}\n", "", []Problem{{"nodes", 2, "metadata.name: is missing"}, {"pods", 2, "want a string"}}},
		{"no YAML", node, "kind: Pod\n\tmetadata: 1\n", "", []Problem{{"pods", 2, ""}}},
		{"no JSON", node, "{\"kind\": \"Pod\",\n\"metadata\": {\"name\": \"p\"},,}", "", []Problem{{"pods", 2, "not JSON: unexpected ','"}}},
		{
			"list in JSON", node, "{\"kind\":\"List\",\"items\":[\n{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}},\n{\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"},\n\"spec\":{\"priority\":\n\"high\"}}]}", "",
			[]Problem{{"pods", 4, `pod default/b: spec.priority: "high": want an integer`}},
		},
		{"template", node, deployment("requests: {cpu: -1}"), "", []Problem{{"pods", 13, `pod shop/web-0: spec.containers[0].resources.requests[cpu]: "-1"`}}},
		{"unknown nodes", node, "kind: Pod\nmetadata: {name: p}\nspec: {nodeName: nowhere}\n---\nkind: Pod\nmetadata: {name: q}\nspec:\n  nodeName: nowhere\n", "", []Problem{{"pods", 3, "spec.nodeName"}, {"pods", 8, "spec.nodeName"}}},
		{"node twice", node + "---\n" + node, "", "", []Problem{{"nodes", 6, "node lone: metadata.name"}}},
		{"nothing", "", "kind: Pod\nmetadata: {name: p}\n", "", []Problem{{"nodes", 0, "there are no nodes"}}},
		{"no object", "hello\n", "", "", []Problem{{"nodes", 1, "neither a mapping nor a list"}}},
		{"configuration", node, "", "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofiles:\n- plugins:\n    score:\n      enabled:\n      - name: Nobody\n        weigth: 3\n", []Problem{{"config", 8, "weigth"}}},
		{"unknown plugin", node, "", "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofiles: [{plugins: {score: {enabled: [{name: Nobody}]}}}]\n", []Problem{{"config", 3, `"Nobody" does not exist`}}},
		{"scoring strategy", node, "", "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: Mostest}}\n", []Problem{{"config", 6, `scoringStrategy.type: Unsupported value: "Mostest"`}}},
		{"extender", node, "", "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nextenders:\n- {urlPrefix: 'http://localhost', filterVerb: filter}\n", []Problem{{"config", 3, "asks no extender"}}},
		{
			"too many pods", node, many("one") + many("two") + many("three"), "",
			[]Problem{{"pods", 17, "deployment default/three: spec.replicas: \"70000\": makes more than 200000 pods in all"}},
		},
		{"configuration that 1.37 does not read", node, "", "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3\n", []Problem{{"config", 2, `for version "kubescheduler.config.k8s.io/v1beta3"; want kind`}}},
		{"not a configuration", node, "", "# mine\nkind: Pod\n", []Problem{{"config", 2, "apiVersion"}}},
		{"no queue sort", node, "", config + "profiles:\n- plugins:\n    queueSort: {disabled: [{name: '*'}]}\n", []Problem{{"config", 5, "only one queue sort plugin"}}},
		{"no bind", node, "", config + "profiles:\n- plugins:\n    bind:\n      disabled:\n      - name: '*'\n", []Problem{{"config", 6, "at least one bind plugin"}}},
		{"aliases in themselves", "# first\n---\n" + node + "---\nkind: Node\nmetadata: &m\n  name: n\n  labels: *m\n", "kind: Pod\nmetadata:\n  labels: &l\n    x: [*l]\n", config + "profiles: &p\n- plugins: *p\n", []Problem{{"config", 4, "'p' value contains itself"}, {"nodes", 10, "'m' value contains itself"}, {"pods", 4, "'l' value contains itself"}}},
		{"control characters", node + "# \a\n", "kind: Pod\nmetadata: {name: \"\x00\"}\n", config + "parallelism: \x01\n", []Problem{{"config", 3, "control characters"}, {"nodes", 4, "control characters"}, {"pods", 2, "control characters"}}},
		{"control character in JSON", node, "{\"kind\": \"Pod\",\n\"metadata\": {\"name\": \"\a\"}}", "", []Problem{{"pods", 2, "control character"}}},
		{"no UTF-8", node, "kind: Pod\nmetadata: {name: \xff}\n", "", []Problem{{"pods", 2, "UTF-8"}}},
		{"brackets", "\n" + deep, "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"},\n\"spec\":\n" + deep, config + "profiles: " + deep, []Problem{{"config", 3, "more than 150 collections"}, {"nodes", 2, "exceeded max depth"}, {"pods", 3, "nested deeper than 1000"}}},
		{"brackets that only a list makes too deep", node, "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}}\n{\"kind\": \"Pod\", \"metadata\": {\"name\": \"q\"},\n\"a\":\n" + deep[:999] + strings.Repeat("]", 999) + "}", "", []Problem{{"pods", 4, "nested deeper than 1000"}}},
		{"brackets in JSON", node, "", "{\"kind\":\n" + deep, []Problem{{"config", 2, "exceeded max depth"}}},
		{"an unknown alias", node, "kind: Pod\nmetadata: {name: p}\nspec: *s\n", "", []Problem{{"pods", 3, "unknown anchor 's'"}}},
		{"only pods", "# none\nkind: Pod\nmetadata: {name: p}\n", "", "", []Problem{{"nodes", 1, "there are no nodes"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := opened(t, "shop")
			before := do(t, p, Request{Do: "place", N: 2}).View
			v := do(t, p, Request{Do: "edit", Texts: &Texts{test.nodes, test.pods, test.config}}).View
			if len(v.Problems) < len(test.want) || test.name != "unknown plugin" && len(v.Problems) > len(test.want) {
				t.Fatalf("problems %+v, want %+v", v.Problems, test.want)
			}
			for i, want := range test.want {
				got := v.Problems[i]
				if got.Area != want.Area || got.Line != want.Line || !strings.Contains(got.Text, want.Text) {
					t.Errorf("problem %+v, want %+v", got, want)
				}
			}
			if !v.Stale || v.Sentence != before.Sentence || v.Steps != 2 {
				t.Errorf("stale %v, %d steps, %q; want the answers of before", v.Stale, v.Steps, v.Sentence)
			}
			if reply := p.Do(&Request{Do: "place", N: 1}); len(reply.Problems) != 1 || !strings.Contains(reply.Problems[0].Text, "correct the texts") {
				t.Errorf("placing with faulty texts: %v", reply.Problems)
			}
			sample, _ := sampleTexts("shop")
			if v := do(t, p, Request{Do: "edit", Texts: &sample.Texts}).View; v.Stale || v.Steps != 2 || v.Sentence != before.Sentence || v.Sample != "shop" {
				t.Errorf("after the correction: stale %v, %d steps", v.Stale, v.Steps)
			}
		})
	}
}

// TestKubectl reads what kubectl prints.
func TestKubectl(t *testing.T) {
	p := New()
	text := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"kubernetes.io/hostname":"n"}},"status":{"allocatable":{"cpu":"4","memory":"16Gi","pods":"110"},"nodeInfo":{"kubeletVersion":"v1.34.0"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"1"},"spec":{"containers":[{"name":"c"}],"schedulingGates":[{"name":"g"}]}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","uid":"2"},"spec":{"schedulerName":"mine","containers":[{"name":"c"}]}},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}]}`
	v := do(t, p, Request{Do: "edit", Texts: &Texts{Nodes: text}}).View
	if len(v.Problems) > 0 || v.Nodes != 1 || v.Waiting != 0 || len(v.LeftOut) != 2 || len(v.Warnings) != 1 {
		t.Errorf("%+v, %d nodes, %d wait, left out %v, warnings %v", v.Problems, v.Nodes, v.Waiting, v.LeftOut, v.Warnings)
	}
	if len(v.Rows) != 1 || v.Rows[0].Node != "n" {
		t.Errorf("rows %v: a node must be there to be clicked, though no pod waits", v.Rows)
	}
}

// TestDoubts expects a warning with the line for what is likely a mistake.
func TestDoubts(t *testing.T) {
	p := New()
	v := do(t, p, Request{Do: "edit", Texts: &Texts{
		Nodes: "kind: Node\nmetadata:\n  name: one\n  lables: {}\n",
		Pods:  "kind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Perhaps\n",
	}}).View
	want := []string{
		"nodes, line 4: node one: metadata.lables: unknown field; did you mean labels?",
		`pods, line 4: pod default/p: spec.restartPolicy: "Perhaps": unknown value; want Always, OnFailure or Never`,
	}
	if len(v.Problems) > 0 {
		t.Errorf("problems: %+v", v.Problems)
	}
	if diff := cmp.Diff(want, v.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestDoubtsOfWorkloads expects one warning for a workload, however many pods it stands for.
func TestDoubtsOfWorkloads(t *testing.T) {
	p := New()
	v := do(t, p, Request{Do: "edit", Texts: &Texts{
		Nodes: "kind: Node\nmetadata:\n  name: one\n",
		Pods:  "kind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 1000\n  template:\n    spec:\n      restartPolicy: Perhaps\n",
	}}).View
	want := []string{`pods, line 7: deployment default/d: spec.template.spec.restartPolicy: "Perhaps": unknown value; want Always, OnFailure or Never`}
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.Waiting != 1000 {
		t.Errorf("%d pods wait, warnings (-want +got):\n%s", v.Waiting, diff)
	}
}

// TestState opens the state of a page in another one, which must show the same.
func TestState(t *testing.T) {
	for _, sample := range []string{"shop", "ties", "load", "large"} {
		p := opened(t, sample)
		requests := []Request{
			{Do: "seed", Seed: 9},
			{Do: "place", N: 3},
			{Do: "weigh", Weights: map[string]int64{"NodeResourcesFit": 7}},
			{Do: "place", N: 2},
			{Do: "weigh", Weights: map[string]int64{"NodeResourcesFit": 3, "ImageLocality": 0}},
			{Do: "weigh", Weights: map[string]int64{"NodeResourcesFit": 4}},
		}
		for _, r := range requests {
			do(t, p, r)
		}
		node := p.world.snapshot.At(0).Name()
		for _, r := range []Request{{Do: "add", Name: node}, {Do: "drain", Name: node}, {Do: "place", N: 1}, {Do: "node", Name: node}} {
			do(t, p, r)
		}
		want := do(t, p, Request{Do: "edit"}).View
		text := do(t, p, Request{Do: "link"}).Text
		if len(text) > 1000 {
			t.Errorf("the state of a sample has %d bytes; its texts need not be in it", len(text))
		}
		q := New()
		reply := do(t, q, Request{Do: "open", Text: text})
		if diff := cmp.Diff(want, reply.View, ignoreFuncs, cmp.AllowUnexported(Preset{}, Row{})); diff != "" {
			t.Errorf("%s: the state shows something else (-want +got):\n%s", sample, diff)
		}
		if reply.Texts == nil || *reply.Texts != p.state.Texts {
			t.Error("the link has other texts")
		}
	}
}

// TestOwnTexts keeps texts in the state, and refuses what no page would open.
func TestOwnTexts(t *testing.T) {
	p := opened(t, "shop")
	texts := p.state.Texts
	texts.Nodes = "# mine\n" + texts.Nodes
	do(t, p, Request{Do: "edit", Texts: &texts})
	text := do(t, p, Request{Do: "link"}).Text
	q := New()
	if reply := do(t, q, Request{Do: "open", Text: text}); *reply.Texts != texts || reply.View.Sample != "" {
		t.Error("the state has other texts")
	}
	p.state.Config = strings.Repeat(" ", maxState-len(text)-len(`,"config":""`))
	if reply := p.Do(&Request{Do: "link"}); len(reply.Problems) > 0 || len(reply.Text) != maxState {
		t.Errorf("a text that just fits: %d bytes, %v", len(reply.Text), reply.Problems)
	}
	p.state.Config += " "
	if reply := p.Do(&Request{Do: "link"}); len(reply.Problems) != 1 || !strings.Contains(reply.Problems[0].Text, "too large for a link") {
		t.Errorf("a large text: %v", reply.Problems)
	}
}

// TestBadStates opens states that are damaged or ask for what cannot be done.
func TestBadStates(t *testing.T) {
	tests := []struct {
		name, text, want string
		steps            int
	}{
		{"no JSON", `{"preset":`, "damaged", 0},
		{"sample", `{"preset":"1.37","sample":"nothing"}`, `the sample "nothing"`, 0},
		{"preset", `{"preset":"9.99","sample":"shop"}`, `the preset "9.99"`, 0},
		{"step", `{"preset":"1.37","sample":"shop","steps":[{"do":"place","n":2},{"do":"drain","name":"nobody"},{"do":"place","n":1}]}`, `step 2, drain nobody: node "nobody" is not in the cluster; this step and those after it are left out`, 2},
		{"unknown step", `{"preset":"1.37","sample":"shop","steps":[{"do":"dance"}]}`, `there is no step "dance"`, 0},
		{"too many steps", `{"preset":"1.37","sample":"shop","steps":[` + strings.Repeat(`{},`, 10_000) + `{}]}`, "steps, more than", 0},
		{"weights", `{"preset":"1.37","sample":"shop","steps":[{"do":"weigh","name":"default-scheduler","weights":{"ImageLocality":-3}}]}`, "want a weight from 0", 0},
		{"negative steps", `{"preset":"1.37","sample":"shop","steps":[{"do":"place","n":-3}]}`, "nothing to place", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := New()
			reply := p.Do(&Request{Do: "open", Text: test.text})
			if len(reply.Problems) != 1 || reply.Problems[0].Area != "link" || !strings.Contains(reply.Problems[0].Text, test.want) {
				t.Errorf("problems %v, want %q", reply.Problems, test.want)
			}
			if reply.View == nil || reply.View.Decision == nil || reply.Texts == nil {
				t.Error("the page shows nothing")
			}
			if reply.View.Steps != test.steps {
				t.Errorf("%d steps, want %d", reply.View.Steps, test.steps)
			}
		})
	}
}

// FuzzPage sends any requests and any texts. The page must always answer with a view, and
// with a state that another page can open.
func FuzzPage(f *testing.F) {
	sample, _ := sampleTexts("ties")
	f.Add(sample.Nodes, sample.Pods, "", `{"do":"place","n":2}`, `{"do":"weigh","weights":{"ImageLocality":3}}`)
	f.Add("kind: Node\nmetadata: {name: lone}\n", "kind: Pod\nmetadata: {name: p}\nspec: {priority: 7}\n", loadAwareConfig, `{"do":"drain","name":"lone"}`, `{"do":"node","name":"lone"}`)
	f.Add("{", "---\n---", "a: [", `{"do":"open","text":"{\"preset\":\"1.37\",\"sample\":\"shop\",\"steps\":[{\"do\":\"place\",\"n\":2}]}"}`, `{"do":"back"}`)
	f.Fuzz(func(t *testing.T, nodes, pods, config, first, second string) {
		p := New()
		edit, err := json.Marshal(Request{Do: "edit", Texts: &Texts{nodes, pods, config}})
		if err != nil {
			t.Skip()
		}
		for _, request := range []string{string(edit), first, second, `{"do":"edit"}`} {
			if strings.Contains(request, `"warm"`) || strings.Contains(request, `"test"`) || strings.Contains(request, `"link"`) {
				continue
			}
			var reply Reply
			if err := json.Unmarshal(p.Call([]byte(request)), &reply); err != nil {
				t.Fatal(err)
			}
			for _, problem := range reply.Problems {
				if strings.Contains(problem.Text, "a fault of berth") {
					t.Fatalf("%s: %s", request, problem.Text)
				}
			}
		}
		link := p.Do(&Request{Do: "link"})
		if link.Text == "" {
			return
		}
		want := p.Do(&Request{Do: "edit"}).View
		q := New()
		got := q.Do(&Request{Do: "open", Text: link.Text}).View
		if !want.Stale && want.Sentence != got.Sentence {
			t.Errorf("the link shows %q, want %q", got.Sentence, want.Sentence)
		}
	})
}

// TestWorkIsBounded takes steps until their work is too much for a page, as a hostile link
// may. What was done before stays.
func TestWorkIsBounded(t *testing.T) {
	for _, s := range []Request{{Do: "place", N: 3}, {Do: stepAdd}, {Do: stepDrain}, {Do: stepEvict}, {Do: "weigh", Weights: map[string]int64{"ImageLocality": 2}}} {
		p := opened(t, "shop")
		do(t, p, Request{Do: "place", N: 2})
		w, err := p.ready()
		if err != nil {
			t.Fatal(err)
		}
		before, waiting := w.work, len(w.queue)
		least := map[string]int{"place": 3 * decisionWork, stepAdd: waiting, stepDrain: waiting, stepEvict: waiting}[s.Do]
		switch s.Do {
		case stepAdd, stepDrain:
			s.Name = w.acts[0].node
		case stepEvict:
			s.Name = w.acts[0].pod
		}
		do(t, p, s)
		if spent := w.work - before; spent < least+decisionWork {
			t.Errorf("%s counts as work of %d, want at least %d", s.Do, spent, least+decisionWork)
		}
		do(t, p, Request{Do: "back"})
		if w, err = p.ready(); err != nil {
			t.Fatal(err)
		}
		if s.Do != "place" && w.work != before { // one decision of several is taken back
			t.Errorf("back from %s leaves the work of %d, want %d", s.Do, w.work, before)
		}
		steps := len(p.state.Steps)
		w.work = maxWork - 2*decisionWork
		reply := p.Do(&Request{Do: "place", N: 3})
		if len(reply.Problems) != 1 || !strings.Contains(reply.Problems[0].Text, "too much work") || len(p.state.Steps) != steps {
			t.Errorf("after %s: problems %v, %d steps; want too much work, %d", s.Do, reply.Problems, len(p.state.Steps), steps)
		}
	}
}

// TestCopiesCostAlike adds one node again and again: the last costs as much as the first.
func TestCopiesCostAlike(t *testing.T) {
	allocations := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			w, err := newWorld(opened(t, "shop").cluster)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			for _, node := range w.snapshot.All() {
				name = node.Name()
			}
			for range n {
				if err := w.apply(Step{Do: stepAdd, Name: name}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	some, many := allocations(500), allocations(4000)
	if many > 12*some {
		t.Errorf("4000 nodes take %v allocations and 500 take %v, want about 8 times as many", many, some)
	}
}
