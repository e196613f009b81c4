package config

import "errors"

// maxNesting bounds how many collections of YAML text lie in one another. The library and
// [YAMLToJSON] recurse, and the call stack of a page in WebAssembly is small.
const maxNesting = 150

var errNesting = errors.New("more than 150 collections in one another")

// maxNestingJSON bounds it for configurations in JSON.
const maxNestingJSON = 1000

var errNestingJSON = errors.New("more than 1000 lists and objects in one another")

// deepJSON returns the place in valid JSON where lists and objects are nested too deeply, or
// -1.
func deepJSON(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == '[' || c == '{'):
			if depth++; depth > maxNestingJSON {
				return i
			}
		case !quoted && (c == ']' || c == '}'):
			depth--
		}
	}
	return -1
}

// tooDeep returns the place in the text where collections are nested too deeply, or -1. It
// opens and closes them where the scanner of the YAML library does. Lists that are not
// indented in their mapping, and pairs in a list, do not count.
func tooDeep(data []byte) int {
	n := tokensOf(data)
	for n.next() {
		if len(n.indents)+n.flow > maxNesting {
			return min(n.at, len(data)-1)
		}
	}
	return -1
}

// tokens walks over the tokens of YAML text: to the marks between values, and to texts.
type tokens struct {
	data    []byte
	begin   int   // of the token that next went behind
	row     int   // where the line of its begin begins
	at      int   // the next byte
	line    int   // where its line begins
	indents []int // the columns of open block collections
	flow    int   // open brackets
	key     int   // the column of what may be a key in this line, -1 for none
}

func tokensOf(data []byte) tokens { return tokens{data: data, key: -1} }

// token returns what next went behind: of an opening mark the mark alone.
func (n *tokens) token() string { return string(n.data[n.begin:n.at]) }

// peek returns the byte i bytes ahead, 0 beyond the end.
func (n *tokens) peek(i int) byte {
	if n.at+i < len(n.data) {
		return n.data[n.at+i]
	}
	return 0
}

// lineBreak returns the length of the line break i bytes ahead, 0 if there is none.
func (n *tokens) lineBreak(i int) int {
	switch n.peek(i) {
	case '\n', '\r':
		return 1
	case 0xc2:
		if n.peek(i+1) == 0x85 {
			return 2
		}
	case 0xe2:
		if n.peek(i+1) == 0x80 && n.peek(i+2)&^1 == 0xa8 {
			return 3
		}
	}
	return 0
}

// blank reports whether a space, a tab, a line break or the end is i bytes ahead.
func (n *tokens) blank(i int) bool {
	c := n.peek(i)
	return c == ' ' || c == '\t' || n.at+i >= len(n.data) || n.lineBreak(i) > 0
}

// newLine goes behind a line break, if there is one.
func (n *tokens) newLine() bool {
	size := n.lineBreak(0)
	if size == 0 {
		return false
	}
	n.at += size
	n.line, n.key = n.at, -1
	return true
}

// rest goes to the end of the line.
func (n *tokens) rest() {
	for n.at < len(n.data) && n.lineBreak(0) == 0 {
		n.at++
	}
}

// spaces goes behind white space.
func (n *tokens) spaces() {
	for n.peek(0) == ' ' || n.peek(0) == '\t' || n.newLine() {
		if c := n.peek(0); c == ' ' || c == '\t' {
			n.at++
		}
	}
}

// indent is the column of the innermost block collection, -1 if there is none.
func (n *tokens) indent() int {
	if len(n.indents) == 0 {
		return -1
	}
	return n.indents[len(n.indents)-1]
}

// open begins a block collection, unless one is open at the column.
func (n *tokens) open(column int) {
	if n.flow == 0 && n.indent() < column {
		n.indents = append(n.indents, column)
	}
}

// marker reports whether the line begins with a marker of a document.
func (n *tokens) marker() bool {
	c := n.peek(0)
	return n.at == n.line && (c == '-' || c == '.') && n.peek(1) == c && n.peek(2) == c && n.blank(3)
}

// next goes behind one token, and reports whether there was one.
func (n *tokens) next() bool {
	n.spaces()
	if n.begin, n.row = n.at, n.line; n.at >= len(n.data) {
		return false
	}
	column := n.at - n.line
	for n.flow == 0 && n.indent() > column {
		n.indents = n.indents[:len(n.indents)-1]
	}
	c := n.peek(0)
	switch {
	case n.marker():
		if n.flow == 0 {
			n.indents = n.indents[:0]
		}
		n.at += 3
		return true
	case c == '#' || c == '%' && column == 0:
		n.rest()
		return true
	case c == '-' && n.blank(1), c == '?' && (n.flow > 0 || n.blank(1)):
		n.open(column)
		n.at++
		n.key = -1
		return true
	case c == ':' && (n.flow > 0 || n.blank(1)):
		if n.key >= 0 {
			column = n.key
		}
		n.open(column)
		n.at++
		n.key = -1
		return true
	case c == ',':
		n.at++
		return true
	case c == ']' || c == '}':
		n.flow = max(n.flow-1, 0)
		n.at++
		return true
	case n.flow == 0 && (c == '|' || c == '>'):
		n.literal()
		return true
	}
	if n.key < 0 && n.flow == 0 {
		n.key = column
	}
	switch c {
	case '[', '{':
		n.flow++
		n.at++
	case '"', '\'':
		n.quoted(c)
	case '*', '&':
		for n.at++; n.at < len(n.data) && isWord(n.peek(0)); n.at++ {
		}
	case '!':
		for n.at < len(n.data) && !n.blank(0) {
			n.at++
		}
	default:
		n.plain()
	}
	return true
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// quoted goes behind a text in quotes.
func (n *tokens) quoted(quote byte) {
	for n.at++; n.at < len(n.data); {
		switch c := n.peek(0); {
		case c == quote && (quote == '"' || n.peek(1) != quote):
			n.at++
			return
		case c == quote || c == '\\' && quote == '"' && n.lineBreak(1) == 0:
			n.at = min(n.at+2, len(n.data)) // a text may end with the backslash
		case !n.newLine():
			n.at++
		}
	}
}

// plain goes behind a text without quotes, which may have several lines.
func (n *tokens) plain() {
	for from := n.at; n.at < len(n.data) && !n.marker() && n.peek(0) != '#'; {
		for !n.blank(0) {
			c := n.peek(0)
			if c == ':' && n.blank(1) || n.flow > 0 && (c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '?') {
				break
			}
			n.at++
		}
		if n.at == from || !n.blank(0) {
			return
		}
		n.spaces()
		if n.flow == 0 && n.at-n.line <= n.indent() {
			return
		}
		from = n.at
	}
}

// literal goes behind a text after | or >.
func (n *tokens) literal() {
	need := 0
	for n.at++; !n.blank(0); n.at++ {
		if c := n.peek(0); '1' <= c && c <= '9' {
			need = max(n.indent(), 0) + int(c-'0')
		}
	}
	n.rest()
	deepest := 0
	for n.newLine() {
		for n.peek(0) == ' ' && (need == 0 || n.at-n.line < need) {
			n.at++
		}
		column := n.at - n.line
		if n.lineBreak(0) > 0 {
			deepest = max(deepest, column)
			continue
		}
		if need == 0 {
			need = max(deepest, column, n.indent()+1, 1)
		}
		if column < need {
			return
		}
		n.rest()
	}
}
