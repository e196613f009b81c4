//go:build full

package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// write puts files into a directory of the test and returns their names.
func write(t *testing.T, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, text := range texts {
		name := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func TestLoad(t *testing.T) {
	node := `{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "10"}}}`
	pod := `{"kind": "Pod", "metadata": {"name": "p"}}`
	running := `{"kind": "Pod", "metadata": {"name": "r"}, "spec": {"nodeName": "n"}}`
	list := `{"kind": "List", "apiVersion": "v1", "items": [` + node + "," + pod + "," + running + `, {"kind": "Secret", "metadata": {"name": "s"}}]}`
	f := write(t, node, pod, list, node+pod+running)
	tests := []struct {
		name, nodes, pods         string
		nodeCount, running, waits int
		title, ignored            string
	}{
		{"two files", f[0], f[1], 1, 0, 1, f[0] + ", " + f[1], ""},
		{"one list", f[2], "", 1, 1, 1, f[2], "1 Secret"},
		{"one list, named twice", f[2], f[2], 1, 1, 1, f[2], "1 Secret"},
		{"one list, as pods", "", f[2], 1, 1, 1, f[2], "1 Secret"},
		{"one file of several documents", f[3], "", 1, 1, 1, f[3], ""},
		{"nodes alone", f[0], "", 1, 0, 0, f[0], ""},
		{"pods alone", "", f[1], 40, 160, 1, f[1] + " on the nodes of the sample cluster", ""},
		{"nothing", "", "", 40, 160, 408, "sample", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Load(test.nodes, test.pods)
			if err != nil {
				t.Fatal(err)
			}
			snap, pending, err := c.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			running := 0
			for _, n := range snap.All() {
				running += len(n.Pods)
			}
			if snap.Len() != test.nodeCount || running != test.running || len(pending) != test.waits {
				t.Errorf("%d nodes, %d pods run, %d wait; want %d, %d, %d",
					snap.Len(), running, len(pending), test.nodeCount, test.running, test.waits)
			}
			if c.Title != test.title || c.Ignored() != test.ignored {
				t.Errorf("title %q, ignored %q; want %q, %q", c.Title, c.Ignored(), test.title, test.ignored)
			}
		})
	}
}

// TestErrors checks that an error about bad input is one line that names the file,
// the object, the field and the value.
func TestErrors(t *testing.T) {
	const node = "kind: Node\nmetadata: {name: n0}\nstatus: {capacity: {cpu: 1}}\n---\n"
	tests := []struct{ name, text, want string }{
		{
			"quantity", "{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {cpu: 1x}}}]}}",
			`f:5: pod default/p: spec.containers[0].resources.requests[cpu]: "1x": `,
		},
		{
			"negative request", "{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {cpu: -1}}}]}}",
			`f:5: pod default/p: spec.containers[0].resources.requests[cpu]: "-1": must not be negative`,
		},
		{
			"negative allocatable", "{kind: Node, metadata: {name: m}, status: {allocatable: {cpu: -1}}}",
			`f:5: node m: status.allocatable[cpu]: "-1": must not be negative`,
		},
		{"node without a name", "{kind: Node, metadata: {}}", `f:5: node (document 2): metadata.name: is missing`},
		{"node twice", "{kind: Node, metadata: {name: n0}}", `f:5: node n0: metadata.name: "n0": `},
		{"pod twice", "{kind: Pod, metadata: {name: p}}\n---\n{kind: Pod, metadata: {name: p}}", `f:7: pod default/p: metadata.name: "p": `},
		{"unknown node", "{kind: Pod, metadata: {name: p}, spec: {nodeName: m}}", `f:5: pod default/p: spec.nodeName: "m": `},
		{
			"several", "{kind: Pod, metadata: {name: p}, spec: {nodeName: m}}\n---\n{kind: Pod, metadata: {name: q}, spec: {nodeName: m}}",
			`(and 1 more)`,
		},
		{"unknown class", "{kind: Pod, metadata: {name: p}, spec: {priorityClassName: gold}}", `f:5: pod default/p: spec.priorityClassName: "gold": `},
		{"replicas", workloadYAML("apps/v1", "Deployment", "replicas: -3"), `f:5: deployment default/w: spec.replicas: "-3": want a number from 0 to 100000`},
		{"too many replicas", workloadYAML("apps/v1", "StatefulSet", "replicas: 100001"), `f:5: statefulset default/w: spec.replicas: "100001": `},
		{
			"template", strings.Replace(workloadYAML("apps/v1", "Deployment", ""), "100m", "-1", 1),
			`f:5: pod default/w-0: spec.containers[0].resources.limits[cpu]: "-1": must not be negative`,
		},
		{
			"daemon template", strings.Replace(workloadYAML("apps/v1", "DaemonSet", ""), "limits: {cpu: 100m}", "requests: {cpu: -1}", 1),
			`spec.containers[0].resources.requests[cpu]: "-1": must not be negative`,
		},
		{"YAML", "a: [1\nb: 2", `f:5: did not find`},
		{"text", "hello", `f:5: the document is neither`},
		{"list", "- {kind: Pod}", `f:5: document 2: want an object, got a list; put the objects under "items"`},
		{"no kind", "a: 1", `f:5: document 2: kind: is missing`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expectError(t, node+test.text, test.want)
		})
	}
	t.Run("truncated JSON", func(t *testing.T) {
		expectError(t, `{"kind": "List", "items": [`, "f:1: not JSON: unexpected end of input")
	})
	t.Run("JSON array", func(t *testing.T) {
		expectError(t, `[1]`, `f:1: document 1: want an object, got a list; put the objects under "items"`)
	})
}

// expectError fails unless reading text returns a one-line error that contains part.
func expectError(t *testing.T, text, part string) {
	t.Helper()
	var c Cluster
	err := c.Read("f", strings.NewReader(text))
	if err == nil {
		_, _, err = c.Snapshot()
	}
	if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with %q", err, part)
	}
}

func TestLoadMissing(t *testing.T) {
	for _, args := range [][2]string{{"no-such-file", ""}, {"", "no-such-file"}} {
		if _, err := Load(args[0], args[1]); err == nil || !strings.Contains(err.Error(), "no-such-file") {
			t.Errorf("Load(%q, %q) = %v, want an error that names the file", args[0], args[1], err)
		}
	}
}

// TestLoadWithoutNodes passes files without nodes as -nodes.
func TestLoadWithoutNodes(t *testing.T) {
	f := write(t, "", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","code":401}`,
		`{"kind":"List","apiVersion":"v1","items":[]}`, `{"kind": "Pod", "metadata": {"name": "p"}}`)
	for i, name := range f {
		if _, err := Load(name, f[3]); err == nil || err.Error() != name+": there are no nodes in it" {
			t.Errorf("Load of file %d = %v, want an error that there are no nodes in it", i, err)
		}
	}
}

// TestByteOrderMark reads a table as a spreadsheet saves it.
func TestByteOrderMark(t *testing.T) {
	for _, text := range []string{"sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,0,\n", `{"kind": "Node", "metadata": {"name": "n"}}`} {
		var c Cluster
		if err := c.Read("f", strings.NewReader("\ufeff"+text)); err != nil || len(c.Objects.Nodes) != 1 {
			t.Errorf("%q gives %d nodes, %v; want 1", text, len(c.Objects.Nodes), err)
		}
	}
}

// TestSample checks that the sample is the same every time, and that callers do not
// share it.
func TestSample(t *testing.T) {
	a, b := Sample(), Sample()
	if len(a.Objects.Nodes) != 40 || len(a.Objects.Pods) != 568 {
		t.Fatalf("%d nodes, %d pods; want 40, 568", len(a.Objects.Nodes), len(a.Objects.Pods))
	}
	zones := map[string]bool{}
	shapes := map[string]bool{}
	for i, n := range a.Objects.Nodes {
		if n == b.Objects.Nodes[i] || n.Name != b.Objects.Nodes[i].Name {
			t.Errorf("node %d: %s and %s, want equal names of two objects", i, n.Name, b.Objects.Nodes[i].Name)
		}
		zones[n.Labels[api.LabelTopologyZone]] = true
		shapes[n.Labels["node.kubernetes.io/instance-type"]] = true
	}
	if len(zones) != 3 || len(shapes) != 5 {
		t.Errorf("%d zones, %d shapes; want 3, 5", len(zones), len(shapes))
	}
}
