package expr

import (
	"slices"
	"strconv"
)

// The bounds of an expression.
const (
	maxText  = 10 << 10
	maxDepth = 60
)

// A syntax node is a part of an expression as written.
type node struct {
	kind nodeKind
	at   int
	text string  // of a literal, a name, a field, an operator, a function
	args []*node // of a call: the receiver, if there is one, and then the arguments
	// member says that a call has a receiver.
	member bool
}

// nodeKind says what a node is.
type nodeKind uint8

const (
	nInt nodeKind = iota
	nDouble
	nString
	nBool
	nName
	nList
	nSelect    // args[0].text
	nOptSelect // args[0].?text
	nIndex     // args[0][args[1]]
	nOptIndex  // args[0][?args[1]]
	nOperator  // one, two or three args
	nCall
)

// A parser builds the tree of an expression.
type parser struct {
	lexer
	token token
	depth int
}

// parse returns the tree of an expression.
func parse(text string) (*node, error) {
	if len(text) > maxText {
		return nil, refuse("expressions of more than %d bytes", maxText)
	}
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.ternary()
	if err != nil {
		return nil, err
	}
	if p.token.kind != tEnd {
		return nil, p.unexpected()
	}
	return n, nil
}

func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

func (p *parser) unexpected() error {
	return invalid(p.token.at, "Syntax error: unexpected %s", strconv.Quote(p.token.text))
}

// is reports whether the token is the operator.
func (p *parser) is(op string) bool { return p.token.kind == tOperator && p.token.text == op }

// expect skips the operator, which must be next.
func (p *parser) expect(op string) error {
	if !p.is(op) {
		return p.unexpected()
	}
	return p.advance()
}

// enter counts a level of nesting; leave ends it.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return refuse("expressions nested deeper than %d levels", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) ternary() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.binary(0)
	if err != nil || !p.is("?") {
		return n, err
	}
	at := p.token.at
	if err := p.advance(); err != nil {
		return nil, err
	}
	yes, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	no, err := p.ternary()
	if err != nil {
		return nil, err
	}
	return &node{kind: nOperator, at: at, text: "?", args: []*node{n, yes, no}}, nil
}

// levels holds the binary operators by precedence, the weakest first. All are
// left-associative.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!=", "<", "<=", ">", ">=", "in"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) (*node, error) {
	if level == len(levels) {
		return p.unary()
	}
	n, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for links := 0; ; links++ {
		op := p.token.text
		word := p.token.kind == tName && op == "in"
		if p.token.kind != tOperator && !word || !slices.Contains(levels[level], op) {
			return n, nil
		}
		if links == 4*maxDepth {
			return nil, refuse("chains of more than %d operators", links)
		}
		at := p.token.at
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		n = &node{kind: nOperator, at: at, text: op, args: []*node{n, right}}
	}
}

func (p *parser) unary() (*node, error) {
	if !p.is("!") && !p.is("-") {
		return p.member()
	}
	op, at := p.token.text, p.token.at
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.is(op) {
		return nil, refuse("%s", strconv.Quote(op+op))
	}
	if op == "-" && (p.token.kind == tInt || p.token.kind == tDouble) {
		p.token.text = "-" + p.token.text
		return p.member()
	}
	if p.is("!") || p.is("-") {
		return nil, p.unexpected()
	}
	n, err := p.member()
	if err != nil {
		return nil, err
	}
	return &node{kind: nOperator, at: at, text: op, args: []*node{n}}, nil
}

// member reads a primary expression with its fields, indexes and calls.
func (p *parser) member() (*node, error) {
	n, err := p.primary()
	for links := 0; err == nil; links++ {
		if links == 4*maxDepth {
			return nil, refuse("chains of more than %d fields", links)
		}
		switch at := p.token.at; {
		case p.is("."):
			n, err = p.field(n)
		case p.is("["):
			kind := nIndex
			optional, err := p.optional()
			if err != nil {
				return nil, err
			}
			if optional {
				kind = nOptIndex
			}
			index, err := p.ternary()
			if err != nil {
				return nil, err
			}
			n = &node{kind: kind, at: at, args: []*node{n, index}}
			if err := p.expect("]"); err != nil {
				return nil, err
			}
		case p.is("{"):
			return nil, refuse("messages")
		default:
			return n, nil
		}
	}
	return nil, err
}

// optional skips the operator that is next, and a question mark after it.
func (p *parser) optional() (bool, error) {
	if err := p.advance(); err != nil || !p.is("?") {
		return false, err
	}
	return true, p.advance()
}

// field reads a field of n, or a call with n as the receiver.
func (p *parser) field(n *node) (*node, error) {
	optional, err := p.optional()
	if err != nil {
		return nil, err
	}
	name, at := p.token.text, p.token.at
	if p.token.kind != tName || slices.Contains([]string{"true", "false", "null", "in"}, name) {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case optional && p.is("("):
		return nil, p.unexpected()
	case optional:
		return &node{kind: nOptSelect, at: at, text: name, args: []*node{n}}, nil
	case !p.is("("):
		return &node{kind: nSelect, at: at, text: name, args: []*node{n}}, nil
	}
	args, err := p.list("(", ")")
	return &node{kind: nCall, at: at, text: name, args: append([]*node{n}, args...), member: true}, err
}

// list reads a list of expressions between two operators.
func (p *parser) list(open, end string) (list []*node, err error) {
	if err := p.expect(open); err != nil {
		return nil, err
	}
	for !p.is(end) {
		if p.is("?") || p.is(",") {
			return nil, refuse("optional or missing elements")
		}
		n, err := p.ternary()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if p.is(end) {
			break
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
		if p.is(end) {
			return nil, refuse("a comma after the last element")
		}
	}
	return list, p.advance()
}

// reserved lists the words that no expression may use as names.
var reserved = []string{
	"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
}

func (p *parser) primary() (*node, error) {
	t := p.token
	switch {
	case p.is("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.ternary()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	case p.is("["):
		elements, err := p.list("[", "]")
		return &node{kind: nList, at: t.at, args: elements}, err
	case p.is("{"):
		return nil, refuse("maps")
	case p.is("."):
		return nil, refuse("names with a leading dot")
	case t.kind == tOperator, t.kind == tEnd:
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case t.kind == tInt:
		return &node{kind: nInt, at: t.at, text: t.text}, nil
	case t.kind == tDouble:
		return &node{kind: nDouble, at: t.at, text: t.text}, nil
	case t.kind == tString:
		return &node{kind: nString, at: t.at, text: t.text}, nil
	case t.text == "true", t.text == "false":
		return &node{kind: nBool, at: t.at, text: t.text}, nil
	case t.text == "null":
		return nil, refuse("null")
	case t.text == "in":
		return nil, invalid(t.at, "Syntax error: unexpected %q", t.text)
	case slices.Contains(reserved, t.text):
		return nil, invalid(t.at, "Syntax error: reserved identifier: %s", t.text)
	case !p.is("("):
		return &node{kind: nName, at: t.at, text: t.text}, nil
	}
	args, err := p.list("(", ")")
	return &node{kind: nCall, at: t.at, text: t.text, args: args}, err
}
