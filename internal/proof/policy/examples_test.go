package policy

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestExamples demands that every exported type of the library is shown in an
// Example of its own package, where its page prints it. An Example is run and
// its output compared, so what it shows is true.
func TestExamples(t *testing.T) { everywhere(t, exampleProblems) }

// formulas are the packages whose exported functions are formulas that stand for
// themselves: each wants an Example as a type does.
var formulas = []string{"scoring"}

// exampleProblems lists the exported types of p that no Example of p shows. A
// type is shown by an Example that is named after it or uses its name, or one
// of its constants, in its body or in a type that the body uses and that is
// declared beside it.
func exampleProblems(p *pkg) []string {
	r, ok := ruleOf(p.dir)
	if !ok || !r.library || within(p.dir, "internal") {
		return nil
	}
	shown := p.shown()
	var problems []string
	demand := func(what string, name *ast.Ident) {
		if name.IsExported() && !shown[name.Name] {
			problems = append(problems, p.problem(name.Pos(), "no Example shows %s %s: write func Example%s with an // Output comment, "+
				"or use it in another Example of the package", what, name.Name, name.Name))
		}
	}
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						demand("type", s.Name)
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil && slices.Contains(formulas, p.dir) {
					demand("function", d.Name)
				}
			}
		}
	}
	return problems
}

// shown returns the names of p that its Examples show.
func (p *pkg) shown() map[string]bool {
	shown := map[string]bool{}
	declared := p.testTypes()
	for _, f := range p.tests {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Body == nil || !strings.HasPrefix(fn.Name.Name, "Example") || !printsOutput(f, fn) {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(fn.Name.Name, "Example"), "_")
			shown[name] = true
			p.show(f, fn.Body, declared, map[string]bool{}, shown)
		}
	}
	for _, f := range p.files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
				showConstants(d, shown)
			}
		}
	}
	return shown
}

// showConstants marks the types of those constants that are marked.
func showConstants(d *ast.GenDecl, shown map[string]bool) {
	typ := ""
	for _, spec := range d.Specs {
		s := spec.(*ast.ValueSpec)
		if s.Type != nil || s.Values != nil {
			typ = ""
			if id, ok := s.Type.(*ast.Ident); ok {
				typ = id.Name
			}
		}
		for _, name := range s.Names {
			if shown[name.Name] && typ != "" {
				shown[typ] = true
			}
		}
	}
}

// show marks the names of p that occur in n, and in the types used there that
// the tests declare.
func (p *pkg) show(f *ast.File, n ast.Node, declared map[string][]part, seen, shown map[string]bool) {
	local := ""
	for _, spec := range f.Imports {
		if strings.Trim(spec.Path.Value, `"`) == modulePath+"/"+p.dir {
			local = path.Base(p.dir)
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if local != "" && x.Name == local {
					shown[n.Sel.Name] = true
					return false
				}
			}
		case *ast.Ident:
			if local == "" { // a test inside the package
				shown[n.Name] = true
			}
			if parts := declared[n.Name]; parts != nil && !seen[n.Name] {
				seen[n.Name] = true
				for _, part := range parts {
					p.show(part.file, part.node, declared, seen, shown)
				}
			}
		}
		return true
	})
}

// A part is a declaration and the file that it stands in.
type part struct {
	file *ast.File
	node ast.Node
}

// testTypes returns the types that the tests of p declare, each with its
// methods.
func (p *pkg) testTypes() map[string][]part {
	types := map[string][]part{}
	for _, f := range p.tests {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						types[s.Name.Name] = append(types[s.Name.Name], part{f, s.Type})
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					name := receiver(d)
					types[name] = append(types[name], part{f, d})
				}
			}
		}
	}
	return types
}

// printsOutput reports whether the Example has an Output comment, without
// which the go command only compiles it.
func printsOutput(f *ast.File, fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(strings.TrimSpace(c.Text()))
		return fn.Body.Lbrace < c.Pos() && c.End() <= fn.Body.Rbrace+token.Pos(1) &&
			(strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

func TestExamplesFindsProblems(t *testing.T) {
	const code = "package resource\ntype T int\nconst One T = 1\nfunc F() {}\n"
	with := func(dir, code, test string) *pkg {
		p := fixture(t, dir, code)
		if err := p.add(dir+"/example_test.go", []byte("package p_test\nimport r \""+modulePath+"/"+dir+"\"\n"+test)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	expect(t, exampleProblems, []expectation{
		{"none", fixture(t, "resource", code), 1},
		{"outside the library", fixture(t, "examples/x", code), 0},
		{"formula", fixture(t, "scoring", code), 2},
		{"hidden", fixture(t, "resource", "package resource\ntype t int\n"), 0},
		{"named", with("resource", code, "func ExampleT_String() {\n// Output: 1\n}"), 0},
		{"not run", with("resource", code, "func ExampleT() {}"), 1},
		{"another name", with("resource", code, "func ExampleTT() {\n// Output: 1\n}"), 1},
		{"used", with("resource", code, "func Example() {\nvar x r.T\n_ = x\n// Output: 1\n}"), 0},
		{"another package's", with("resource", code, "func Example() {\nvar x q.T\n_ = x\n// Output: 1\n}"), 1},
		{"constant", with("resource", code, "func Example() {\n_ = r.One\n// Output: 1\n}"), 0},
		{"used in a test", with("resource", code, "func TestT() {\nvar x r.T\n_ = x\n}"), 1},
		{"used in a type", with("resource", code, "type p struct{}\nfunc (p) m(r.T) {}\nfunc Example() {\n_ = p{}\n// Output: 1\n}"), 0},
		{"used in another type", with("resource", code, "type p struct{}\nfunc (p) m(r.T) {}\nfunc Example() {\n// Output: 1\n}"), 1},
	})
}
