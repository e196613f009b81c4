package policy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// modulePath is the path of the module whose rules these are.
const modulePath = "github.com/berth-sched/berth"

// root is the module's directory as seen from this package.
const root = "../../.."

// A pkg is the parsed source of one directory.
type pkg struct {
	dir   string // relative to the module's root, with slashes
	fset  *token.FileSet
	files []*ast.File // not tests
	tests []*ast.File // _test.go files, of both packages
}

// imports lists the import paths of files with the position of each.
func (p *pkg) imports(files []*ast.File) []use {
	var uses []use
	for _, f := range files {
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			uses = append(uses, use{name, p.fset.Position(spec.Pos())})
		}
	}
	return uses
}

// problem formats a finding with its place in the source.
func (p *pkg) problem(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s: %s", p.fset.Position(pos), fmt.Sprintf(format, args...))
}

// A use is one import of one file.
type use struct {
	path string
	pos  token.Position
}

// loadModule returns every package of the root module. They are parsed once, for
// all tests, into one file set: tests must not change them. Nested modules,
// testdata and directories whose names begin with a dot or an underscore are
// left out, as the go command leaves them out.
func loadModule(t *testing.T) []*pkg {
	t.Helper()
	m := rootModule()
	if m.err != nil {
		t.Fatalf("cannot read the module: %v", m.err)
	}
	if len(m.pkgs) == 0 {
		t.Fatal("found no package: is this test still three levels below the module's root?")
	}
	return m.pkgs
}

// rootModule is the root module, parsed once.
var rootModule = sync.OnceValue(func() (m parsed) {
	m.pkgs, m.nested, m.err = parseBelow(root)
	return m
})

// parsed is a module: its packages, and the directories of modules that it contains.
type parsed struct {
	pkgs   []*pkg
	nested []string
	err    error
}

// loadNested returns every package of the nested modules.
func loadNested(t *testing.T) (pkgs []*pkg) {
	t.Helper()
	modules, err := slices.Clone(rootModule().nested), rootModule().err
	for len(modules) > 0 && err == nil {
		var found []*pkg
		var deeper []string
		found, deeper, err = parseBelow(modules[0])
		pkgs, modules = append(pkgs, found...), append(modules[1:], deeper...)
	}
	if err != nil {
		t.Fatalf("cannot read a nested module: %v", err)
	}
	if len(pkgs) == 0 {
		t.Fatal("found no package of a nested module")
	}
	return pkgs
}

// parseBelow parses the packages of the module in a directory, and lists the directories
// of modules that it contains.
func parseBelow(top string) (pkgs []*pkg, modules []string, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if name != top {
			base := path.Base(rel)
			if base == "testdata" || base[0] == '.' || base[0] == '_' {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				modules = append(modules, name)
				return filepath.SkipDir
			}
		}
		p, err := loadDir(fset, name, rel)
		if err != nil {
			return err
		}
		if len(p.files)+len(p.tests) > 0 {
			pkgs = append(pkgs, p)
		}
		return nil
	})
	return pkgs, modules, err
}

// loadDir parses the files of one directory, also those that only a tag builds.
func loadDir(fset *token.FileSet, name, rel string) (*pkg, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	p := &pkg{dir: rel, fset: fset}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(name, e.Name()))
		if err != nil {
			return nil, err
		}
		if err := p.add(path.Join(rel, e.Name()), src); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add parses one file into p.
func (p *pkg) add(name string, src []byte) error {
	f, err := parser.ParseFile(p.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, "_test.go") {
		p.tests = append(p.tests, f)
	} else {
		p.files = append(p.files, f)
	}
	return nil
}

// fixture is a package of one file for showing that a check can fail.
func fixture(t *testing.T, dir, src string) *pkg {
	t.Helper()
	return fixtureFile(t, dir, "fixture.go", src)
}

// fixtureFile is fixture with a file name, for source that is a test.
func fixtureFile(t *testing.T, dir, name, src string) *pkg {
	t.Helper()
	p := &pkg{dir: dir, fset: token.NewFileSet()}
	if err := p.add(path.Join(dir, name), []byte(src)); err != nil {
		t.Fatal(err)
	}
	return p
}

// expect fails unless check finds exactly want problems in each fixture: the
// proof that the check sees what it is there to see, and nothing else.
func expect(t *testing.T, check func(*pkg) []string, cases []expectation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := check(c.pkg)
			if len(got) != c.want {
				t.Errorf("found %d problems, want %d:\n%s", len(got), c.want, strings.Join(got, "\n"))
			}
		})
	}
}

// An expectation is a fixture and the number of problems in it.
type expectation struct {
	name string
	pkg  *pkg
	want int
}

// everywhere runs check over every package of the module.
func everywhere(t *testing.T, check func(*pkg) []string) {
	t.Helper()
	for _, p := range loadModule(t) {
		for _, problem := range check(p) {
			t.Error(problem)
		}
	}
}
