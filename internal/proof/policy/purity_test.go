package policy

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestPurity keeps clocks, random sources, logs, files and the network out of
// the library: same inputs and seed, same decisions, on any machine.
func TestPurity(t *testing.T) { everywhere(t, purityProblems) }

// bannedPackages are not imported by the library; network marks those that a
// package with the network allowance may import all the same.
var bannedPackages = []struct {
	path    string
	network bool
	instead string
}{
	{"log", false, "return an error or a value; the caller logs"},
	{"os", false, "take an io.Reader, an io.Writer, an fs.FS or the value itself"},
	{"io/ioutil", false, "take an io.Reader"},
	{"syscall", false, "leave the operating system to the caller"},
	{"plugin", false, "plugins of a profile are values"},
	{"expvar", false, "return figures; the caller publishes them"},
	{"crypto/rand", false, "take a seed"},
	{"net", true, "only scheduling/extender speaks to the network"},
}

// harmless lists packages below banned ones that only compute.
var harmless = []string{"net/netip", "net/url"}

// bannedNames are package-level functions that the library does not call.
var bannedNames = map[string]struct {
	names   []string
	instead string
}{
	"time": {
		[]string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep"},
		"take the time as a value or an injected clock",
	},
	"fmt": {
		[]string{"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"write to an io.Writer that the caller gives",
	},
}

// seeded are the functions of math/rand and math/rand/v2 that do not touch the
// package-level source; every other function does.
var seeded = []string{"New", "NewSource", "NewZipf", "NewPCG", "NewChaCha8"}

// purityProblems lists what library code must not use.
func purityProblems(p *pkg) []string {
	r, ok := ruleOf(p.dir)
	if !ok || !r.library {
		return nil
	}
	var problems []string
	for _, f := range p.files {
		names := map[string]string{} // the file's name for a package -> its path
		for _, spec := range f.Imports {
			full := strings.Trim(spec.Path.Value, `"`)
			local := path.Base(full)
			if full == "math/rand/v2" {
				local = "rand"
			}
			if spec.Name != nil {
				local = spec.Name.Name
			}
			names[local] = full
			for _, b := range bannedPackages {
				if within(full, b.path) && !slices.Contains(harmless, full) && !(b.network && r.network) {
					problems = append(problems, p.problem(spec.Pos(), "%s imports %s: %s", r.dir, full, b.instead))
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if text := nameProblem(names[x.Name], n.Sel.Name); text != "" {
						problems = append(problems, p.problem(n.Pos(), "%s uses %s.%s: %s", r.dir, x.Name, n.Sel.Name, text))
					}
				}
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					problems = append(problems, p.problem(n.Pos(), "%s has an init function: initialize variables where they are declared, "+
						"or build the value in a constructor", r.dir))
				}
			}
			return true
		})
	}
	return problems
}

// nameProblem says what to use instead of a package's name, or nothing.
func nameProblem(pkgPath, name string) string {
	if b, ok := bannedNames[pkgPath]; ok && slices.Contains(b.names, name) {
		return b.instead
	}
	if (pkgPath == "math/rand" || pkgPath == "math/rand/v2") && !slices.Contains(seeded, name) && !isRandType(name) {
		return "take a seed and draw from a source made of it (rand.New(rand.NewPCG(seed, stream)))"
	}
	return ""
}

// isRandType reports whether the name is a type of the random packages.
func isRandType(name string) bool {
	return slices.Contains([]string{"Rand", "Source", "Source64", "Zipf", "PCG", "ChaCha8"}, name)
}

func TestPurityFindsProblems(t *testing.T) {
	src := func(imports, body string) string {
		var b strings.Builder
		b.WriteString("package p\n")
		for _, name := range strings.Fields(imports) {
			b.WriteString("import \"" + name + "\"\n")
		}
		return b.String() + body
	}
	expect(t, purityProblems, []expectation{
		{"time as a value", fixture(t, "filter", src("time", "func f(t time.Time) time.Time { return t.Add(time.Second) }")), 0},
		{"clock", fixture(t, "filter", src("time", "var now = time.Now")), 1},
		{"renamed clock", fixture(t, "filter", "package p\nimport clock \"time\"\nvar t = clock.Since(clock.Time{})"), 1},
		{"clock outside the library", fixture(t, "examples/simulate", src("time", "var now = time.Now")), 0},
		{"seeded source", fixture(t, "scheduling", src("math/rand/v2", "func f(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }")), 0},
		{"package-level source", fixture(t, "scheduling", src("math/rand/v2", "func f() int { return rand.IntN(3) }")), 1},
		{"old package-level source", fixture(t, "scheduling", src("math/rand", "func f() int { return rand.Intn(3) }")), 1},
		{"log", fixture(t, "estimator", src("log", "func f() { log.Print() }")), 1},
		{"slog", fixture(t, "estimator", src("log/slog", "var _ slog.Level")), 1},
		{"files", fixture(t, "resource", src("os", "var _ = os.Args")), 1},
		{"printing", fixture(t, "resource", src("fmt", "func f() { fmt.Println(fmt.Sprint(1)) }")), 1},
		{"network", fixture(t, "scheduling", src("net/http", "var _ http.Client")), 1},
		{"network where it belongs", fixture(t, "scheduling/extender", src("net/http", "var _ http.Client")), 0},
		{"addresses", fixture(t, "framework", src("net/netip", "var _ netip.Addr")), 0},
		{"init", fixture(t, "internal/engine", src("", "func init() {}")), 1},
		{"method init", fixture(t, "internal/engine", src("", "type T struct{}\nfunc (T) init() {}")), 0},
	})
}
