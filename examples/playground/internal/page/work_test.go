//go:build full

package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// worldOf makes the cluster of texts.
func worldOf(t *testing.T, texts Texts) *world {
	t.Helper()
	c, problems := read(&State{Preset: "1.37", Texts: texts})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	w, err := newWorld(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// spent takes a step and returns what it counts as.
func (w *world) spent(t *testing.T, s Step) int {
	t.Helper()
	before := w.work
	if err := w.apply(s); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return w.work - before
}

func nodesText(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"kind":"Node","metadata":{"name":"n%d"},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"}}}`+"\n", i)
	}
	return b.String()
}

// workloadText is a workload of 1,000 pods of so many millicores, with more labels and more in
// the spec of its pods.
func workloadText(kind, name string, cpu int, labels, spec string) string {
	return fmt.Sprintf(`{"kind":%q,"apiVersion":"apps/v1","metadata":{"name":%q},"spec":{"replicas":1000,"template":{"metadata":{"labels":{"a":"b"%s}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"%dm"}}}]%s}}}}`+"\n",
		kind, name, labels, cpu, spec)
}

func manyLabels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"label-%d":"v"`, i)
	}
	return b.String()
}

// TestSearchesCount compares decisions from kept answers with those that ask about all nodes
// again: the first ones of a class, and those after other weights or other nodes.
func TestSearchesCount(t *testing.T) {
	const nodes = 2000
	w := worldOf(t, Texts{Nodes: nodesText(nodes), Pods: workloadText("Deployment", "a", 1, "", "") + workloadText("Deployment", "b", 2, "", "")})
	one := func(workload string) int {
		t.Helper()
		for _, p := range w.queue {
			if strings.HasPrefix(p.Pod.Name, workload) {
				queue := len(w.queue)
				return w.spent(t, Step{Do: stepPlace, Name: p.Pod.Key()}) - queue
			}
		}
		t.Fatal("no pod waits")
		return 0
	}
	check := func(what string, got, least, most int) {
		t.Helper()
		if got < least || got > most {
			t.Errorf("%s: a decision counts as %d, want %d to %d", what, got, least, most)
		}
	}
	const few, search, searches = 300, 2 * nodes, 10 * nodes
	check("the first", one("a"), search, searches)
	for range 50 { // kept answers begin late
		one("a")
	}
	one("b")
	one("b")
	check("known", one("a"), 0, few)
	for range 2 {
		one("b")
	}
	check("known, after another class", one("a"), 0, few)
	weighed := 0
	for _, s := range []Step{
		{Do: stepWeigh, Name: "default-scheduler", Weights: map[string]int64{"NodeResourcesFit": 3}},
		{Do: stepAdd, Name: "n1"},
		{Do: stepDrain, Name: "n2"},
	} {
		if s.Do == stepWeigh {
			weighed = w.spent(t, s)
		} else {
			w.spent(t, s)
		}
		check("after "+s.Do, one("a"), search, searches)
		check("after "+s.Do+", another class", one("b"), search, searches)
		for range 50 { // kept answers begin late
			one("a")
			one("b")
		}
		check("after "+s.Do+", known", one("a"), 0, few)
	}
	if weighed < 1000 {
		t.Errorf("other weights count as %d, want 1000 at least for a new scheduler", weighed)
	}
	w.spent(t, Step{Do: stepEvict, Name: w.acts[0].pod})
	check("after evict", one("a"), 0, few)
}

// TestHitsCount places pods that change the scores of whole zones and racks: each decision from kept
// answers looks at them. One about pods without preferences does not.
func TestHitsCount(t *testing.T) {
	const nodes, pods = 1000, 100
	var text strings.Builder
	for i := range nodes {
		fmt.Fprintf(&text, `{"kind":"Node","metadata":{"name":"n%d","labels":{"kubernetes.io/hostname":"n%d","zone":"z%d","rack":"r%d"}},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"}}}`+"\n", i, i, i%3, i%50)
	}
	prefers := func(keys ...string) string {
		var terms []string
		for _, key := range keys {
			terms = append(terms, fmt.Sprintf(`{"weight":5,"podAffinityTerm":{"topologyKey":%q,"labelSelector":{"matchLabels":{"a":"b"}}}}`, key))
		}
		return `,"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[` + strings.Join(terms, ",") + `]}}`
	}
	spreads := func(keys ...string) string {
		var list []string
		for _, key := range keys {
			list = append(list, fmt.Sprintf(`{"maxSkew":1,"topologyKey":%q,"whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"a":"b"}}}`, key))
		}
		return `,"topologySpreadConstraints":[` + strings.Join(list, ",") + `]`
	}
	for _, tt := range []struct {
		name, spec  string
		least, most int
	}{
		{"plain", "", decisionWork, 2 * decisionWork},
		{"spread over nodes", spreads("kubernetes.io/hostname"), decisionWork, 2 * decisionWork},
		{"spread over nodes, racks and zones", spreads("kubernetes.io/hostname", "rack", "zone"), nodes / 2, 20 * nodes},
		{"away from nodes, racks and zones", prefers("kubernetes.io/hostname", "rack", "zone"), nodes / 2, 20 * nodes},
	} {
		w := worldOf(t, Texts{Nodes: text.String(), Pods: workloadText("Deployment", "d", 1, "", tt.spec)})
		w.spent(t, Step{Do: stepPlace, N: pods}) // kept answers begin late
		hits := w.last.Stats().Hits
		got := w.spent(t, Step{Do: stepPlace, N: pods}) / pods
		if hits = w.last.Stats().Hits - hits; hits < pods*9/10 {
			t.Errorf("%s: %d decisions of %d are from kept answers, want nearly all", tt.name, hits, pods)
		}
		if got < tt.least || got > tt.most {
			t.Errorf("%s: a decision counts as %d, want %d to %d", tt.name, got, tt.least, tt.most)
		}
	}
}

// TestDrainCounts drains nodes: where each pod goes is searched for, once for pods that are alike.
func TestDrainCounts(t *testing.T) {
	const nodes = 500
	var running strings.Builder
	for i := range 20 {
		fmt.Fprintf(&running, `{"kind":"Pod","metadata":{"name":"a%d"},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"1m"}}}]}}`+"\n", i)
		fmt.Fprintf(&running, `{"kind":"Pod","metadata":{"name":"b%d"},"spec":{"nodeName":"n2","containers":[{"name":"c","resources":{"requests":{"cpu":"%dm"}}}]}}`+"\n", i, i+1)
	}
	w := worldOf(t, Texts{Nodes: nodesText(nodes), Pods: running.String()})
	none, alike, differ := w.spent(t, Step{Do: stepDrain, Name: "n3"}), w.spent(t, Step{Do: stepDrain, Name: "n1"}), w.spent(t, Step{Do: stepDrain, Name: "n2"})
	if none > 10_000 || alike < 2*nodes || alike > 10*nodes+20_000 || differ < 20*2*nodes {
		t.Errorf("a drain counts as %d without pods, %d with 20 that are alike and %d with 20 that differ; want at least %d and %d", none, alike, differ, 2*nodes, 20*2*nodes)
	}
}

// TestDeviceSearchesCount places pods with claims that are searched for in vain, and then pods
// without claims; another world does not pay for it.
func TestDeviceSearchesCount(t *testing.T) {
	var gpus, requests []string
	for i := range 12 {
		gpus = append(gpus, fmt.Sprintf(`{"name":"gpu-%d"}`, i))
	}
	for i := range 6 {
		never := ""
		if i == 5 {
			never = `,"selectors":[{"cel":{"expression":"1 == 2"}}]`
		}
		requests = append(requests, fmt.Sprintf(`{"name":"r%d","firstAvailable":[{"name":"any","deviceClassName":"gpu","allocationMode":"ExactCount","count":1%s}]}`, i, never))
	}
	w := worldOf(t, Texts{Nodes: nodesText(1), Pods: `{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"s"},"spec":{"driver":"d","nodeName":"n0","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[` + strings.Join(gpus, ",") + `]}}
{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"gpu"},"spec":{}}
{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c","namespace":"default"},"spec":{"devices":{"requests":[` + strings.Join(requests, ",") + `]}}}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"searches","namespace":"default"},"spec":{"containers":[{"name":"c"}],"resourceClaims":[{"name":"x","resourceClaimName":"c"}]}}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"plain","namespace":"default"},"spec":{"containers":[{"name":"c"}]}}
`})
	if got := w.spent(t, Step{Do: stepPlace, N: 1}); got < 50_000 || len(w.unplaced) != 1 {
		t.Errorf("a search for devices counts as %d, %d pods are unplaced; want 50,000 at least, and one", got, len(w.unplaced))
	}
	if got := w.spent(t, Step{Do: stepPlace, N: 1}); got > 1000 || len(w.unplaced) != 1 {
		t.Errorf("a plain pod then counts as %d, %d pods are unplaced", got, len(w.unplaced))
	}
	other, err := newWorld(w.cluster)
	if err != nil {
		t.Fatal(err)
	}
	if got := other.takeSearched(); got != 0 {
		t.Errorf("a new world begins with %d steps", got)
	}
}

// volumesText is a class, so many volumes of it, and so many claims, each with a selector of its own.
func volumesText(volumes, claims int) string {
	var b strings.Builder
	b.WriteString(`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"local"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"}` + "\n")
	for i := range volumes {
		fmt.Fprintf(&b, `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"v%d","labels":{"n":"%d"}},"spec":{"storageClassName":"local","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]},"status":{"phase":"Available"}}`+"\n", i, i)
	}
	for i := range claims {
		fmt.Fprintf(&b, `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c%d","namespace":"default"},"spec":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"selector":{"matchLabels":{"n":"%d"}}}}`+"\n", i, i)
	}
	return b.String()
}

// TestVolumeSearchesCount places pods whose claims look through volumes for their selectors.
func TestVolumeSearchesCount(t *testing.T) {
	const volumes, claims = 500, 10
	var mounts []string
	for i := range claims {
		mounts = append(mounts, fmt.Sprintf(`{"name":"v%d","persistentVolumeClaim":{"claimName":"c%d"}}`, i, i))
	}
	w := worldOf(t, Texts{Nodes: nodesText(1), Pods: volumesText(volumes, claims) + `{"kind":"Pod","metadata":{"name":"searches","namespace":"default"},"spec":{"containers":[{"name":"c"}],"volumes":[` + strings.Join(mounts, ",") + `]}}
{"kind":"Pod","metadata":{"name":"plain","namespace":"default"},"spec":{"containers":[{"name":"c"}]}}
`})
	if got := w.spent(t, Step{Do: stepPlace, N: 1}); got < volumeWork*volumes*claims || len(w.unplaced) != 0 {
		t.Errorf("a search for volumes counts as %d, want %d at least; unplaced: %v", got, volumeWork*volumes*claims, w.unplaced)
	}
	if got := w.spent(t, Step{Do: stepPlace, N: 1}); got > 1000 {
		t.Errorf("a plain pod then counts as %d", got)
	}
}

// TestTooManySelectors: one pod may mount all claims.
func TestTooManySelectors(t *testing.T) {
	const volumes = 3000
	for claims, refused := range map[int]bool{maxSearch / volumeWork / volumes: false, maxSearch/volumeWork/volumes + 1: true} {
		_, problems := read(&State{Preset: "1.37", Texts: Texts{Nodes: nodesText(1), Pods: volumesText(volumes, claims)}})
		if got := strings.Contains(fmt.Sprint(problems), "selectors"); got != refused || !refused && len(problems) > 0 {
			t.Errorf("%d claims: %v", claims, problems)
		}
	}
}

// TestSelectorsCount places pods beside services and namespaces that their terms may select.
func TestSelectorsCount(t *testing.T) {
	const n = 200
	var objects strings.Builder
	for i := range n {
		fmt.Fprintf(&objects, `{"kind":"Service","apiVersion":"v1","metadata":{"name":"s%d","namespace":"default"},"spec":{"selector":{"n":"%d"}}}`+"\n", i, i)
		fmt.Fprintf(&objects, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n%d"}}`+"\n", i)
	}
	const term = `{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"a"}},"namespaceSelector":{"matchLabels":{"team":"a"}}}`
	w := worldOf(t, Texts{Nodes: nodesText(1), Pods: objects.String() +
		`{"kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"containers":[{"name":"c"}]}}
{"kind":"Pod","metadata":{"name":"b","namespace":"default"},"spec":{"containers":[{"name":"c"}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[` + term + `],"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":` + term + `}]}}}}
`})
	plain, selects := w.spent(t, Step{Do: stepPlace, N: 1}), w.spent(t, Step{Do: stepPlace, N: 1})
	if plain < serviceWork*n || selects < plain+2*selectorWork*n || len(w.unplaced) != 0 {
		t.Errorf("beside %d services and namespaces a plain pod counts as %d, one with two terms as %d; unplaced: %v", n, plain, selects, w.unplaced)
	}
}

// TestReportsCount places a pod on a node whose agent reports about thousands of pods.
func TestReportsCount(t *testing.T) {
	const reports = 5000
	var list []string
	for i := range reports {
		list = append(list, fmt.Sprintf(`{"namespace":"default","name":"r%d","podUsage":{"cpu":"1m"}}`, i))
	}
	w := worldOf(t, Texts{
		Nodes: nodesText(1) + "\n" + `{"kind":"NodeMetric","apiVersion":"slo.koordinator.sh/v1alpha1","metadata":{"name":"n0"},"status":{"podsMetric":[` + strings.Join(list, ",") + `]}}`,
		Pods:  `{"kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c"}]}}`,
	})
	if got := w.spent(t, Step{Do: stepPlace, N: 1}); got < reports || len(w.unplaced) != 0 {
		t.Errorf("a pod beside %d reports counts as %d, unplaced: %v", reports, got, w.unplaced)
	}
}

// TestCopiesCountBySize adds and drains a node of 20,000 labels: each step copies it.
func TestCopiesCountBySize(t *testing.T) {
	labels := manyLabels(20_000)
	w := worldOf(t, Texts{Nodes: fmt.Sprintf(`{"kind":"Node","metadata":{"name":"n","labels":{"a":"b"%s}},"status":{"allocatable":{"cpu":"8"}}}`, labels)})
	for _, s := range []Step{{Do: stepAdd, Name: "n"}, {Do: stepAdd, Name: "n"}, {Do: stepAdd, Name: "n-copy-1"}, {Do: stepDrain, Name: "n"}} {
		if got := w.spent(t, s); got < 4*len(labels) {
			t.Errorf("%s %s counts as %d, want 4 at least for each of %d bytes", s.Do, s.Name, got, len(labels))
		}
	}
}

// TestLargePodsCount places pods that differ in a label beside 20,000 others, and pods with 500
// terms of node affinity.
func TestLargePodsCount(t *testing.T) {
	const nodes = 20
	labels := manyLabels(20_000)
	w := worldOf(t, Texts{Nodes: nodesText(nodes), Pods: strings.Replace(workloadText("StatefulSet", "s", 1, labels, ""), `"replicas":1000,`, `"replicas":100,`, 1)})
	for range 3 {
		if got := w.spent(t, Step{Do: stepPlace, N: 1}); got < len(labels)/2 {
			t.Errorf("a pod with labels of %d bytes counts as %d, want half as much at least", len(labels), got)
		}
	}
	var terms []string
	for i := range 1000 {
		terms = append(terms, fmt.Sprintf(`{"matchExpressions":[{"key":"a","operator":"NotIn","values":["%d"]}]}`, i))
	}
	text := strings.Join(terms, ",")
	w = worldOf(t, Texts{Nodes: nodesText(nodes), Pods: workloadText("Deployment", "d", 1, "", `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`+text+`]}}}`)})
	if w.specSize(w.queue[0].Pod) < len(text)/2 {
		t.Fatal("the terms are no part of the size")
	}
	for range 3 {
		if got, want := w.spent(t, Step{Do: stepPlace, N: 1}), len(terms)*nodes; got < want {
			t.Errorf("a pod with %d terms counts as %d, want %d at least", len(terms), got, want)
		}
	}
}

// TestTooLargeToLookAt reads pods that would keep the page busy with a single look at all nodes.
func TestTooLargeToLookAt(t *testing.T) {
	nodes, labels := nodesText(20_000), manyLabels(4000)
	for name, pods := range map[string]string{
		"deployment default/d": workloadText("Deployment", "d", 1, labels, ""),
		"pod default/d":        fmt.Sprintf(`{"kind":"Pod","metadata":{"name":"d","labels":{"a":"b"%s}},"spec":{"containers":[{"name":"c"}]}}`, labels),
	} {
		_, problems := read(&State{Preset: "1.37", Texts: Texts{Nodes: nodes, Pods: "# comment\n---\n" + pods}})
		if len(problems) != 1 || !strings.Contains(problems[0].Text, name) || !strings.Contains(problems[0].Text, "too much") || problems[0].Line != 3 {
			t.Errorf("problems %v, want one of %s at line 3", problems, name)
		}
	}
}

// TestBudgetsCount drains a node: each drain reads all budgets, and may look at those of a pod's namespace.
func TestBudgetsCount(t *testing.T) {
	const n = 2000
	spent := func(budgets int, pod string) int {
		var b strings.Builder
		b.WriteString(pod)
		for i := range budgets {
			fmt.Fprintf(&b, `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"b%d","namespace":"ns"},`, i)
			b.WriteString(`"spec":{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["d","e"]}]}}}` + "\n")
		}
		return worldOf(t, Texts{Nodes: nodesText(2), Pods: b.String()}).spent(t, Step{Do: stepDrain, Name: "n0"})
	}
	const parts = 5 * n
	if got := spent(n, "") - spent(0, ""); got != parts*budgetWork {
		t.Errorf("%d budgets count as %d in a drain, want %d", n, got, parts*budgetWork)
	}
	pod := `{"kind":"Pod","metadata":{"name":"p","namespace":"ns"},"spec":{"nodeName":"n0","containers":[{"name":"c"}]}}` + "\n"
	if got := spent(n, pod) - spent(0, pod); got != parts*(budgetWork+1) {
		t.Errorf("%d budgets count as %d in a drain of a pod, want %d", n, got, parts*(budgetWork+1))
	}
}

// TestUsualWorkIsFarFromTheBound does on the large sample what people do.
func TestUsualWorkIsFarFromTheBound(t *testing.T) {
	s, _ := sampleTexts("large")
	w := worldOf(t, s.Texts)
	w.spent(t, Step{Do: stepPlace, N: 1000})
	for i := range 20 {
		w.spent(t, Step{Do: stepWeigh, Name: "default-scheduler", Weights: map[string]int64{"NodeResourcesFit": int64(i + 2)}})
		w.spent(t, Step{Do: stepPlace, N: 50})
		node := w.acts[i].node
		w.spent(t, Step{Do: stepAdd, Name: node})
		w.spent(t, Step{Do: stepPlace, N: 50})
		w.spent(t, Step{Do: stepDrain, Name: node})
		w.spent(t, Step{Do: stepPlace, N: 50})
	}
	w.spent(t, Step{Do: stepPlace, N: 5000})
	if len(w.queue) > 0 || w.work > maxWork/10 {
		t.Errorf("%d pods wait, and the work is %d; want none, and %d at most", len(w.queue), w.work, maxWork/10)
	}
}

// TestTermsCount places pods that each have affinity terms of their own: each pod that is placed may
// match them all, so few can be placed.
func TestTermsCount(t *testing.T) {
	const pods, each = 4000, 8
	const node = `{"kind":"Node","metadata":{"name":"n","labels":{"z":"1"}},"status":{"allocatable":{"cpu":"64","memory":"64Gi","pods":"9999"}}}`
	var text strings.Builder
	for i := range pods {
		var terms []string
		for k := range each {
			terms = append(terms, fmt.Sprintf(`{"weight":1,"podAffinityTerm":{"topologyKey":"z","labelSelector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["%d-%d"]}]}}}`, i, k))
		}
		fmt.Fprintf(&text, `{"kind":"Pod","metadata":{"name":"x%d"},"spec":{"containers":[{"name":"c"}],"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[%s]}}}}`+"\n", i, strings.Join(terms, ","))
	}
	w := worldOf(t, Texts{Nodes: node, Pods: text.String()})
	if w.terms != pods*each {
		t.Errorf("%d terms, want %d", w.terms, pods*each)
	}
	if err := w.apply(Step{Do: stepPlace, N: pods}); err == nil || len(w.queue) < pods*4/5 {
		t.Errorf("%v after %d of %d pods; want few of them placed", err, pods-len(w.queue), pods)
	}
	// Pods with the same terms count once.
	w = worldOf(t, Texts{Nodes: node, Pods: workloadText("Deployment", "d", 1, "", `,"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"z","labelSelector":{}}}]}}`)})
	if w.terms != 1 {
		t.Errorf("%d terms, want 1", w.terms)
	}
}

// comparingText is a pod with so many affinity terms; each is compared with every pod.
func comparingText(name string, terms int) string {
	list := make([]string, terms)
	for i := range list {
		list[i] = fmt.Sprintf(`{"weight":1,"podAffinityTerm":{"topologyKey":"z","labelSelector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["%s-%d"]}]}}}`, name, i)
	}
	return fmt.Sprintf(`{"kind":"Pod","metadata":{"name":"%s"},"spec":{"containers":[{"name":"c"}],"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[%s]}}}}`+"\n", name, strings.Join(list, ","))
}

// runningText are pods on a node; each has a label of its own.
func runningText(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"kind":"Pod","metadata":{"name":"r%[1]d","labels":{"a":"r%[1]d","all":"yes"}},"spec":{"nodeName":"n0","containers":[{"name":"c"}]}}`+"\n", i)
	}
	return b.String()
}

// TestComparisonsCount: terms are compared with pods, in decisions and in what is shown of waiting pods.
func TestComparisonsCount(t *testing.T) {
	const running, terms, waiting = 3000, 10, 200
	text := runningText(running)
	for i := range waiting {
		text += comparingText(fmt.Sprint("w", i), terms)
	}
	w := worldOf(t, Texts{Nodes: nodesText(2), Pods: text})
	if got, want := w.spent(t, Step{Do: stepPlace, N: 1}), running*terms*pairWork; got < want {
		t.Errorf("a pod with %d terms beside %d pods counts as %d, want %d at least", terms, running, got, want)
	}
	if list, all := w.classes(); all || len(list) == 0 || len(list) > waiting/2 {
		t.Errorf("%d of %d classes are shown, all: %t; want few", len(list), waiting, all)
	}
	_, problems := read(&State{Preset: "1.37", Texts: Texts{Nodes: nodesText(2), Pods: text + comparingText("many", maxSearch/running)}})
	if len(problems) != 1 || !strings.Contains(problems[0].Text, "default/many") || !strings.Contains(problems[0].Text, "too many") {
		t.Errorf("problems %v, want one of the pod many", problems)
	}
}

// TestDemanded: a selector is compared with the pods that have a label that it demands.
func TestDemanded(t *testing.T) {
	var pods []*framework.PodInfo
	for _, p := range []*api.Pod{
		api.MakePod("a").Labels("app", "web", "n", "1").Obj(), api.MakePod("b").Labels("app", "web", "n", "2").Obj(),
		api.MakePod("c").Labels("app", "web", "n", "2").Obj(), api.MakePod("d").Labels("app", "db").Obj(),
		api.MakePod("e").Namespace("other").Labels("app", "db").Obj(), api.MakePod("f").Obj(),
	} {
		info, err := framework.NewSnapshot(framework.Arrival).NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, info)
	}
	x := peersOf(pods)
	expressions := func(list ...api.LabelSelectorRequirement) *api.LabelSelector {
		return &api.LabelSelector{MatchExpressions: list}
	}
	for _, test := range []struct {
		selector *api.LabelSelector
		want     int
	}{
		{nil, 0},
		{&api.LabelSelector{}, 5},
		{&api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, 2},
		{expressions(api.LabelSelectorRequirement{Key: "app", Operator: api.LabelSelectorOpIn, Values: []string{"web", "db", "no"}}), 4},
		{expressions(api.LabelSelectorRequirement{Key: "n", Operator: api.LabelSelectorOpExists}), 2},
		{expressions(api.LabelSelectorRequirement{Key: "n", Operator: api.LabelSelectorOpNotIn, Values: []string{"1"}}), 5},
		{expressions(api.LabelSelectorRequirement{Key: "n", Operator: api.LabelSelectorOpDoesNotExist}), 5},
		{&api.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []api.LabelSelectorRequirement{{Key: "n", Operator: api.LabelSelectorOpIn, Values: []string{"1"}}}}, 1},
	} {
		if got := x.demanded(test.selector); got != test.want {
			t.Errorf("%v is compared with %d, want %d", test.selector, got, test.want)
		}
	}
}

// TestSizesDoNotMix: pods that share a part of their specs have sizes of their own.
func TestSizesDoNotMix(t *testing.T) {
	w := worldOf(t, Texts{Nodes: nodesText(2), Pods: comparingText("small", 1) + comparingText("large", 500)})
	small, large := w.specSize(w.queue[0].Pod), w.specSize(w.queue[1].Pod)
	if large < 100*small {
		t.Errorf("the specs have %d and %d bytes, want 100 times as many at least", small, large)
	}
}

// TestBackgroundCounts: what the configuration adds to each pod, and taints of nodes, are work in each look at a
// node, also at one that a step has added.
func TestBackgroundCounts(t *testing.T) {
	const nodes = 50
	pod := `{"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"10m"}}}]}}`
	place := func(config string, taints int) *world {
		var list strings.Builder
		for i := range taints {
			fmt.Fprintf(&list, `{"key":"k%d","effect":"PreferNoSchedule"},`, i)
		}
		text := strings.ReplaceAll(nodesText(nodes), `"status"`, `"spec":{"taints":[`+strings.TrimSuffix(list.String(), ",")+`]},"status"`)
		return worldOf(t, Texts{Config: config, Nodes: text, Pods: pod})
	}
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n  pluginConfig:\n  - name: PodTopologySpread\n    args:\n      defaultingType: List\n      defaultConstraints:\n"
	constraints := func(n int, line func(i int) string) string {
		text := head
		for i := range n {
			text += line(i)
		}
		return text
	}
	written := constraints(300, func(i int) string {
		return fmt.Sprintf("      - {maxSkew: 1000, topologyKey: k%d, whenUnsatisfiable: ScheduleAnyway}\n", i)
	})
	plain := place("", 0).spent(t, Step{Do: stepPlace, N: 1})
	few := place(constraints(1, func(int) string {
		return "      - {maxSkew: 1000, topologyKey: k, whenUnsatisfiable: ScheduleAnyway}\n"
	}), 0)
	if got := few.spent(t, Step{Do: stepPlace, N: 1}); got != plain {
		t.Errorf("a small configuration makes a decision the work of %d, want %d", got, plain)
	}
	if got := place(written, 0).spent(t, Step{Do: stepPlace, N: 1}); got < plain+300*nodes {
		t.Errorf("300 constraints of the configuration make a decision the work of %d, want more than %d", got, plain+300*nodes)
	}
	w := place("", 400)
	if got := w.spent(t, Step{Do: stepPlace, N: 1}); got < plain+100*nodes {
		t.Errorf("400 taints of each node make a decision the work of %d, want %d at least", got, plain+100*nodes)
	}
	before := w.around
	w.spent(t, Step{Do: stepAdd, Name: "n0"})
	if w.around.nodes != before.nodes+1 || w.around.taints != before.taints+400 {
		t.Errorf("a node more: %+v, after %+v", w.around, before)
	}
	c, problems := read(&State{Preset: "1.37", Texts: Texts{Config: constraints(999, func(i int) string {
		return fmt.Sprintf("      - {maxSkew: 1000, topologyKey: %s%d, whenUnsatisfiable: ScheduleAnyway}\n", strings.Repeat("k", 50), i)
	}), Nodes: nodesText(7000), Pods: pod}})
	if c != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, "is too much to look at 7000 nodes for") {
		t.Errorf("a configuration that is too much for the nodes: %v", problems)
	}
}

// storageText is a volume of so many terms that is bound to a claim, and a class of so many topologies with a claim that is not.
func storageText(terms int) string {
	var nodes, topologies []string
	for i := range terms {
		nodes = append(nodes, fmt.Sprintf(`{"matchExpressions":[{"key":"k","operator":"In","values":["%d"]}]}`, i))
		topologies = append(topologies, fmt.Sprintf(`{"matchLabelExpressions":[{"key":"k","values":["%d"]}]}`, i))
	}
	return fmt.Sprintf(`{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany"],"claimRef":{"namespace":"default","name":"bound"},
		"csi":{"driver":"d","volumeHandle":"h"},"nodeAffinity":{"required":{"nodeSelectorTerms":[%s]}}}}
{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"bound","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"v","accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}
{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"c"},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[%s]}
{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"old","annotations":{"volume.beta.kubernetes.io/storage-class":"c"}},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}
{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"free"},"spec":{"storageClassName":"c","accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}
`, strings.Join(nodes, ","), strings.Join(topologies, ","))
}

// TestStorageCounts places pods whose volume has very many terms of node affinity, or whose class has many topologies. Where one look
// at all nodes would be too much, the texts are refused.
func TestStorageCounts(t *testing.T) {
	const nodes, terms = 20, 5000
	for _, claim := range []string{"bound", "free", "old"} {
		pods := workloadText("Deployment", "d", 1, "", fmt.Sprintf(`,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":%q}}]`, claim))
		w := worldOf(t, Texts{Nodes: nodesText(nodes), Pods: storageText(terms) + pods})
		if got, want := w.spent(t, Step{Do: stepPlace, N: 1}), nodes*terms; got < want {
			t.Errorf("a pod of the claim %s counts as %d, want %d at least", claim, got, want)
		}
		_, problems := read(&State{Preset: "1.37", Texts: Texts{Nodes: nodesText(1000), Pods: storageText(terms) + pods}})
		if len(problems) != 2 || !strings.Contains(problems[0].Text, "is too much to compare with 1000 nodes") {
			t.Errorf("problems %v, want one of the volume and one of the class", problems)
		}
	}
}

// Steps that take too long are left out, whatever they are counted as, and those before them stay.
func TestStepsTakeAMinute(t *testing.T) {
	p := opened(t, "shop")
	at := time.Unix(0, 0)
	p.now, p.world = func() time.Time { return at }, nil
	if reply := p.Do(&Request{Do: "place", N: 3}); len(reply.Problems) > 0 {
		t.Fatal(reply.Problems)
	}
	p.now = func() time.Time { // each look at the clock is 10 s after the one before
		at = at.Add(10 * time.Second)
		return at
	}
	p.world.now = p.now
	reply := p.Do(&Request{Do: "place", N: 20})
	if len(reply.Problems) != 1 || !strings.Contains(reply.Problems[0].Text, "take longer than 1m0s") {
		t.Errorf("problems %v, want one about the time", reply.Problems)
	}
	if len(p.state.Steps) != 1 || p.state.Steps[0].N != 3 {
		t.Errorf("steps %v, want the one before", p.state.Steps)
	}
	// A link with too many steps keeps those that fit into the time.
	p.state.Steps = []Step{{Do: stepPlace, N: 2}, {Do: stepPlace, N: 20}}
	text, err := p.state.text()
	if err != nil {
		t.Fatal(err)
	}
	reply = p.Do(&Request{Do: "open", Text: text})
	if len(reply.Problems) != 1 || !strings.Contains(reply.Problems[0].Text, "this step and those after it are left out") || len(p.state.Steps) != 1 {
		t.Errorf("problems %v, steps %v; want the first step alone", reply.Problems, p.state.Steps)
	}
}
