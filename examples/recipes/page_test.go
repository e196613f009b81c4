// Package recipes_test holds one short program for each question of an operator. README.md
// shows them; it is made of recipes_test.go, whose outputs are checked.
package recipes_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// dump stands for what "kubectl get nodes,pods,pdb -A -o json" prints.
var dump = []byte(`{"kind": "List", "items": [
{"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
{"kind": "Node", "metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}},
{"kind": "Node", "metadata": {"name": "c"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}},
{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"nodeName": "a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}]}`)

// week stands for the trace of last week.
var week = lastWeek()

// lastWeek is the trace of a random week on four nodes.
func lastWeek() []byte {
	r := rand.New(rand.NewPCG(7, 9))
	o := &api.Objects{}
	for i := range 4 {
		o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), "16", "64Gi").Obj())
	}
	for i := range 600 {
		arrives := time.Duration(r.IntN(7*24*3600)) * time.Second
		runs := time.Duration(60+r.IntN(5*3600)) * time.Second
		o.Pods = append(o.Pods, api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprint(1+r.IntN(12)), "2Gi").
			Annotations(simulate.AnnotationArrival, arrives.String(), simulate.AnnotationRunTime, runs.String()).Obj())
	}
	trace, err := simulate.FromObjects(o)
	check(err)
	var file bytes.Buffer
	check(trace.Write(&file))
	return file.Bytes()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

var update = flag.Bool("update", false, "write README.md")

// TestPage checks that the page shows the programs as they are, and that each has at most 25
// lines.
func TestPage(t *testing.T) {
	source, err := os.ReadFile("recipes_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, names := pageOf(t, source)
	if want := []string{"howManyFit", "whichNodes", "mayIDrain", "whyNotThere", "whichProfile"}; !slices.Equal(names, want) {
		t.Errorf("recipes %v, want %v", names, want)
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile("README.md"); err != nil || string(old) != page {
		t.Errorf("README.md does not show the programs (%v): run go test ./examples/recipes -update", err)
	}
}

// pageOf makes the page of the examples in the source.
func pageOf(t *testing.T, source []byte) (page string, names []string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "recipes_test.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Recipes\n\nOne short program for each question. `check` panics at an error; `dump` is what " +
		"`kubectl get nodes,pods,pdb -A -o json` prints, and `week` is a trace whose " +
		"pods have annotations for their arrivals and run times (`simulate.FromObjects` makes one). What a `simulate.Recorder` " +
		"writes is for `simulate.Replay`: its pods leave at their recorded times, so `simulate.RunAll` refuses to compare runs of it.\n\n" +
		"This page is made of [recipes_test.go](recipes_test.go), and a test runs every program.\n")
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example_") {
			continue
		}
		names = append(names, strings.TrimPrefix(f.Name.Name, "Example_"))
		if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > 25 {
			t.Errorf("%s has %d lines, want at most 25", f.Name.Name, lines)
		}
		body := string(source[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset])
		code, output, _ := strings.Cut(body, "\t// Output:")
		fmt.Fprintf(&b, "\n## %s\n\n```go\n%s\n```\n\n```text\n%s\n```\n", strings.TrimSpace(f.Doc.Text()), without("\t", code), without("// ", without("\t", output)))
	}
	return b.String(), names
}

// without takes a prefix off every line.
func without(prefix, text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimPrefix(lines[i], prefix), strings.TrimSpace(prefix))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
