package policy

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// apiFile lists the exported API, one line a name, so that a change of the API is
// seen in review.
const apiFile = "api.txt"

// TestAPI keeps the list of api.txt equal to what the packages of the library export.
func TestAPI(t *testing.T) {
	var lines []string
	for _, p := range loadModule(t) {
		if r, ok := ruleOf(p.dir); !ok || !r.library || within(p.dir, "internal") {
			continue
		}
		lines = append(lines, exports(p)...)
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	want, err := os.ReadFile(apiFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	if *update {
		if err := os.WriteFile(apiFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, now := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range old {
		if !contains(now, line) {
			t.Errorf("- %s", line)
		}
	}
	for _, line := range now {
		if !contains(old, line) {
			t.Errorf("+ %s", line)
		}
	}
	t.Errorf("the exported API differs from internal/proof/policy/%s; if that is meant, write it with: go test ./internal/proof/policy -run API -update", apiFile)
}

// exports lists the exported names of a package, each with what it is.
func exports(p *pkg) []string {
	var lines []string
	add := func(text string) {
		lines = append(lines, "pkg "+p.dir+", "+strings.Join(strings.Fields(text), " "))
	}
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
					add(source(p, &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					exportsOf(p, d.Tok, spec, add)
				}
			}
		}
	}
	return lines
}

func exportsOf(p *pkg, tok token.Token, spec ast.Spec, add func(string)) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if !name.IsExported() {
				continue
			}
			text := tok.String() + " " + name.Name
			if s.Type != nil {
				text += " " + source(p, s.Type)
			}
			add(text)
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		head := "type " + s.Name.Name
		if s.TypeParams != nil {
			head += "[" + fieldText(p, s.TypeParams) + "]"
		}
		switch typ := s.Type.(type) {
		case *ast.StructType:
			add(head + " struct")
			members(p, typ.Fields, head+" struct, ", add)
		case *ast.InterfaceType:
			add(head + " interface")
			members(p, typ.Methods, head+" interface, ", add)
		default:
			add(head + " " + source(p, s.Type))
		}
	}
}

// members lists the exported fields of a struct or the methods of an interface.
func members(p *pkg, fields *ast.FieldList, head string, add func(string)) {
	for _, f := range fields.List {
		typ := source(p, f.Type)
		if len(f.Names) == 0 {
			add(head + "embedded " + typ)
		}
		for _, name := range f.Names {
			if name.IsExported() {
				add(head + name.Name + " " + typ)
			}
		}
	}
}

func fieldText(p *pkg, fields *ast.FieldList) string {
	var parts []string
	for _, f := range fields.List {
		var names []string
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
		parts = append(parts, strings.Join(names, ", ")+" "+source(p, f.Type))
	}
	return strings.Join(parts, ", ")
}

// source prints a node as Go.
func source(p *pkg, n ast.Node) string {
	var b bytes.Buffer
	if err := format.Node(&b, p.fset, n); err != nil {
		return err.Error()
	}
	return b.String()
}

func TestExports(t *testing.T) {
	p := fixture(t, "filter", `// Package filter filters.
package filter

// T is a T.
type T[K comparable] struct {
	// A is a field.
	A, b int // comments do not count
	U
}

// I is an I.
type I interface{ M(x int) (y string) }

// M is a method.
func (t *T[K]) M() {}

func (t *T[K]) n() {}

// C is a constant, V a variable.
const C int = 1
var V, w = 1, 2

// F is a function.
func F(a, b int) error { return nil }

type hidden struct{ X int }

func (hidden) Y() {}
`)
	got := exports(p)
	slices.Sort(got)
	want := []string{
		"pkg filter, const C int",
		"pkg filter, func (t *T[K]) M()",
		"pkg filter, func F(a, b int) error",
		"pkg filter, type I interface",
		"pkg filter, type I interface, M func(x int) (y string)",
		"pkg filter, type T[K comparable] struct",
		"pkg filter, type T[K comparable] struct, A int",
		"pkg filter, type T[K comparable] struct, embedded U",
		"pkg filter, var V",
	}
	if !slices.Equal(got, want) {
		t.Errorf("exports:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
