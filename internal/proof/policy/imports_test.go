package policy

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestImports keeps the direction of imports and the absence of third-party
// code outside tests.
func TestImports(t *testing.T) { everywhere(t, importProblems) }

// importProblems lists the imports of p that the table of rules does not allow.
func importProblems(p *pkg) []string {
	r, ok := ruleOf(p.dir)
	if !ok {
		return []string{fmt.Sprintf(
			"%s: no rule covers the directory: give it a line in the table of internal/proof/policy/importrules_test.go", p.dir)}
	}
	var problems []string
	if within(p.dir, "scheduling") && r.dir != p.dir {
		problems = append(problems, p.dir+": every package of scheduling has a line of its own in the table of internal/proof/policy/importrules_test.go")
	}
	for _, u := range p.imports(p.files) {
		if text := importProblem(r, u.path); text != "" {
			problems = append(problems, fmt.Sprintf("%s: %s", u.pos, text))
		}
	}
	for _, u := range p.imports(p.tests) {
		if text := testImportProblem(r, u.path); text != "" {
			problems = append(problems, fmt.Sprintf("%s: %s", u.pos, text))
		}
	}
	return problems
}

// importProblem says what is wrong with an import by the code of r, or nothing.
func importProblem(r rule, name string) string {
	switch {
	case standard(name):
		return ""
	case !within(name, modulePath):
		if withinAny(name, r.modules) {
			return ""
		}
		return fmt.Sprintf("%s imports %s: code that is not a test uses the standard library and this module alone; "+
			"write the few lines that are needed, or move the use into a test or a nested module", r.dir, name)
	}
	dir := strings.TrimPrefix(strings.TrimPrefix(name, modulePath), "/")
	target, ok := ruleOf(dir)
	switch {
	case !ok:
		return fmt.Sprintf("%s imports %s, which no rule covers in the table in internal/proof/policy/importrules_test.go", r.dir, name)
	case target.dir == r.dir:
		return ""
	case target.testOnly && !r.testOnly:
		return fmt.Sprintf("%s imports %s, which is for tests only: use it in a _test.go file", r.dir, target.dir)
	case !contains(r.imports, target.dir):
		return fmt.Sprintf("%s imports %s: imports go down only, and %s may import %s; move what both need further down",
			r.dir, target.dir, r.dir, list(r.imports))
	}
	return ""
}

// testImportProblem says what is wrong with an import by a test of r. Tests may
// import any package of this module. Of other modules they may import the two for
// tests and those of their rule.
func testImportProblem(r rule, name string) string {
	if standard(name) || within(name, modulePath) || withinAny(name, testModules) || withinAny(name, r.modules) {
		return ""
	}
	return fmt.Sprintf("a test of %s imports %s: tests use the standard library and %s; "+
		"a comparison with another system belongs into a nested module below internal/proof/parity", r.dir, name, list(testModules))
}

// TestDependencies asks the go command what a user of the library links. It sees
// what the table cannot: the whole closure of imports.
func TestDependencies(t *testing.T) {
	for _, dir := range []string{"resource", "framework", "estimator", "filter", "scoring", "scheduling"} {
		t.Run(dir, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", modulePath+"/"+dir).Output()
			if err != nil {
				t.Fatalf("go list -deps %s: %v", dir, err)
			}
			for _, name := range foreign(strings.Fields(string(out))) {
				t.Errorf("%s links %s: find the way with `go mod why %s` and cut it", dir, name, name)
			}
		})
	}
}

// foreign filters the import paths of other modules. What the standard library
// vendors appears below vendor/ and counts as its own.
func foreign(paths []string) []string {
	var found []string
	for _, name := range paths {
		if !standard(name) && !within(name, modulePath) {
			found = append(found, name)
		}
	}
	return found
}

func TestImportsFindsProblems(t *testing.T) {
	src := func(paths ...string) string {
		return "package p\nimport (\n_ \"" + strings.Join(paths, "\"\n_ \"") + "\"\n)\n"
	}
	own := modulePath + "/"
	expect(t, importProblems, []expectation{
		{"standard library", fixture(t, "filter", src("fmt", "math/bits")), 0},
		{"downwards", fixture(t, "filter", src(own+"framework", own+"internal/topo")), 0},
		{"filter to scoring", fixture(t, "filter", src(own+"scoring")), 1},
		{"scoring to filter", fixture(t, "scoring/sub", src(own+"filter")), 1},
		{"upwards", fixture(t, "framework", src(own+"filter", own+"scheduling")), 2},
		{"contract to algorithms", fixture(t, "framework", src(own+"internal/match")), 1},
		{"scheduling to YAML", fixture(t, "scheduling", src(own+"scheduling/config")), 1},
		{"YAML at home", fixture(t, "scheduling/config", src("go.yaml.in/yaml/v2")), 0},
		{"YAML elsewhere", fixture(t, "scheduling", src("go.yaml.in/yaml/v2")), 1},
		{"third party", fixture(t, "resource", src("github.com/google/go-cmp/cmp")), 1},
		{"third party in a test", fixtureFile(t, "resource", "a_test.go", src("github.com/google/go-cmp/cmp")), 0},
		{"another one in a test", fixtureFile(t, "resource", "a_test.go", src("github.com/stretchr/testify")), 1},
		{"oracle in code", fixture(t, "scoring", src(own+"internal/proof/oracle")), 1},
		{"oracle in a test", fixtureFile(t, "scoring", "a_test.go", src(own+"internal/proof/oracle")), 0},
		{"no rule of its own", fixture(t, "scheduling/new", src("fmt")), 1},
		{"no rule", fixture(t, "utils", src("fmt")), 1},
		{"import without a rule", fixture(t, "scheduling", src(own+"utils")), 1},
	})
	if got := foreign([]string{"fmt", "vendor/golang.org/x/net", modulePath, "golang.org/x/net"}); len(got) != 1 {
		t.Errorf("foreign found %v, want [golang.org/x/net]", got)
	}
}
