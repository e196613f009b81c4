package policy

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of DEVIATIONS.md anew")

const (
	deviationsFile = "DEVIATIONS.md"
	deviationsMark = "<!-- What follows is gathered: go test ./internal/proof/policy -run Deviations -update -->\n"
)

// TestDeviations keeps the list of DEVIATIONS.md equal to what the comments of
// the library say under "Differs:".
func TestDeviations(t *testing.T) {
	var list strings.Builder
	for _, p := range loadModule(t) {
		if r, ok := ruleOf(p.dir); !ok || !r.library || within(p.dir, "internal") {
			continue
		}
		if found := deviations(p); len(found) > 0 {
			fmt.Fprintf(&list, "\n### %s\n\n%s\n", p.dir, strings.Join(found, "\n"))
		}
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
	if old == list.String() {
		return
	}
	if !*update {
		t.Fatalf("%s does not list what the comments say; write it with: go test ./internal/proof/policy -run Deviations -update", deviationsFile)
	}
	if err := os.WriteFile(name, []byte(head+deviationsMark+list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDeviationsAreFound shows what counts.
func TestDeviationsAreFound(t *testing.T) {
	p := fixture(t, "filter", `// Package filter filters.
//
// Differs: everywhere.
package filter

// A T is a T.
//
// Differs: [U] is
// larger.
//
// Source: somewhere.
type T struct {
	// F is a field.
	//
	// Differs: it is here.
	F int
}

// M does nothing.
//
// Differs: it returns.
func (t *T) M() {}
`)
	want := []string{"- everywhere.", "- `T.F`: it is here.", "- `T.M`: it returns.", "- `T`: `U` is larger."}
	if got := deviations(p); !slices.Equal(got, want) {
		t.Errorf("deviations = %q, want %q", got, want)
	}
}

// deviations lists what a package says under "Differs:", by the name that it
// says it of, first what it says of itself.
func deviations(p *pkg) []string {
	var whole, found []string
	for _, f := range p.files {
		for _, text := range differs(f.Doc) {
			whole = append(whole, "- "+text)
		}
		add := func(name string, doc *ast.CommentGroup) {
			for _, text := range differs(doc) {
				found = append(found, fmt.Sprintf("- `%s`: %s", name, text))
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				add(functionName(d), d.Doc)
			case *ast.GenDecl:
				for i, spec := range d.Specs {
					name := specName(spec)
					if i == 0 {
						add(name, d.Doc)
					}
					ast.Inspect(spec, func(n ast.Node) bool {
						switch n := n.(type) {
						case *ast.TypeSpec:
							add(name, n.Doc)
						case *ast.ValueSpec:
							add(name, n.Doc)
						case *ast.Field:
							if len(n.Names) > 0 {
								add(name+"."+n.Names[0].Name, n.Doc)
							}
						}
						return true
					})
				}
			}
		}
	}
	slices.Sort(found)
	return append(whole, found...)
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if id, ok := receiver.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
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

// differs returns the paragraphs of a comment that begin with "Differs:", each as
// one line of Markdown.
func differs(doc *ast.CommentGroup) []string {
	var texts []string
	for paragraph := range strings.SplitSeq(doc.Text(), "\n\n") {
		if text, found := strings.CutPrefix(strings.TrimSpace(paragraph), "Differs: "); found {
			text = strings.Join(strings.Fields(text), " ")
			texts = append(texts, linksAsCode(text))
		}
	}
	return texts
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
