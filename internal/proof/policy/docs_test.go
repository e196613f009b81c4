package policy

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestDocumented demands a comment on every package and every exported name
// that a reader of the package's page meets.
func TestDocumented(t *testing.T) { everywhere(t, docProblems) }

// docProblems lists the exported names of p that have no comment.
func docProblems(p *pkg) []string {
	if len(p.files) == 0 {
		return nil
	}
	var problems []string
	hasPage := false
	for _, f := range p.files {
		hasPage = hasPage || f.Doc != nil
	}
	if !hasPage {
		problems = append(problems, p.problem(p.files[0].Package, "package %s has no package comment: write doc.go", p.dir))
	}
	if p.files[0].Name.Name == "main" {
		return problems
	}
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				problems = append(problems, funcProblems(p, d)...)
			case *ast.GenDecl:
				problems = append(problems, declProblems(p, d)...)
			}
		}
	}
	return problems
}

// funcProblems checks a function or method.
func funcProblems(p *pkg, d *ast.FuncDecl) []string {
	if !d.Name.IsExported() || (d.Recv != nil && !exportedReceiver(d.Recv)) {
		return nil
	}
	if d.Doc == nil {
		return []string{p.problem(d.Pos(), "%s has no comment: say what it does, what it costs and what it promises", d.Name.Name)}
	}
	return opening(p, d.Name, d.Doc)
}

// declProblems checks the types, variables and constants of a declaration. A
// comment on a group of variables or constants serves all of them.
func declProblems(p *pkg, d *ast.GenDecl) []string {
	var problems []string
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			doc := s.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			if doc == nil {
				problems = append(problems, p.problem(s.Pos(), "type %s has no comment: say what a value of it is", s.Name.Name))
			} else {
				problems = append(problems, opening(p, s.Name, doc)...)
			}
			problems = append(problems, memberProblems(p, s)...)
		case *ast.ValueSpec:
			if d.Doc != nil || s.Doc != nil || s.Comment != nil || d.Tok == token.IMPORT {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					problems = append(problems, p.problem(name.Pos(), "%s has no comment, nor has its group: say what it stands for", name.Name))
				}
			}
		}
	}
	return problems
}

// memberProblems checks the methods of an exported interface.
func memberProblems(p *pkg, s *ast.TypeSpec) []string {
	t, ok := s.Type.(*ast.InterfaceType)
	if !ok {
		return nil
	}
	var problems []string
	methods := 0
	for _, m := range t.Methods.List {
		methods += len(m.Names) // zero for an embedded interface
		if m.Doc != nil || m.Comment != nil {
			continue
		}
		for _, name := range m.Names {
			if name.IsExported() {
				problems = append(problems, p.problem(name.Pos(), "method %s of interface %s has no comment: say what an implementation must do", name.Name, s.Name.Name))
			}
		}
	}
	if methods == 1 {
		return nil // the comment on the type explains its only method
	}
	return problems
}

// opening demands that the comment of a function or type opens with its name,
// after an article if need be, as the page of the package expects.
func opening(p *pkg, name *ast.Ident, doc *ast.CommentGroup) []string {
	words := strings.Fields(doc.Text())
	for len(words) > 0 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) > 0 && strings.TrimRight(words[0], ",.:;'s") == strings.TrimRight(name.Name, "s") {
		return nil
	}
	if len(words) > 0 && words[0] == "Deprecated:" {
		return nil
	}
	return []string{p.problem(doc.Pos(), "the comment of %s does not open with its name: begin the sentence with %q", name.Name, name.Name)}
}

// exportedReceiver reports whether a method's receiver is an exported type.
func exportedReceiver(recv *ast.FieldList) bool {
	expr := recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}

func TestDocumentedFindsProblems(t *testing.T) {
	const page = "// Package p is a fixture.\npackage p\n"
	expect(t, docProblems, []expectation{
		{"no page", fixture(t, "filter", "package p\n"), 1},
		{"no page of a program", fixture(t, "examples/x", "package main\nfunc Loud() {}\n"), 1},
		{"function", fixture(t, "filter", page+"func Loud() {}\nfunc quiet() {}\n"), 1},
		{"method", fixture(t, "filter", page+"// T is.\ntype T struct{}\nfunc (*T) Loud() {}\nfunc (T) quiet() {}\n"), 1},
		{"method of a hidden type", fixture(t, "filter", page+"type t struct{}\nfunc (t) Name() {}\n"), 0},
		{"generic method", fixture(t, "filter", page+"// T is.\ntype T[K, V any] struct{}\nfunc (*T[K, V]) Loud() {}\n"), 1},
		{"type", fixture(t, "filter", page+"type T struct{}\n"), 1},
		{"grouped types", fixture(t, "filter", page+"// Two types.\ntype (\nA struct{}\nB struct{}\n)\n"), 2},
		{"constants of a group", fixture(t, "filter", page+"// Codes.\nconst (\nA = 1\nB = 2\n)\n"), 0},
		{"bare constants", fixture(t, "filter", page+"const (\nA = 1\nB = 2 // B is two.\n)\n"), 1},
		{"interface", fixture(t, "filter", page+"// I is.\ntype I interface{\nA()\nB()\n}\n"), 2},
		{"small interface", fixture(t, "filter", page+"// I is.\ntype I interface{\nJ\nA()\n}\n"), 0},
		{"opening", fixture(t, "filter", page+"// This one is a type.\ntype T struct{}\n// A U is one too.\ntype U struct{}\n"), 1},
	})
}
