//go:build full

package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
)

// readWhole reads a text as a whole, by the YAML library alone.
func readWhole(text string) (objects string, err error) {
	documents, err := config.YAMLToJSON([]byte(text))
	if err != nil {
		return "", err
	}
	o, err := api.Decode(bytes.Join(documents, []byte("\n")))
	if err != nil {
		return "", err
	}
	return show(o), nil
}

// readApart takes lists apart at once.
func readApart(text string, limit int) (objects string, err error) {
	s, o := Source{Name: "f", limit: limit}, new(api.Objects)
	if err := s.decodeYAML(o, strings.NewReader(text)); err != nil {
		return "", err
	}
	return show(o), nil
}

// show writes objects that were read.
func show(o *api.Objects) string {
	text, err := json.Marshal([]any{o.Nodes, o.Pods, o.Skipped, o.SkippedFields})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// named is an item, a node with a name.
func named(name string) string { return "- {kind: Node, metadata: {name: " + name + "}}\n" }

// TestListsApart reads lists whose kind or end is written in an unusual way. What a list taken
// apart holds is what it holds as a whole.
func TestListsApart(t *testing.T) {
	many := named("a") + named("b") + named("c")
	bare := strings.ReplaceAll(many, "kind: Node, ", "")
	for _, test := range []struct{ name, text, want string }{ // an error, "" for none
		{"plain", "kind: List\nitems:\n" + many, ""},
		{"as kubectl prints", "apiVersion: v1\nitems:\n" + many + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", ""},
		{"comment", "kind: List # by hand\nitems:\n" + many, ""},
		{"comment, typed", "kind: NodeList # by hand\nitems:\n" + bare, ""},
		{"blanks", "kind:  NodeList\nitems:\n" + bare, ""},
		{"escape", "kind: \"Node\\u004cist\"\nitems:\n" + bare, ""},
		{"quoted key", "\"kind\": NodeList\nitems:\n" + bare, ""},
		{"tag", "kind: !!str NodeList\nitems:\n" + bare, ""},
		{"anchor", "kind: &k NodeList\nitems:\n" + bare, ""},
		{"on the next line", "kind:\n  NodeList\nitems:\n" + bare, ""},
		{"merged", "<<: {kind: NodeList}\nitems:\n" + bare, ""},
		{"kind in a text", "x: |\n  a\n\n  kind: b\nkind: NodeList\nitems:\n" + bare, ""},
		{"no list", "kind: Menu\nitems:\n" + bare, ""},
		{"two documents in the head", "kind: Node\nmetadata: {name: d}\n...\n--- {kind: Node, metadata: {name: e}}\n...\n---\nkind: List\nitems:\n" + many, ""},
		{"items before", "items: [{kind: Node, metadata: {name: d}}]\nkind: List\nitems:\n" + many, ""},
		{"marker and tab", "kind: List\nitems:\n" + many + "---\t{kind: Node, metadata: {name: d}}\n", ""},
		{"end marker", "kind: List\nitems:\n" + many + "...\n---\nkind: Node\nmetadata: {name: d}\n", ""},
		{"empty document that ends", "---\n# nothing\n...\n---\nkind: List\nitems:\n" + many + "---\n...\n---\n{kind: Node, metadata: {name: d}}\n", ""},
		{"odd line break", "kind: List\nitems:\n" + many + "- {kind: Node, metadata: {name: d}}\u0085- {kind: Node, metadata: {name: e}}\n", ""},

		{"dash and tab", "kind: List\nitems:\n" + many + "-\t{kind: Node, metadata: {name: d}}\n" + many, "f:6: found character that cannot start any token"},
		{"dash further left", "kind: List\nitems:\n  " + strings.ReplaceAll(strings.TrimSpace(many), "\n", "\n  ") + "\n" + named("d"), "f:6: did not find expected key"},
		{"text after the items", "kind: List\nitems:\n" + many + "x\n", "f:7: could not find expected ':'"},
		{"flow in the first column", "kind: List\nitems:\n" + many + "- {kind: Node,\nmetadata: {name: d}}\n", "f:6: did not find expected node content"},
		{"text in the first column", "kind: List\nitems:\n" + many + "- {kind: Node, metadata: {name: \"a\nb\"}}\n", "f:7: found unexpected end of stream"},
		{"document after an end marker", "kind: List\nitems:\n" + many + "...\nkind: Node\nmetadata: {name: d}\n", "f:6: did not find expected <document start>"},
		{"items after", "kind: List\nitems:\n" + many + "items: [{kind: Node, metadata: {name: d}}]\n", "f:6: after the items"},
		{"field twice", "kind: List\nitems:\n" + many + "kind: NodeList\n", "f:6: a field of a long list is repeated"},
		{"no list after all", "items:\n" + many + "kind: Menu\n", `f:5: document 1: kind: "Menu": has items`},
		{"no kind", "items:\n" + many, "f:1: document 1: kind: is missing"},
		{"kind is no text", "items:\n" + many + "kind: 5\n", "f:5: kind: want a text"},
		{"version too late", "kind: NodeList\nitems:\n" + bare + "apiVersion: example.com/v1\n", `f:6: document 1: apiVersion: "example.com/v1": must stand before`},
		{"long tail", "kind: List\nitems:\n" + many + "x:\n" + strings.Repeat("- "+strings.Repeat("y", 1000)+"\n", 2200), "more than 2 MiB after the items"},
		{"document among the items", "kind: List\nitems:\n" + many + "- {kind: Node, metadata: {name: d}}\u0085---\u0085- {kind: Node, metadata: {name: e}}\n", "f:6: a document begins among the items"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want, _ := readWhole(test.text)
			got, err := readApart(test.text, 1)
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "f:") {
					t.Errorf("error %v, want %s", err, test.want)
				}
			case err != nil || got != want:
				t.Errorf("taken apart %s, error %v; want %s", got, err, want)
			}
		})
	}
}

// yamlLines are lines of YAML texts, some of them lists.
var yamlLines = []string{
	"kind: List", "kind: NodeList", "kind: \"Node\\u004cist\" # text", "kind:  &k List", "kind: Menu", "kind:", "apiVersion: v1", "apiVersion: example.com/v1",
	"items:", "items:", "items:", "items: # text", "\"items\":", "metadata: {resourceVersion: \"\"}", "metadata:", "  name: m", "<<: {kind: PodList}",
	"- {kind: Node, metadata: {name: a}}", "- {kind: Node, metadata: {name: b}}", "- {metadata: {name: c}}", "- kind: Node", "  metadata: {name: d}", "  metadata:", "    name: e",
	"  - {kind: Node, metadata: {name: f}}", "  - {metadata: {name: g}}", "  - kind: Pod", "    metadata: {name: h}",
	"-", "-\t{metadata: {name: i}}", "- - {}", "- &x {kind: Node, metadata: {name: j}}", "- *x", "- x: \"", "\"", "- x: |", "  x: >-", "    text", "  x: 'a", "- b'", "- {kind: Node,", "metadata: {name: k}}",
	"- {kind: Node, metadata: {name: l}}\r- {kind: Node, metadata: {name: m}}", "- {kind: Node, metadata: {name: n}}\u0085kind: PodList", "- {kind: Node, metadata: {name: o}}\u2028---\u2028- {}",
	"---", "--- {kind: Node, metadata: {name: p}}", "---\t{kind: Node, metadata: {name: q}}", "---\rkind: List", "...", "# text", "", " ", "\t", "? kind", ": NodeList", "x: [", "]", "  ~", "null", "x",
}

// TestListsApartAtRandom takes random texts apart. Most are lists. What is read is what the text
// holds as a whole.
func TestListsApartAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	read, lists := 0, 0
	for seed := range uint64(60_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		line := func() string { return yamlLines[r.IntN(len(yamlLines))] + "\n" }
		text := ""
		if r.IntN(8) > 0 {
			text = yamlLines[r.IntN(8)] + "\nitems:\n"
		}
		for range 1 + r.IntN(4) {
			text += []string{named("y"), named("z"), line()}[r.IntN(3)]
		}
		for range r.IntN(4) {
			text += line()
		}
		if compareApart(t, text, 1+r.IntN(80)) {
			read++
			if strings.Count(text, "\n- ") > 1 {
				lists++
			}
		}
	}
	if read < 2000 || lists < 1000 {
		t.Errorf("%d texts, %d lists are read; the test shows too little", read, lists)
	}
}

// compareApart fails if a text that is taken apart holds something else than as a whole. It
// reports whether the text could be read.
func compareApart(t *testing.T, text string, limit int) bool {
	got, err := readApart(text, limit)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("error %q does not name the text", err)
		}
		return false
	}
	if want, err := readWhole(text); err != nil || got != want {
		t.Errorf("%q (limit %d): taken apart %s, as a whole %s, error %v", text, limit, got, want, err)
	}
	return true
}

// FuzzListsApart is TestListsApartAtRandom for any text without directives, which the scanner
// leaves out.
func FuzzListsApart(f *testing.F) {
	for i, line := range yamlLines {
		f.Add(fmt.Sprintf("kind: List\nitems:\n%s%s\n%skind: NodeList\n", named("y"), line, named("z")), i)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if !strings.Contains(text, "%") {
			compareApart(t, text, 1+max(limit, 0)%100)
		}
	})
}
