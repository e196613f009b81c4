//go:build full

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// answerTypes are the types of the answers.
var answerTypes = map[string]reflect.Type{
	"place": reflect.TypeFor[PlaceAnswer](), "explain": reflect.TypeFor[scheduling.Explanation](), "why-not": reflect.TypeFor[whatif.WhyNot](),
	"headroom": reflect.TypeFor[whatif.Headroom](), "drain": reflect.TypeFor[whatif.Drain](), "nodes-needed": reflect.TypeFor[whatif.NodesNeeded](),
	"consolidate": reflect.TypeFor[whatif.Consolidation](), "compare": reflect.TypeFor[CompareAnswer](), "sweep": reflect.TypeFor[whatif.Sweep](),
	"simulate": reflect.TypeFor[SimulateAnswer](), "replay": reflect.TypeFor[ReplayAnswer](), "config": reflect.TypeFor[config.Effective](),
}

// checkFields expects no field in the output that JSON.md does not have.
func checkFields(t *testing.T, command, text string) {
	t.Helper()
	var out struct {
		Output
		Answer json.RawMessage `json:"answer"`
	}
	strict := func(text []byte, into any) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	strict([]byte(text), &out)
	strict(out.Answer, reflect.New(answerTypes[command]).Interface())
}

// TestJSONPage compares JSON.md with the types, and with what their comments say.
func TestJSONPage(t *testing.T) {
	g := jsonPage{t: t, seen: map[reflect.Type]bool{}, comments: map[string]map[string]string{}}
	g.b.WriteString("# The JSON of berth\n\n")
	g.b.WriteString("`berth QUESTION -o json` writes one object, the [Output](#output). Its field `answer` has a\ntype for each question:\n\n| question | answer |\n|---|---|\n")
	g.queue = append(g.queue, reflect.TypeFor[Output]())
	for _, c := range commands() {
		typ := answerTypes[c.name]
		if typ == nil {
			t.Fatalf("%s has no type", c.name)
		}
		fmt.Fprintf(&g.b, "| %s | %s |\n", c.name, g.typeName(typ))
	}
	g.b.WriteString("\nThe form is stable: fields are added, and never change their meaning. A field marked \"may\nbe absent\" is left out where it is empty. Shares are from 0 to 1, times in seconds. A test\ncompares this page with the program; `go test -tags full ./examples/berth -run JSONPage\n-update` writes it anew.\n")
	for len(g.queue) > 0 {
		typ := g.queue[0]
		g.queue = g.queue[1:]
		if !g.seen[typ] {
			g.seen[typ] = true
			g.section(typ)
		}
	}
	const file = "JSON.md"
	if *update {
		if err := os.WriteFile(file, []byte(g.b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != g.b.String() {
		t.Errorf("%s is old (%v); renew it with -update", file, err)
	}
}

// A jsonPage collects the types that answers consist of.
type jsonPage struct {
	t        *testing.T
	b        strings.Builder
	queue    []reflect.Type
	seen     map[reflect.Type]bool
	comments map[string]map[string]string // by directory, then by type and field
}

// typeName names a type, and links the section of a struct.
func (g *jsonPage) typeName(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Pointer:
		return g.typeName(typ.Elem())
	case reflect.Slice:
		return "list of " + g.typeName(typ.Elem())
	case reflect.Array:
		return fmt.Sprintf("list of %d: %s", typ.Len(), g.typeName(typ.Elem()))
	case reflect.Map:
		return "object, for each name: " + g.typeName(typ.Elem())
	case reflect.Struct:
		g.queue = append(g.queue, typ)
		return fmt.Sprintf("[%s](#%s)", title(typ), strings.ToLower(strings.ReplaceAll(title(typ), ".", "")))
	case reflect.Interface:
		return "anything"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	}
	return "number"
}

// title names a type as a heading.
func title(typ reflect.Type) string {
	if typ.PkgPath() == reflect.TypeFor[Output]().PkgPath() {
		return typ.Name()
	}
	return typ.String()
}

// section lists the fields of a type.
func (g *jsonPage) section(typ reflect.Type) {
	about := g.commentsOf(typ)
	fmt.Fprintf(&g.b, "\n## %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", title(typ), about[typ.Name()])
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		meaning := about[typ.Name()+"."+f.Name]
		if strings.Contains(rest, "omit") {
			meaning = strings.TrimSpace(meaning + " (may be absent)")
		}
		fmt.Fprintf(&g.b, "| %s | %s | %s |\n", name, g.typeName(f.Type), strings.ReplaceAll(meaning, "|", "\\|"))
	}
}

// commentsOf returns the comments of the types and fields of a package.
func (g *jsonPage) commentsOf(typ reflect.Type) map[string]string {
	dir := "." + strings.TrimPrefix(typ.PkgPath(), "github.com/berth-sched/berth")
	if typ.PkgPath() == reflect.TypeFor[Output]().PkgPath() {
		dir = "./examples/berth"
	}
	if c := g.comments[dir]; c != nil {
		return c
	}
	about := map[string]string{}
	g.comments[dir] = about
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil || len(files) == 0 {
		g.t.Fatalf("no source of %s: %v", dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
					about[s.Name.Name] = plain(d.Doc.Text())
				}
			}
			if s, ok := n.(*ast.TypeSpec); ok {
				if x, ok := s.Type.(*ast.StructType); ok {
					addFields(about, s.Name.Name, x)
				}
			}
			return true
		})
	}
	return about
}

// addFields adds the comments of fields. One comment may be about fields that follow.
func addFields(about map[string]string, name string, x *ast.StructType) {
	before := ""
	for _, f := range x.Fields.List {
		text := plain(f.Doc.Text() + " " + f.Comment.Text())
		if text == "" {
			text = before
		}
		before = text
		for _, n := range f.Names {
			about[name+"."+n.Name] = text
			if !strings.Contains(text, n.Name) {
				about[name+"."+n.Name] = plain(f.Doc.Text() + " " + f.Comment.Text())
			}
		}
	}
}

// plain makes a comment one line without links.
func plain(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(text)), " ")
}
