//go:build full

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// berth runs the command and returns its exit status and what it writes.
func berth(args ...string) (status int, stdout, stderr string) {
	return berthWith("", args...)
}

func berthWith(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err strings.Builder
	status = run(append([]string{"berth"}, args...), strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// golden compares with a file in testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	name := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("output differs from %s (-want +got); -update accepts it:\n%s", name, diff)
	}
}

const cluster = "testdata/cluster.yaml"

// questions are asked about the cluster in testdata.
var questions = []struct {
	name   string
	status int
	args   []string
}{
	{"place", 1, []string{"place", "-f", cluster}},
	{"place-api", 0, []string{"place", "-f", cluster, "-n", "shop", "deployment/api", "-replicas", "6"}},
	{"place-requests", 0, []string{"place", "-f", cluster, "-requests", "cpu=250m,memory=1Gi", "-replicas", "3", "-profile", "1.34"}},
	{"explain", 0, []string{"explain", "-f", cluster, "batch/load-0"}},
	{"explain-running", 0, []string{"explain", "-f", cluster, "shop/web-3"}},
	{"explain-nowhere", 1, []string{"explain", "-f", cluster, "-requests", "cpu=64", "-limit", "3"}},
	{"why-not", 1, []string{"why-not", "-f", cluster, "ml/train-0", "worker-1"}},
	{"why-not-scores", 1, []string{"why-not", "-f", cluster, "batch/load-0", "worker-5"}},
	{"headroom", 0, []string{"headroom", "-f", cluster, "-n", "shop", "deploy/api"}},
	{"headroom-spread", 1, []string{"headroom", "-f", cluster, "shop/web-0", "-at-least", "100"}},
	{"drain", 0, []string{"drain", "-f", cluster, "worker-1", "worker-2"}},
	{"drain-stuck", 1, []string{"drain", "-f", cluster, "worker-10", "worker-5", "worker-6", "worker-7", "worker-8", "worker-9", "worker-4"}},
	{"nodes-needed", 1, []string{"nodes-needed", "-f", cluster, "-like", "gpu-1:price=90,max=3", "-type", "big:cpu=32,memory=128Gi,price=100"}},
	{"nodes-needed-one", 0, []string{"nodes-needed", "-f", cluster, "-like", "worker-1", "-n", "shop", "deployment/api", "-replicas", "80"}},
	{"consolidate", 0, []string{"consolidate", "-f", cluster}},
	{"compare", 1, []string{"compare", "-f", cluster, "-with", "1.18"}},
	{"compare-same", 0, []string{"compare", "-f", cluster, "-profile", "1.37", "-with", "1.37"}},
	{"compare-config", 1, []string{"compare", "-f", cluster, "-config", "testdata/scheduler.yaml", "-with-scheduler", "packer"}},
	{"sweep", 1, []string{"sweep", "-f", cluster, "-weight", "NodeResourcesFit=0..2", "-weight", "NodeResourcesBalancedAllocation=1,5"}},
	{"simulate", 0, []string{"simulate", "-f", "testdata/timed.yaml"}},
	{"simulate-all", 1, []string{"simulate", "-f", cluster}},
	{"simulate-controllers", 1, []string{"simulate", "-f", cluster, "-controllers", "-until", "1h"}},
	{"simulate-autoscaler", 0, []string{"simulate", "-f", "testdata/timed.yaml", "-type", "extra:cpu=16,memory=64Gi,max=2"}},
	{"place-table", 1, []string{"place", "-f", "testdata/openb_nodes.csv", "-f", "testdata/openb_pods.csv"}},
	{"simulate-table", 0, []string{"simulate", "-f", "testdata/openb_nodes.csv", "-f", "testdata/openb_pods.csv", "-clock"}},
	{"config", 0, []string{"config", "testdata/scheduler.yaml"}},
}

// maxGolden bounds the size of a file in testdata.
const maxGolden = 100_000

// TestOutput pins the answers, as tables and as JSON.
func TestOutput(t *testing.T) {
	for _, q := range questions {
		for _, form := range []struct{ flag, suffix string }{{"table", ".txt"}, {"json", ".json"}} {
			t.Run(q.name+form.suffix, func(t *testing.T) {
				status, stdout, stderr := berth(append(q.args, "-q", "-o", form.flag)...)
				if status != q.status || stderr != "" {
					t.Errorf("status %d, standard error %q; want %d and nothing", status, stderr, q.status)
				}
				if len(stdout) < maxGolden {
					golden(t, q.name+form.suffix, stdout)
				}
				if form.flag == "json" {
					checkFields(t, q.args[0], stdout)
				}
			})
		}
	}
}

// TestReplay records a day and plays it again, with the same rules and with others.
func TestReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "day.jsonl")
	if status, _, stderr := berth("simulate", "-q", "-f", "testdata/timed.yaml", "-record", file); status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	for _, q := range []struct {
		name   string
		status int
		args   []string
	}{
		{"replay", 0, nil},
		{"replay-packing", 1, []string{"-config", "testdata/packing.yaml"}},
	} {
		for _, form := range []struct{ flag, suffix string }{{"table", ".txt"}, {"json", ".json"}} {
			status, stdout, stderr := berth(append([]string{"replay", file, "-q", "-o", form.flag}, q.args...)...)
			if status != q.status || stderr != "" {
				t.Errorf("%s: status %d, standard error %q; want %d and nothing", q.name, status, stderr, q.status)
			}
			golden(t, q.name+form.suffix, stdout)
			if form.flag == "json" {
				checkFields(t, "replay", stdout)
			}
		}
	}
	unknown := filepath.Join(t.TempDir(), "unknown.jsonl")
	text := "{\"at\":\"0s\",\"apply\":{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"10\"}}}}\n" +
		"{\"at\":\"1s\",\"apply\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"default\"}}}\n{\"at\":\"2s\",\"decision\":{\"pod\":\"default/p\",\"node\":\"b\"}}\n"
	if err := os.WriteFile(unknown, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := berth("replay", unknown); status != 2 || !strings.Contains(stderr, `unknown.jsonl: trace: line 3: event: decision.node: "b": no event adds such a node`) {
		t.Errorf("replay of a decision about an unknown node: status %d, %s", status, stderr)
	}
	status, _, stderr := berth("simulate", "-q", "-trace", file)
	if status != 0 || stderr != "" {
		t.Errorf("simulate -trace: status %d, %s", status, stderr)
	}
}

// TestInputs reads the same cluster in every form that kubectl writes.
func TestInputs(t *testing.T) {
	text, err := os.ReadFile(cluster)
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := berth("place", "-q", "-f", cluster, "-limit", "0")
	want = strings.Replace(want, cluster, "standard input", 1)
	asJSON := toJSON(t, text)
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal([]byte(asJSON), &list); err != nil {
		t.Fatal(err)
	}
	var documents, lines strings.Builder
	for _, item := range list.Items {
		fmt.Fprintf(&documents, "---\n%s\n", item)
		fmt.Fprintf(&lines, "%s\n", item)
	}
	for name, stdin := range map[string]string{"YAML": string(text), "JSON": asJSON, "documents": documents.String(), "objects": lines.String()} {
		status, got, stderr := berthWith(stdin, "place", "-q", "-limit", "0")
		if status != 1 || stderr != "" {
			t.Errorf("%s: status %d, %s", name, status, stderr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, got, _ := berthWith(asJSON, "place", "-q", "-limit", "0", "-f", "-"); got != want {
		t.Errorf("-f - gives another answer")
	}
}

// TestErrors expects one line that says where and what, on standard error, and status 2.
func TestErrors(t *testing.T) {
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	node := "kind: Node\nmetadata: {name: w1}\nstatus:\n  allocatable:\n    cpu: \"4\"\n---\n"
	pod := "kind: Pod\nmetadata:\n  name: p\nspec:\n  nodeName: %s\n  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: %s\n"
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"value", []string{"place", "-f", write(node + fmt.Sprintf(pod, "w1", "1x"))}, []string{"f:16: pod default/p: spec.containers[0].resources.requests[cpu]: \"1x\""}},
		{"unknown node", []string{"place", "-f", write(node + fmt.Sprintf(pod, "w2", "1"))}, []string{"f:11: pod default/p: spec.nodeName: \"w2\": this node is not among the objects", "-validate=warn"}},
		{"no nodes", []string{"place", "-f", write(fmt.Sprintf(pod, `""`, "1"))}, []string{"no nodes", "kubectl get nodes"}},
		{"pods of nodes that are not there", []string{"place", "-f", write(fmt.Sprintf(pod, "w1", "1"))}, []string{"f:5: pod default/p", "kubectl get nodes"}},
		{"restart policy that nobody reads", []string{"place", "-f", write(node + fmt.Sprintf(pod, "w1", "1") + "  restartPolicy: Sometimes\n  preemptionPolicy: Perhaps\n")}, []string{
			`f:17: pod default/p: spec.restartPolicy: "Sometimes": unknown value; want Always, OnFailure or Never`, "f:18: pod default/p: spec.preemptionPolicy: \"Perhaps\": unknown value; want PreemptLowerPriority or Never",
		}},
		{"operator in a workload", []string{"simulate", "-controllers", "-f", write(node + "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      tolerations:\n      - key: a\n        operator: Equals\n")}, []string{
			`f:15: deployment default/d: spec.template.spec.tolerations[0].operator: "Equals": unknown value; want Exists, Equal, Lt or Gt`,
		}},
		{"misspelt fields", []string{"place", "-f", write(strings.Replace(node, "allocatable", "alocatable", 1) + strings.Replace(fmt.Sprintf(pod, `""`, "1"), "requests", "requets", 1))}, []string{
			"f:4: node w1: status.alocatable: unknown field; did you mean allocatable?", "f:15: pod default/p: spec.containers[0].resources.requets: unknown field; did you mean requests?", "-validate=warn",
		}},
		{"repeated field", []string{"place", "-f", write(node + strings.Replace(fmt.Sprintf(pod, `""`, "1"), "cpu: 1", "cpu: 1\n        cpu: 8", 1))}, []string{
			"f:17: pod default/p: spec.containers[0].resources.requests[cpu]: is repeated; the last value counts", "-validate=warn",
		}},
		{"repeated field in JSON", []string{"place", "-f", write("{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n{\"kind\": \"Node\", \"metadata\": {\"name\": \"m\"}, \"status\": {\"allocatable\": {\"cpu\": 1,\n\"cpu\": 8}}}]}")}, []string{
			"f:3: node m: status.allocatable[cpu]: is repeated; the last value counts",
		}},
		{"host port", []string{"place", "-f", write(node + fmt.Sprintf(pod, "w1", "1") + "    ports:\n    - hostPort: 70000\n")}, []string{
			`f:18: pod default/p: spec.containers[0].ports[0].hostPort: "70000": want a port from 1 to 65535`,
		}},
		{"namespace with a slash", []string{"drain", "w1", "-f", write(node + strings.Replace(fmt.Sprintf(pod, "w1", "1"), "name: p\n", "name: p\n  namespace: a/b\n", 1))}, []string{
			`pod a/b/p: metadata.namespace: "a/b": must not have a slash`,
		}},
		{"misspelt field in JSON", []string{"place", "-f", write("{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n{\"kind\": \"Node\", \"metadata\": {\"name\": \"n\"}},\n{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"namespace\": \"a\"},\n\"spec\": {\"containers\": [{\"name\": \"c\"}, {\"name\": \"d\",\n\"resource\": {}}]}}]}")}, []string{
			"f:5: pod a/p: spec.containers[1].resource: unknown field; did you mean resources?",
		}},
		{"misspelt resources", []string{"place", "-f", write(strings.Replace(node, "cpu", "memorry", 1) + strings.Replace(fmt.Sprintf(pod, `""`, "1"), "cpu", "memroy", 1))}, []string{
			`f:5: node w1: status.allocatable[memorry]: "4": unknown resource; did you mean memory?`, `f:16: pod default/p: spec.containers[0].resources.requests[memroy]: "1": unknown resource; did you mean memory?`,
		}},
		{"misspelt -requests", []string{"headroom", "-sample", "-requests", "memroy=1Gi"}, []string{`-requests: "memroy": unknown resource; did you mean memory?`}},
		{"-requests in capitals", []string{"headroom", "-sample", "-requests", "CPU=100"}, []string{`-requests: "CPU": unknown resource; did you mean cpu?`}},
		{"-requests of no resource", []string{"headroom", "-sample", "-requests", "gpu=1"}, []string{`-requests: "gpu": unknown resource; want cpu, memory, ephemeral-storage, hugepages-... or a name with a domain, such as example.com/gpu`}},
		{"misspelt price", []string{"nodes-needed", "-sample", "-type", "s:cpu=8,pirce=120"}, []string{`-type s: "pirce": did you mean price?`}},
		{"max in capitals", []string{"nodes-needed", "-sample", "-type", "s:cpu=8,MAX=1"}, []string{`-type s: "MAX": did you mean max?`}},
		{"misspelt resource of a -type", []string{"nodes-needed", "-sample", "-type", "s:cpus=8"}, []string{`-type s: "cpus": unknown resource; want cpu, memory`}},
		{"validate", []string{"place", "-validate", "maybe"}, []string{`-validate: "maybe": want strict, warn or ignore`}},
		{"an affinity with a text", []string{"place", "-f", write(node + fmt.Sprintf(pod, `""`, "1") + "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n        nodeSelectorTerms:\n        - matchExpressions:\n          - {key: cores, operator: Gt, values: [many]}\n")}, []string{
			`f:22: pod default/p: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]: "many": want an integer for Gt and Lt`,
		}},
		{"missing action", []string{"place", "-f", write(node + fmt.Sprintf(pod, "w1", "1") + "  topologySpreadConstraints:\n  - maxSkew: 1\n    topologyKey: zone\n")}, []string{
			"pod default/p: spec.topologySpreadConstraints[0].whenUnsatisfiable: is missing; want DoNotSchedule or ScheduleAnyway",
		}},
		{"a table of kubectl", []string{"place", "-f", write("NAME   STATUS   ROLES    AGE   VERSION\nw1     Ready    <none>   1d    v1.34.0\n")}, []string{"f:1: ", "kubectl get nodes,pods -A -o json"}},
		{"no YAML", []string{"place", "-f", write("a: [1\n")}, []string{"f:", "did not find"}},
		{"cut off", []string{"place", "-f", write("{\"kind\": \"List\",\n\"items\": [")}, []string{"f:2: not JSON: unexpected end of input"}},
		{"missing file", []string{"place", "-f", "testdata/none.yaml"}, []string{"testdata/none.yaml"}},
		{"two faults of a configuration", []string{"place", "-f", cluster, "-config", write("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\na: 1\nb: 2\n")}, []string{"f:3: unknown field \"a\"", "f:4: unknown field \"b\""}},
		{"plugin of a configuration", []string{"place", "-f", cluster, "-config", write("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {score: {enabled: [{name: Nobody}]}}\n")}, []string{"f:4: ", "\"Nobody\" does not exist"}},
		{"question", []string{"plaice"}, []string{`"plaice"`, "berth help"}},
		{"flag", []string{"place", "-bogus"}, []string{"-bogus"}},
		{"form", []string{"place", "-o", "xml"}, []string{`-o: "xml": want table, json or html`}},
		{"version", []string{"place", "-f", cluster, "-profile", "1.30"}, []string{`-profile: kube-scheduler "1.30": `, "want 1.18, 1.34 or 1.37"}},
		{"other version", []string{"compare", "-f", cluster, "-with", "1.30"}, []string{`-with: kube-scheduler "1.30": `, "want 1.18, 1.34 or 1.37"}},
		{"unknown pod", []string{"explain", "-f", cluster, "web-3"}, []string{"pod default/web-3", "did you mean shop/web-3?"}},
		{"unknown workload", []string{"headroom", "-f", cluster, "sts/db"}, []string{"StatefulSet default/db"}},
		{"unknown drained node", []string{"drain", "-f", cluster, "worker-99"}, []string{`node "worker-99": there is no such node in testdata/cluster.yaml; did you mean worker-9 or`}},
		{"unlike any node", []string{"drain", "-f", cluster, "nope"}, []string{`node "nope": `, "there are gpu-1, old-1, worker-1 and "}},
		{"why-not on an unknown node", []string{"why-not", "-f", cluster, "ml/train-0", "Worker-1"}, []string{`node "Worker-1": `, "did you mean worker-1 or "}},
		{"consolidate an unknown node", []string{"consolidate", "-f", cluster, "gpu1"}, []string{`node "gpu1": `, "did you mean gpu-1?"}},
		{"no nodes to drain", []string{"drain", "-f", cluster}, []string{"name one or more nodes"}},
		{"no machines", []string{"nodes-needed", "-f", cluster}, []string{"-type", "-like"}},
		{"machine", []string{"nodes-needed", "-f", cluster, "-type", "a:cpu=x"}, []string{"-type a: cpu", `"x"`}},
		{"price", []string{"nodes-needed", "-f", cluster, "-type", "a:cpu=1,price=0"}, []string{"-type a: price: \"0\""}},
		{"unknown like", []string{"nodes-needed", "-f", cluster, "-like", "none"}, []string{`-like: node "none": `, "there are gpu-1"}},
		{"no other rules", []string{"compare", "-f", cluster}, []string{"-with"}},
		{"no weights", []string{"sweep", "-f", cluster}, []string{"-weight"}},
		{"unknown scorer", []string{"sweep", "-f", cluster, "-weight", "None=1"}, []string{`-weight: "None": `, "ImageLocality", "NodeResourcesFit"}},
		{"a scorer alone", []string{"sweep", "-f", cluster, "-weight", "Foo"}, []string{`-weight: "Foo": `, "NodeResourcesFit=1,2,5"}},
		{"too many weights", []string{"sweep", "-f", cluster, "-weight", "ImageLocality=0..99999,0..99999"}, []string{`-weight ImageLocality: "0..99999": more than 100000 weights`}},
		{"price twice", []string{"nodes-needed", "-f", cluster, "-type", "a:cpu=1,price=1,price=2"}, []string{`-type a: price: "2": is given twice`}},
		{"large configuration", []string{"place", "-f", cluster, "-config", write(strings.Repeat("#\n", 1<<20))}, []string{"f: the configuration has more than 1048576 bytes"}},
		{"a name that is not seen", []string{"explain", "-f", cluster, "\x1b[2Ja\u202eb"}, []string{`pod default/\x1b[2Ja\u202eb`}},
		{"weights", []string{"sweep", "-f", cluster, "-weight", "ImageLocality=5..1"}, []string{`"5..1"`}},
		{"weight twice", []string{"sweep", "-f", cluster, "-weight", "ImageLocality=0..3,2"}, []string{"-weight ImageLocality: 2 is given twice"}},
		{"at least none", []string{"headroom", "-f", cluster, "-requests", "cpu=1", "-at-least", "-1"}, []string{"-at-least: -1: must be at least 1"}},
		{"requests", []string{"headroom", "-f", cluster, "-requests", "cpu"}, []string{"-requests", `"cpu"`}},
		{"negative request", []string{"headroom", "-f", cluster, "-requests", "cpu=-1"}, []string{"-requests", `"-1"`}},
		{"runs already", []string{"place", "-f", cluster, "shop/web-3"}, []string{"runs on worker-4 already", "-replicas"}},
		{"trace", []string{"replay", write("{}\n")}, []string{"f: trace: line 1", `"berth simulate -record FILE"`}},
		{"trace without decisions", []string{"replay", write(`{"trace":"berth/1","start":"2030-01-01T00:00:00Z"}` + "\n")}, []string{"no decisions", "-record"}},
		{"profile", []string{"place", "-f", cluster, "-config", "testdata/scheduler.yaml", "-scheduler", "none"}, []string{`"none"`, "packer"}},
		{"sample and file", []string{"place", "-sample", "-f", cluster}, []string{"-sample and -f"}},
		{"argument", []string{"simulate", cluster}, []string{cluster, "-f"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, stdout, stderr := berth(append(slices.Clone(test.args[:1]), append([]string{"-q"}, test.args[1:]...)...)...)
			if status != 2 || stdout != "" {
				t.Errorf("status %d, output %q; want 2 and none", status, stdout)
			}
			for _, part := range test.want {
				if !strings.Contains(stderr, part) {
					t.Errorf("standard error %q does not contain %q", stderr, part)
				}
			}
			for line := range strings.Lines(stderr) {
				if strings.ContainsAny(line, "\x1b\u202e") {
					t.Errorf("line %q writes to the terminal what is not seen", line)
				}
				if !strings.HasPrefix(line, "berth") && !strings.HasPrefix(line, "warning: ") {
					t.Errorf("line %q does not name the program", line)
				}
			}
		})
	}
	// Doubts are warnings, or nothing, if the user says so.
	misspelt := write(node + strings.Replace(fmt.Sprintf(pod, `""`, "1"), "requests", "requets", 1))
	for validation, want := range map[string]bool{"warn": true, "ignore": false} {
		status, stdout, stderr := berth("place", "-f", misspelt, "-validate="+validation)
		if told := strings.Contains(stderr, "f:15: pod default/p: spec.containers[0].resources.requets"); status == 2 || stdout == "" || told != want || want != strings.HasPrefix(stderr, "warning: ") {
			t.Errorf("-validate=%s: status %d, %q", validation, status, stderr)
		}
	}
	twice := write(strings.Replace(node, "cpu", "pods: 9\n    cpu: \"1\"\n    cpu", 1) + strings.Replace(fmt.Sprintf(pod, `""`, "1"), "cpu: 1", "cpu: 8\n        cpu: 3", 1))
	for validation, want := range map[string]bool{"warn": true, "ignore": false} {
		status, stdout, stderr := berth("place", "-f", twice, "-validate="+validation)
		told := strings.Contains(stderr, "f:7: node w1: status.allocatable[cpu]: is repeated") && strings.Contains(stderr, "f:19: pod default/p: spec.containers[0].resources.requests[cpu]: is repeated")
		if status != 0 || !strings.Contains(stdout, "w1") || told != want || want != strings.HasPrefix(stderr, "warning: ") {
			t.Errorf("-validate=%s: status %d, %q, %q; the last of two amounts must count", validation, status, stdout, stderr)
		}
	}
	stray := write("kind: Node\nmetadata: {name: w1}\nstatus: {allocatable: {cpu: 1, pods: 9}}\n---\nkind: Pod\nmetadata: {name: stray}\nspec: {nodeName: gone}\n---\nkind: Pod\nmetadata: {name: p}\n")
	for validation, warnings := range map[string]int{"warn": 1, "ignore": 0} {
		status, stdout, stderr := berth("place", "-f", stray, "-validate="+validation)
		if status != 0 || strings.Count(stderr, "warning: ") != warnings || !strings.Contains(stdout, "default/p") || strings.Contains(stdout, "stray") {
			t.Errorf("-validate=%s: status %d, %q, %q; a pod on a node that is not there must count nowhere", validation, status, stdout, stderr)
		}
	}
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for text, want := range map[string]int{
		head: 0, head + "a: 1\n": 1, strings.Replace(head, "/v1", "/v9", 1): 1, head + "a: [1\n": 2, "a: 1\n": 2, "": 2,
		"kind: Pod\napiVersion: v1\nmetadata: {name: p}\n": 2, "hello\n": 2,
	} {
		if status, _, stderr := berth("config", write(text)); status != want || (stderr == "") != (want == 0) {
			t.Errorf("config of %q: status %d, %q; want %d", text, status, stderr, want)
		}
	}
}

// TestEndlessConfig reads no more of a configuration than one may have.
func TestEndlessConfig(t *testing.T) {
	in := new(endless)
	var stdout, stderr strings.Builder
	status := run([]string{"berth", "config", "-"}, in, &stdout, &stderr)
	if want := "standard input: the configuration has more than 1048576 bytes"; status != 2 || !strings.Contains(stderr.String(), want) || in.read > 2<<20 {
		t.Errorf("status %d, %d bytes read, %q; want 2, about a MiB, %q", status, in.read, &stderr, want)
	}
}

// endless is a text that does not end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	const most = 64 << 20 // so that a program that reads on fails and does not hang
	if e.read += len(b); e.read > most {
		return 0, io.EOF
	}
	for i := range b {
		b[i] = '#'
	}
	return len(b), nil
}

// TestFaults expects what is wrong as JSON, with the status that other forms have.
func TestFaults(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\na: 1\nprofiles:\n- b: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	older := filepath.Join(t.TempDir(), "older.yaml")
	if err := os.WriteFile(older, []byte("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const pod = `{"kind": "Pod", "metadata": {"name": "p"},` + "\n" + `"spec": {"nodeSelectr": {}, "restartPolicy": "No"}}`
	for _, test := range []struct {
		status int
		args   []string
		want   []Fault
	}{
		{1, []string{"config", config}, []Fault{{config, 3, `unknown field "a"`}, {config, 5, `unknown field "profiles[0].b"`}}},
		{2, []string{"place"}, []Fault{
			{"standard input", 2, "pod default/p: spec.nodeSelectr: unknown field; did you mean nodeSelector?"},
			{"standard input", 2, `pod default/p: spec.restartPolicy: "No": unknown value; want Always, OnFailure or Never`},
			{Text: "this is likely a mistake; -validate=warn goes on"},
		}},
		{1, []string{"config", older}, []Fault{{older, 1, `no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"; want kind KubeSchedulerConfiguration of version kubescheduler.config.k8s.io/v1`}}},
		{1, []string{"config", older, "-profile", "1.34"}, []Fault{{older, 1, `no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"; want kind KubeSchedulerConfiguration of version kubescheduler.config.k8s.io/v1`}}},
		{2, []string{"drain", "-sample"}, []Fault{{Text: "name one or more nodes"}}},
	} {
		status, stdout, stderr := berthWith(pod, append(test.args, "-q", "-o", "json")...)
		var out Output
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Errorf("%v: %v in %q", test.args, err, stdout)
		}
		if diff := cmp.Diff(test.want, out.Faults); diff != "" || status != test.status || out.Command != test.args[0] || out.Yes || out.Answer != nil {
			t.Errorf("%v: status %d, want %d; %+v\nfaults (-want +got):\n%s", test.args, status, test.status, out, diff)
		}
		if lines := strings.Count(stderr, "\n"); lines != len(test.want) {
			t.Errorf("%v: %d lines on standard error, want %d", test.args, lines, len(test.want))
		}
	}
}

// TestOlderConfig gives every question a file of a version that only old releases of
// kube-scheduler read. Each must refuse it or read it as the question config does.
func TestOlderConfig(t *testing.T) {
	older := filepath.Join(t.TempDir(), "older.yaml")
	if err := os.WriteFile(older, []byte("# mine\napiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(t.TempDir(), "day.jsonl")
	if status, _, stderr := berth("simulate", "-q", "-f", "testdata/timed.yaml", "-record", day); status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	asked := map[string]bool{"config": true}
	ask := func(args []string) {
		if asked[args[0]] {
			return
		}
		asked[args[0]] = true
		for _, version := range []string{"1.37", "1.34", "1.18"} {
			status, _, stderr := berth(append(slices.Clone(args), "-q", "-config", older, "-profile", version)...)
			refused := status == 2 && strings.Contains(stderr, older+`:2: no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"`)
			if strings.Contains(stderr, "profile has no such scorer") { // it is read: 1.18 has other plugins
				status = 0
			}
			if read := status < 2; read != (version == "1.18") || refused != (version != "1.18") {
				t.Errorf("%s with %s: status %d, %s", args[0], version, status, stderr)
			}
		}
	}
	for _, q := range questions {
		ask(q.args)
	}
	ask([]string{"replay", day})
	for _, c := range commands() {
		if !asked[c.name] {
			t.Errorf("%s is not asked", c.name)
		}
	}
}

// TestStranded expects that the measure of stranded capacity is named, also if no pods wait.
func TestStranded(t *testing.T) {
	const node = `{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}`
	const pod = `{"kind": "Pod", "metadata": {"name": %q}, "spec": {"nodeName": %q, "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}`
	for nodeOfSecond, want := range map[string]string{
		"": "take not one more of these pods,", "m": "take not one more of the pods that run, because none wait,",
	} {
		input := node + strings.Replace(node, `"n"`, `"m"`, 1) + fmt.Sprintf(pod, "a", "n") + fmt.Sprintf(pod, "b", nodeOfSecond)
		_, text, stderr := berthWith(input, "place", "-o", "html")
		for _, part := range []string{want, "Each node was asked about default/"} {
			if !strings.Contains(text, part) {
				t.Errorf("second pod on %q: no %q in the page; %s", nodeOfSecond, part, stderr)
			}
		}
		_, text, _ = berthWith(input, "place", "-o", "json")
		var out struct{ Answer PlaceAnswer }
		if err := json.Unmarshal([]byte(text), &out); err != nil || len(out.Answer.Stranded) != 1 || len(out.Answer.StrandedFor) != 1 {
			t.Errorf("second pod on %q: %v, stranded %+v for %q", nodeOfSecond, err, out.Answer.Stranded, out.Answer.StrandedFor)
		}
	}
}

// TestHelp expects help with an example that works for each question, also under the name
// of a plugin.
func TestHelp(t *testing.T) {
	_, overview, _ := berth("help")
	for _, c := range commands() {
		status, text, _ := berth("help", c.name)
		if _, same, _ := berth(c.name, "-h"); status != 0 || same != text {
			t.Errorf("%s -h is not help %s", c.name, c.name)
		}
		if !strings.Contains(overview, "  "+c.name+" ") || !strings.Contains(text, "Exit status 0: "+c.yes) || len(c.example) == 0 {
			t.Errorf("%s: no line in the overview, no exit status or no example", c.name)
		}
		for _, line := range c.example {
			checkExample(t, c, line)
		}
	}
	var out, err strings.Builder
	if status := run([]string{"/bin/kubectl-berth", "help", "drain"}, nil, &out, &err); status != 0 || !strings.HasPrefix(out.String(), "kubectl berth drain NODE...") {
		t.Errorf("kubectl-berth help drain = %d, %s", status, out.String())
	}
	if status, _, stderr := berth(); status != 2 || !strings.Contains(stderr, "place") {
		t.Errorf("without arguments: %d, %q; want 2 and the overview", status, stderr)
	}
}

// checkExample parses the flags of an example.
func checkExample(t *testing.T, c *command, line string) {
	t.Helper()
	_, after, found := strings.Cut(line, "berth ")
	after, _, _ = strings.Cut(after, " >")
	words := strings.Fields(after)
	if !found || len(words) == 0 || find(words[0]) == nil {
		t.Fatalf("%s: example %q has no question", c.name, line)
	}
	flags := find(words[0]).flagsOf()
	flags.SetOutput(io.Discard)
	if _, err := parse(flags, words[1:]); err != nil {
		t.Errorf("%s: example %q: %v", c.name, line, err)
	}
}

// TestCompletion completes words in the shells that are here.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		status, script, _ := berth("completion", shell)
		if status != 0 || !strings.Contains(script, "nodes-needed") {
			t.Errorf("completion %s: status %d, %d bytes", shell, status, len(script))
		}
		if path, err := exec.LookPath(shell); err == nil {
			if out, err := exec.Command(path, "-n", "-c", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", shell, err, out)
			}
		}
	}
	if status, _, stderr := berth("completion", "csh"); status != 2 || !strings.Contains(stderr, "bash, zsh or fish") {
		t.Errorf("completion csh: %d, %q", status, stderr)
	}
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	_, script, _ := berth("completion", "bash")
	for words, want := range map[string]string{"berth dr": "drain", "berth place -samp": "-sample", "berth place -o h": "html", "berth compare -with-c": "-with-config"} {
		list := strings.Fields(words)
		line := fmt.Sprintf("%s\nCOMP_WORDS=(%s); COMP_CWORD=%d; _berth; echo ${COMPREPLY[@]}", script, words, len(list)-1)
		cmd := exec.Command(path, "-c", line)
		cmd.Env = append(os.Environ(), "LC_ALL=C") // bash complains of a locale that is not installed
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s<tab> = %q, %v; want %q", words, got, err, want)
		}
	}
}

// TestHTML checks the pages of all questions: what they may not have, that each tag is
// closed, and that each picture has its table.
func TestHTML(t *testing.T) {
	for _, q := range questions {
		t.Run(q.name, func(t *testing.T) {
			status, text, stderr := berth(append(q.args, "-q", "-o", "html")...)
			if status != q.status || stderr != "" {
				t.Errorf("status %d, standard error %q", status, stderr)
			}
			checkHTML(t, text)
			if q.name == "place" {
				golden(t, "place.html", text)
			}
		})
	}
}

var tags = regexp.MustCompile(`<(/?)([a-z0-9]+)([^>]*)>`)

func checkHTML(t *testing.T, text string) {
	t.Helper()
	for _, bad := range []string{"<script", "http://", "https://", "src=", "url(", "@import", "<link"} {
		if strings.Contains(strings.ReplaceAll(text, "kubescheduler.config.k8s.io", ""), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	open := []string{}
	ids := map[string]bool{}
	for _, m := range tags.FindAllStringSubmatch(text[strings.Index(text, "<html"):], -1) {
		name := m[2]
		if id := regexp.MustCompile(` id="([^"]*)"`).FindStringSubmatch(m[3]); id != nil {
			if ids[id[1]] {
				t.Errorf("id %s occurs twice", id[1])
			}
			ids[id[1]] = true
		}
		switch {
		case name == "meta" || name == "path" || name == "td" || name == "tr": // void, or its end may be left out
		case name == "th" && strings.Contains(m[3], "row"):
		case m[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("</%s> closes %v", name, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	for section := range strings.SplitSeq(text, "<section") {
		if strings.Contains(section, "<figure") && !strings.Contains(section, "<table") {
			t.Errorf("a picture without a table: %.200s", section)
		}
	}
}

// TestHostile reads names that imitate HTML and terminal output.
func TestHostile(t *testing.T) {
	name := "<script>alert(1)</script>\x1b[2J\n\"'"
	object := fmt.Sprintf(`{"kind":"Node","metadata":{"name":%q},"status":{"allocatable":{"cpu":"4","memory":"1Gi","pods":"9"}}}`, name)
	object = strings.ReplaceAll(object, `\x1b`, `\u001b`)
	for _, form := range []string{"table", "html"} {
		status, text, stderr := berthWith(object, "headroom", "-q", "-requests", "cpu=1", "-o", form)
		if status != 0 || stderr != "" || strings.Contains(text, "\x1b") || form == "html" && strings.Contains(text, "<script") {
			t.Errorf("-o %s: status %d, %s\n%s", form, status, stderr, text)
		}
	}
}

// TestSameBytes expects the same bytes from two runs with the same seed.
func TestSameBytes(t *testing.T) {
	for _, q := range questions {
		args := append(q.args, "-q", "-o", "html", "-limit", "0")
		_, a, _ := berth(args...)
		if _, b, _ := berth(args...); a != b {
			t.Errorf("%s: two runs differ", q.name)
		}
	}
}

func toJSON(t *testing.T, text []byte) string {
	t.Helper()
	documents, err := config.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(documents, []byte("\n")))
}
