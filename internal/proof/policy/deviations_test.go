package policy

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of DEVIATIONS.md anew")

const (
	deviationsFile = "DEVIATIONS.md"
	deviationsMark = "<!-- What follows is gathered: go test ./internal/proof/policy -run Deviations -update -->\n"
)

// TestDeviations keeps the tables of DEVIATIONS.md equal to what the comments of the
// library say under "Differs:".
func TestDeviations(t *testing.T) {
	var tables strings.Builder
	for _, p := range loadModule(t) {
		if r, ok := ruleOf(p.dir); !ok || !r.library || within(p.dir, "internal") {
			continue
		}
		found, problems := deviations(p)
		for _, problem := range problems {
			t.Error(problem)
		}
		if len(found) > 0 {
			fmt.Fprintf(&tables, "\n### %s\n\n%s", p.dir, table(found))
		}
	}
	if t.Failed() {
		return // the tables would be incomplete
	}
	name := filepath.Join(root, deviationsFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, old, found := strings.Cut(string(text), deviationsMark)
	if !found {
		t.Fatalf("%s has no line %q", deviationsFile, deviationsMark)
	}
	if old == tables.String() {
		return
	}
	if !*update {
		t.Fatalf("%s does not list what the comments say; write it with: go test ./internal/proof/policy -run Deviations -update", deviationsFile)
	}
	if err := os.WriteFile(name, []byte(head+deviationsMark+tables.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDeviationsAreFound shows what counts, and how it is written.
func TestDeviationsAreFound(t *testing.T) {
	p := fixture(t, "filter", `// Package filter filters.
//
// Differs: everywhere.
// Original: a|b.
// Here: a.
// Why: none.
package filter

// A T is a T. Each lists what deviates under
// "Differs:".
//
// Differs: [U] is
// larger.
// Original: small.
// Here: in
// [0,100].
// Switch: [T.F].
// Differs: a second one.
// Original: o.
// Here: h.
// Why: w.
// Switch: s.
//
// Source: somewhere.
type T[P any] struct {
	// F is a field.
	//
	// Differs: a field.
	// Original: o.
	// Here: h.
	// Why: w.
	F int
}

// M does nothing.
//
// Differs: a method.
// Original: o.
// Here: h.
// Why: w.
func (t *T[P]) M() {}

const (
	// C is a constant.
	//
	// Differs: a constant.
	// Original: o.
	// Here: h.
	// Why: w.
	C = 1
)
`)
	found, problems := deviations(p)
	if len(problems) > 0 {
		t.Errorf("found problems:\n%s", strings.Join(problems, "\n"))
	}
	const want = tableHead + "" +
		"| the package | everywhere. | a\\|b. | a. | none. |\n" +
		"| `C` | a constant. | o. | h. | w. |\n" +
		"| `T` | `U` is larger. | small. | in [0,100]. | Switch: `T.F`. |\n" +
		"| `T` | a second one. | o. | h. | w. Switch: s. |\n" +
		"| `T.F` | a field. | o. | h. | w. |\n" +
		"| `T.M` | a method. | o. | h. | w. |\n"
	if got := table(found); got != want {
		t.Errorf("table(deviations) =\n%swant\n%s", got, want)
	}
}

// TestDeviationsFindsProblems plants faults.
func TestDeviationsFindsProblems(t *testing.T) {
	const (
		whole = "// Differs: d.\n// Original: o.\n// Here: h.\n// Why: w.\n"
		f     = "package filter\n\n// F does nothing.\n//\n"
		end   = "func F() {}\n"
	)
	without := func(line string) *pkg { return fixture(t, "filter", f+strings.Replace(whole, line, "", 1)+end) }
	problems := func(p *pkg) []string {
		_, problems := deviations(p)
		return problems
	}
	expect(t, problems, []expectation{
		{"whole", fixture(t, "filter", f+whole+end), 0},
		{"no word of it", fixture(t, "filter", f+"// See \"Differs:\".\n"+end), 0},
		{"no what", fixture(t, "filter", f+strings.Replace(whole, " d.", "", 1)+end), 1},
		{"no original", without("// Original: o.\n"), 1},
		{"no here", without("// Here: h.\n"), 1},
		{"neither why nor switch", without("// Why: w.\n"), 1},
		{"prose", fixture(t, "filter", f+"// Differs: it is larger.\n"+end), 3},
		{"taken apart", fixture(t, "filter", f+strings.Replace(whole, "// Here", "//\n// Here", 1)+end), 2},
		{"twice", fixture(t, "filter", f+whole+"// Why: v.\n"+end), 1},
		{"within a line", fixture(t, "filter", f+strings.Replace(whole, "\n// Why", " Why", 1)+end), 2},
		{"second of two", fixture(t, "filter", f+whole+strings.Replace(whole, "// Here: h.\n", "", 1)+end), 1},
		{"unexported function", fixture(t, "filter", "package filter\n\n"+whole+"func f() {}\n"), 1},
		{"unexported field", fixture(t, "filter", "package filter\n\n// T is a T.\ntype T struct {\n"+whole+"f int\n}\n"), 1},
		{"method of an unexported type", fixture(t, "filter", "package filter\n\ntype t struct{}\n\n"+whole+"func (t) M() {}\n"), 1},
		{"group", fixture(t, "filter", "package filter\n\n"+whole+"const (\n\tA = 1\n\tB = 2\n)\n"), 1},
		{"inside a function", fixture(t, "filter", "package filter\n\n// F does nothing.\nfunc F() {\n"+whole+"}\n"), 1},
	})
	const want = "filter/fixture.go:5:1: the deviation of F has no \"Original:\""
	if got := problems(without("// Original: o.\n")); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("problems = %q, want one that begins with %q", got, want)
	}
}

// parts are the words that begin the parts of a deviation, each on a line of its own.
var parts = []string{"Differs", "Original", "Here", "Why", "Switch"}

// A deviation is what a comment says of one deviation.
type deviation struct {
	name string            // "" is the package
	pos  token.Pos         // of Differs
	text map[string]string // by part
}

const tableHead = "| name | what | original | here | why or switch |\n|---|---|---|---|---|\n"

// table writes deviations as a table of Markdown.
func table(found []deviation) string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, d := range found {
		name, reason := "the package", d.text["Why"]
		if d.name != "" {
			name = "`" + d.name + "`"
		}
		if s := d.text["Switch"]; s != "" {
			reason = strings.TrimSpace(reason + " Switch: " + s)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, cell(d.text["Differs"]), cell(d.text["Original"]), cell(d.text["Here"]), cell(reason))
	}
	return b.String()
}

// cell writes the text of a comment as a cell of a table.
func cell(text string) string { return strings.ReplaceAll(linksAsCode(text), "|", `\|`) }

// deviations lists what a package says under "Differs:", first what it says of
// itself, then by the name that it says it of. It also lists the problems: parts
// that are missing, and comments that belong to no exported name.
func deviations(p *pkg) (found []deviation, problems []string) {
	for _, f := range p.files {
		names := documented(f)
		for _, c := range f.Comments {
			name, known := names[c]
			for _, d := range differs(c) {
				d.name = name
				if !known || !exportedPath(name) {
					problems = append(problems, p.problem(d.pos, `"Differs:" stands on no exported name: move it to the comment of the exported name, or of the package, that it concerns`))
					continue
				}
				problems = append(problems, d.problems(p)...)
				found = append(found, d)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b deviation) int { return strings.Compare(a.name, b.name) })
	return found, problems
}

// problems lists what is wrong with the parts of a deviation.
func (d *deviation) problems(p *pkg) (list []string) {
	of := cmp.Or(d.name, "the package")
	for _, part := range parts[:3] {
		if d.text[part] == "" {
			list = append(list, p.problem(d.pos, `the deviation of %s has no "%s:": begin a line of its paragraph with it`, of, part))
		}
	}
	if d.text["Why"] == "" && d.text["Switch"] == "" {
		list = append(list, p.problem(d.pos, `the deviation of %s has neither "Why:" nor "Switch:": begin a line of its paragraph with one of them`, of))
	}
	for _, part := range parts {
		for _, other := range parts {
			if strings.Contains(" "+d.text[part], " "+other+": ") {
				list = append(list, p.problem(d.pos, `the deviation of %s has "%s:" in the middle of a line, or twice: begin one line with it`, of, other))
			}
		}
	}
	return list
}

// documented returns the names that the comments of a file belong to, "" for the
// package.
func documented(f *ast.File) map[*ast.CommentGroup]string {
	names := map[*ast.CommentGroup]string{f.Doc: ""}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[d.Doc] = functionName(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				name := specName(spec)
				if !d.Lparen.IsValid() {
					names[d.Doc] = name
				}
				ast.Inspect(spec, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.TypeSpec:
						names[n.Doc] = name
					case *ast.ValueSpec:
						names[n.Doc] = name
					case *ast.Field:
						if len(n.Names) > 0 {
							names[n.Doc] = name + "." + n.Names[0].Name
						}
					}
					return true
				})
			}
		}
	}
	delete(names, nil) // what has no comment
	return names
}

// exportedPath reports whether all parts of a name such as T.F are exported.
func exportedPath(name string) bool {
	return name == "" || !slices.ContainsFunc(strings.Split(name, "."), func(s string) bool { return !ast.IsExported(s) })
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

func specName(spec ast.Spec) string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name
	case *ast.ValueSpec:
		return s.Names[0].Name
	}
	return ""
}

// differs returns the deviations of a comment. Each begins with a line "Differs:" and
// ends with its paragraph, or where the next one begins.
func differs(doc *ast.CommentGroup) (found []deviation) {
	within, part := false, ""
	for _, c := range doc.List {
		line, ok := strings.CutPrefix(c.Text, "//")
		line = strings.Join(strings.Fields(line), " ")
		if !ok || line == "" {
			within = false
			continue
		}
		word, rest, _ := strings.Cut(line, ":")
		switch {
		case word == "Differs" && word != line:
			found = append(found, deviation{pos: c.Pos(), text: map[string]string{}})
			within, part = true, word
			line = rest
		case !within:
			continue
		case slices.Contains(parts, word) && word != line:
			if found[len(found)-1].text[word] == "" {
				part, line = word, rest
			} // else it stays in the text, and problems finds it
		}
		text := found[len(found)-1].text
		text[part] = strings.TrimSpace(text[part] + " " + strings.TrimSpace(line))
	}
	return found
}

// linksAsCode turns the links of a comment into code, [T] into `T`. What stands
// between brackets and is no name, such as a range, stays.
func linksAsCode(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if name, after, closed := strings.Cut(rest, "]"); closed && isName(name) {
			b.WriteString("`" + name + "`")
			text = after
		} else {
			b.WriteString("[")
			text = rest
		}
	}
}

// isName reports whether text is a name that a comment can link to.
func isName(text string) bool {
	text = strings.TrimPrefix(text, "*")
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c != '.' && c != '_' && c != '/' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) && (text[0] < '0' || text[0] > '9')
}
