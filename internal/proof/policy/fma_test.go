package policy

import (
	"go/ast"
	"go/importer"
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
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "source", nil)
	for _, p := range loadModule(t) {
		if r, ok := ruleOf(p.dir); !ok || !r.library || !hasFloats(p) {
			continue
		}
		// Parsed again into the importer's file set, whose positions the type
		// checker needs.
		files, err := parseAgain(fset, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range fusedProblems(fset, p.dir, files, from) {
			t.Error(problem)
		}
	}
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

// parseAgain parses the files of p into another file set.
func parseAgain(fset *token.FileSet, p *pkg) ([]*ast.File, error) {
	var files []*ast.File
	for _, f := range p.files {
		name := p.fset.Position(f.Package).Filename
		again, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, again)
	}
	return files, nil
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
				return x.Op == token.MUL && tv.Value == nil && isFloat(tv.Type)
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

// isFloat reports whether values of t are floating-point or complex numbers,
// or may be (a type parameter).
func isFloat(t types.Type) bool {
	if t == nil {
		return false
	}
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
	} {
		t.Run(c.body, func(t *testing.T) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, "fixture.go", "package p\nfunc f(x, y, z float64) float64 { "+c.body+" }", 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := fusedProblems(fset, "scoring", []*ast.File{f}, importer.Default()); len(got) != c.want {
				t.Errorf("found %d problems, want %d: %v", len(got), c.want, got)
			}
		})
	}
}
