package policy

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestConformance demands that every plugin of filter and scoring is
// handed to the conformance kit by a test of its package.
func TestConformance(t *testing.T) { everywhere(t, conformanceProblems) }

// pluginPackages hold plugins.
var pluginPackages = []string{"filter", "scoring"}

// conformanceProblems lists the exported types of p that have a method Name,
// and of which no test that calls the kit makes a value, in itself or in a
// variable or function of the tests that it uses.
func conformanceProblems(p *pkg) []string {
	if !slices.Contains(pluginPackages, p.dir) {
		return nil
	}
	tested := map[string]bool{}
	declared := p.testNames()
	for _, f := range p.tests {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") && callsKit(fn) {
				p.show(f, fn.Body, declared, map[string]bool{}, tested)
			}
		}
	}
	var problems []string
	for _, f := range p.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Name" || !exportedReceiver(fn.Recv) {
				continue
			}
			if name := receiver(fn); !tested[name] {
				problems = append(problems, p.problem(fn.Pos(), "no test runs the conformance kit on plugin %s: call frameworktest.Run(t, %s.%s{})",
					name, p.dir, name))
			}
		}
	}
	return problems
}

// callsKit reports whether the body of fn calls frameworktest.Run or Check.
func callsKit(fn *ast.FuncDecl) bool {
	calls := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			calls = calls || ok && x.Name == "frameworktest" && (s.Sel.Name == "Run" || s.Sel.Name == "Check")
		}
		return !calls
	})
	return calls
}

// receiver returns the name of the type that fn is a method of.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	if !ok {
		return ""
	}
	return id.Name
}

// testNames returns what the tests of p declare at the top level, types with
// their methods.
func (p *pkg) testNames() map[string][]part {
	names := p.testTypes()
	for _, f := range p.tests {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range s.Names {
							names[name.Name] = append(names[name.Name], part{f, s})
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil && d.Body != nil && !strings.HasPrefix(d.Name.Name, "Test") {
					names[d.Name.Name] = append(names[d.Name.Name], part{f, d.Body})
				}
			}
		}
	}
	return names
}

func TestConformanceFindsProblems(t *testing.T) {
	const code = "package filter\ntype P struct{}\nfunc (P) Name() string { return \"P\" }\ntype Args struct{}\n"
	with := func(dir, test string) *pkg {
		p := fixture(t, dir, code)
		if err := p.add(dir+"/p_test.go", []byte("package filter_test\nimport \""+modulePath+"/"+dir+"\"\n"+test)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	expect(t, conformanceProblems, []expectation{
		{"none", fixture(t, "filter", code), 1},
		{"another rule", fixture(t, "framework", code), 0},
		{"direct", with("filter", "func TestP(t *testing.T) { frameworktest.Run(t, filter.P{}) }"), 0},
		{"from a list", with("filter", "var all = []any{filter.P{}}\nfunc TestP(t *testing.T) { frameworktest.Run(t, all[0]) }"), 0},
		{"from a function", with("filter", "func p() any { return filter.P{} }\nfunc TestP(t *testing.T) { frameworktest.Run(t, p()) }"), 0},
		{"without the kit", with("filter", "func TestP(t *testing.T) { _ = filter.P{} }"), 1},
		{"another's", with("filter", "func TestP(t *testing.T) { frameworktest.Run(t, other.P{}) }"), 1},
	})
}
