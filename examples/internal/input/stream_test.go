//go:build full

package input

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
)

// node is a node as kubectl prints it, in JSON and in YAML; the amount is that of CPU.
func nodeJSON(i int, cpu string) string {
	return fmt.Sprintf(`{
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": "n%d",
                "annotations": {"text": "a \"quoted\" } ] \\"}
            },
            "status": {
                "allocatable": {
                    "cpu": %q
                }
            }
        }`, i, cpu)
}

func listJSON(nodes ...string) string {
	return "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        " + strings.Join(nodes, ",\n        ") + "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"resourceVersion\": \"\"}\n}\n"
}

func nodeYAML(i int, cpu string) string {
	return fmt.Sprintf("- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n%d\n    annotations:\n      text: |\n        - kind: no item\n  status:\n    allocatable:\n      cpu: %s\n", i, cpu)
}

func listYAML(nodes ...string) string {
	return "apiVersion: v1\nitems:\n" + strings.Join(nodes, "") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

// manyNodes returns 400 nodes of 10 kB, more than is decoded at once.
func manyNodes() (inJSON, inYAML []string) {
	long := strings.Repeat("x", 10_000)
	for i := range 400 {
		inJSON = append(inJSON, strings.Replace(nodeJSON(i, "4"), "quoted", long, 1))
		inYAML = append(inYAML, strings.Replace(nodeYAML(i, "4"), "no item", long, 1))
	}
	return inJSON, inYAML
}

// slowly reads a few bytes at a time, so that every token is split somewhere.
type slowly struct{ text []byte }

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 7)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// TestStreamed reads texts in pieces and compares with reading them as a whole.
func TestStreamed(t *testing.T) {
	many, manyYAML := manyNodes()
	tests := []struct{ name, text string }{
		{"list", listJSON(nodeJSON(1, "1"), nodeJSON(2, "2"))},
		{"list in YAML", listYAML(nodeYAML(1, "1"), nodeYAML(2, "2"))},
		{"indented YAML", "items:\n  - {kind: Node, metadata: {name: a}}\n  # comment\n  - kind: Node\n    metadata: {name: b}\nkind: List\n"},
		{"long list", listJSON(many...)},
		{"long list in YAML", listYAML(manyYAML...)},
		{"long list with a comment", "kind: List # by hand\nitems:\n" + strings.Join(manyYAML, "")},
		{"long list with a long head", "kind: List\n" + strings.Repeat("# by hand\n", 300_000) + "items:\n" + strings.Join(manyYAML, "")},
		{"long list, marker and tab", listYAML(manyYAML...) + "---\t{kind: Node, metadata: {name: b}}\n"},
		{"documents", nodeJSON(1, "1") + nodeJSON(2, "2") + listJSON(nodeJSON(3, "3")) + `{"kind":"Secret","metadata":{"name":"s"}}`},
		{"documents in YAML", "# first\n---\n# more\nkind: Node\nmetadata: {name: a}\n---\n" + listYAML(nodeYAML(1, "1")) + "---\n---\n--- {kind: Node, metadata: {name: b}}\n"},
		{"kinds from the list", `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`},
		{"kinds after the items", `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"NodeList"}` + nodeJSON(3, "3")},
		{"list without items", `{"kind":"List","items":[]} {"kind":"PodList"} {"kind":"List","items":null}`},
		{"lists in a list", `{"kind":"List","items":[{"kind":"NodeList","items":[{"metadata":{"name":"a"}}]}]}`},
		{"anchors", "items:\n- &a {kind: Node, metadata: {name: a}}\n- {<<: *a, metadata: {name: b}}\nkind: List\n"},
		{"items of another kind", `{"kind":"Menu","items":[{"metadata":{"name":"a"}}]}`},
		{"JSON with dashes", nodeJSON(1, "1") + "\n---\n" + nodeJSON(2, "2")},
		{"flow", "{kind: Node, metadata: {name: a}}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			documents, err := config.YAMLToJSON([]byte(test.text))
			if err != nil {
				documents = [][]byte{[]byte(strings.ReplaceAll(test.text, "\n---\n", "\n"))}
			}
			want, err := api.Decode(bytes.Join(documents, []byte("\n")))
			if err != nil {
				t.Fatal(err)
			}
			var c Cluster
			if err := c.Read("f", &slowly{[]byte(test.text)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fmt.Sprintf("%+v", want.Skipped), fmt.Sprintf("%+v", c.Objects.Skipped)); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
			names := func(o *api.Objects) (list []string) {
				for _, n := range o.Nodes {
					list = append(list, n.Name+" "+fmt.Sprint(n.Status.Allocatable))
				}
				return list
			}
			if diff := cmp.Diff(names(want), names(&c.Objects)); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLines expects the line of the field at fault, also if the fault is found later.
func TestLines(t *testing.T) {
	many, manyYAML := manyNodes()
	tests := []struct{ name, text, want string }{
		{"JSON", listJSON(nodeJSON(1, "1"), nodeJSON(2, "x")), `f:26: node n2: status.allocatable[cpu]: "x": `},
		{"YAML", listYAML(nodeYAML(1, "1"), nodeYAML(2, "x")), `f:22: node n2: status.allocatable[cpu]: "x": `},
		{"found later", listJSON(nodeJSON(1, "1"), nodeJSON(2, "-2")), `f:26: node n2: status.allocatable[cpu]: "-2": `},
		{"found later, YAML", listYAML(nodeYAML(1, "1"), nodeYAML(2, "-2")), `f:22: node n2: status.allocatable[cpu]: "-2": `},
		{"twice", listYAML(nodeYAML(1, "1"), nodeYAML(1, "2")), `f:16: node n1: metadata.name: "n1": there is already`},
		{"long", listJSON(append(many, nodeJSON(400, "x"))...), `f:5213: node n400: status.allocatable[cpu]: "x": `},
		{"long, found later", listJSON(append(many, nodeJSON(7, "1"))...), `f:5208: node n7: metadata.name: "n7": there is already`},
		{"long YAML", listYAML(append(manyYAML, nodeYAML(400, "x"))...), `f:4012: node n400: status.allocatable[cpu]: "x": `},
		{"long YAML, found later", listYAML(append(manyYAML, nodeYAML(7, "1"))...), `f:4006: node n7: metadata.name: "n7": there is already`},
		{"long YAML, no YAML", listYAML(append(manyYAML, "- a: [1\n")...), `f:4003: did not find`},
		{"long YAML, dash and tab", listYAML(append(manyYAML, "-\tkind: Node\n")...), `f:4003: found character that cannot start any token`},
		{"no name", "kind: List\nitems:\n- kind: Node\n- kind: Node\n  metadata: {}\n", `f:3: node (document 1, items[0]): metadata.name: is missing`},
		{"cut off", strings.TrimSuffix(listJSON(nodeJSON(1, "1")), "}\n"), `f:20: not JSON: unexpected end of input, want`},
		{"cut off in an object", listJSON(nodeJSON(1, "1"))[:200], `f:9: not JSON: unexpected end of input`},
		{"no JSON in a list", `{"kind":"List","items":[` + "\n" + `{"kind":"Node","metadata":{"name":"a"}}` + "\n" + `{}]}`, `f:3: not JSON: unexpected '{', want a comma or ']'`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(name, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Load(name, "")
			if err == nil {
				_, _, err = c.Snapshot()
			}
			if got := strings.ReplaceAll(fmt.Sprint(err), name, "f"); !strings.HasPrefix(got, test.want) {
				t.Errorf("error %s, want %s", got, test.want)
			}
		})
	}
}

// FuzzStreamed reads any text in pieces. What package api reads as a whole is read, with
// the same objects; nothing panics, and an error names the text.
func FuzzStreamed(f *testing.F) {
	for _, text := range []string{
		listJSON(nodeJSON(1, "1"), nodeJSON(2, "x")), listYAML(nodeYAML(1, "1"), nodeYAML(2, "2")),
		`{"items":[{"metadata":{"name":"a"}},{}],"kind":"NodeList"}{"kind":"Secret"}`, `{"kind":"List","items":[[],1,"\"}`,
		"--- {kind: Node, metadata: {name: b}}\n---\nitems:\n- &a b\n# c\n  - *a\nkind: NodeList\n", "{a: [", "\ufeff[", `{"items":null}`,
		"sn,cpu_milli,memory_mib,gpu\nn,1,1,0\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c Cluster
		err := c.Read("f", &slowly{[]byte(text)})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %q does not name the text", err)
			}
		} else if _, _, err := c.Snapshot(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q has several lines", err)
		}
		want, wantErr := api.Decode([]byte(text))
		if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && wantErr == nil {
			if err != nil || len(c.Objects.Nodes) != len(want.Nodes) || len(c.Objects.Pods) != len(want.Pods) {
				t.Errorf("%d nodes, %d pods, error %v; want %d and %d", len(c.Objects.Nodes), len(c.Objects.Pods), err, len(want.Nodes), len(want.Pods))
			}
		}
	})
}
