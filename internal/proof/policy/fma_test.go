//go:build full

package policy

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoFusedProducts looks for x*y + z on floating-point numbers in the
// library. The language allows a compiler to compute it without rounding the
// product, and on some architectures it does: the same input would then give
// another score on another machine. A conversion, float64(x*y) + z, or an
// assignment rounds.
func TestNoFusedProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the library")
	}
	pkgs := loadModule(t)
	from := newSourceImporter(pkgs)
	for _, p := range pkgs {
		if r, ok := ruleOf(p.dir); !ok || !r.library || !hasFloats(p) {
			continue
		}
		for _, problem := range fusedProblems(p.fset, p.dir, p.files, from) {
			t.Error(problem)
		}
	}
}

// sourceImporter imports packages from source, without function bodies: those of
// the module from what is parsed already, and those of the standard library that
// the module imports. What the standard library imports in turn stays empty, so
// that the test need not read all of it; see unknown.
type sourceImporter struct {
	fset *token.FileSet
	pkgs map[string]*pkg // by import path
	done map[string]*types.Package
}

func newSourceImporter(pkgs []*pkg) *sourceImporter {
	s := &sourceImporter{pkgs[0].fset, map[string]*pkg{}, map[string]*types.Package{}}
	for _, p := range pkgs {
		s.pkgs[modulePath+"/"+p.dir] = p
	}
	return s
}

// Import implements [types.Importer].
func (s *sourceImporter) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if have := s.done[path]; have != nil {
		return have, nil
	}
	conf := types.Config{Importer: s, IgnoreFuncBodies: true, Error: func(error) {}}
	var files []*ast.File
	if p, ok := s.pkgs[path]; ok {
		files = p.files
	} else {
		var err error
		if files, err = s.parseStandard(path); err != nil {
			return nil, err
		}
		conf.Importer = noImports{}
	}
	s.done[path], _ = conf.Check(path, s.fset, files, nil)
	return s.done[path], nil
}

func (s *sourceImporter) parseStandard(path string) (files []*ast.File, err error) {
	bp, err := build.Default.Import(path, "", 0)
	if err != nil {
		return nil, err
	}
	for _, name := range append(bp.GoFiles, bp.CgoFiles...) {
		f, err := parser.ParseFile(s.fset, filepath.Join(bp.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// noImports imports nothing.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	return nil, errors.New("not imported: " + path)
}

// hasFloats reports whether a package mentions floating-point types or numbers.
// Most do not, and type-checking takes seconds.
func hasFloats(p *pkg) bool {
	found := false
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || strings.HasPrefix(n.Name, "float")
			case *ast.BasicLit:
				found = found || n.Kind == token.FLOAT
			}
			return !found
		})
	}
	return found
}

// fusedProblems type-checks files and lists the sums of unrounded products.
func fusedProblems(fset *token.FileSet, dir string, files []*ast.File, from types.Importer) []string {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// Errors are the compiler's business: here only expressions of known type count.
	conf := types.Config{Importer: from, Error: func(error) {}}
	_, _ = conf.Check(modulePath+"/"+dir, fset, files, info)

	var problems []string
	report := func(n ast.Node) {
		problems = append(problems, fset.Position(n.Pos()).String()+
			": a product is added unrounded, which a compiler may fuse: write float64(x*y) + z")
	}
	product := func(e ast.Expr) bool {
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
			case *ast.UnaryExpr:
				e = x.X
			case *ast.BinaryExpr:
				tv := info.Types[x]
				return x.Op == token.MUL && tv.Value == nil && (unknown(tv.Type) || isFloat(tv.Type))
			default:
				return false
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.ADD || n.Op == token.SUB) && (product(n.X) || product(n.Y)) {
					report(n)
				}
			case *ast.AssignStmt:
				if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && product(n.Rhs[0]) {
					report(n)
				}
			}
			return true
		})
	}
	return problems
}

// unknown reports whether the type could not be told, as where it comes from a
// package that is not imported. It may be a floating-point type then.
func unknown(t types.Type) bool { return t == nil || t == types.Typ[types.Invalid] }

// isFloat reports whether values of t are floating-point or complex numbers,
// or may be (a type parameter).
func isFloat(t types.Type) bool {
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint()
		u, ok := t.Underlying().(*types.Interface)
		if !ok {
			return false
		}
		for e := range u.EmbeddedTypes() {
			if union, ok := e.(*types.Union); ok {
				for term := range union.Terms() {
					if isFloat(term.Type()) {
						return true
					}
				}
			}
		}
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}

func TestNoFusedProductsFindsProblems(t *testing.T) {
	fset := token.NewFileSet()
	from := &sourceImporter{fset, nil, map[string]*types.Package{}}
	for _, c := range []struct {
		body string
		want int
	}{
		{"return x*y + z", 1},
		{"return z - (x*y)", 1},
		{"return -(x*y) + z", 1},
		{"z += x*y; return z", 1},
		{"return float64(x*y) + z", 0},
		{"p := x*y; return p + z", 0},
		{"return x*(y+z)", 0},
		{"return 2*3 + z", 0},
		{"var i, j, k int; return float64(i*j+k) / z", 0},
		{"return math.Sqrt(x)*y + z", 1},
		{"return time.Duration(3).Seconds()*y + z", 1},
		{"return float64(time.Duration(x)*time.Second + 1)", 0},
		{"return http.Get(x)*y + z", 1}, // of no type
	} {
		t.Run(c.body, func(t *testing.T) {
			f, err := parser.ParseFile(fset, "fixture.go", "package p\nimport (\"math\"; \"net/http\"; \"time\")\nfunc f(x, y, z float64) float64 { "+c.body+" }", 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := fusedProblems(fset, "scoring", []*ast.File{f}, from); len(got) != c.want {
				t.Errorf("found %d problems, want %d: %v", len(got), c.want, got)
			}
		})
	}
}
