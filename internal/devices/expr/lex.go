package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// tokenKind says what a token is.
type tokenKind uint8

const (
	tEnd tokenKind = iota
	tName
	tInt
	tDouble
	tString
	tOperator
)

// A token is a word of an expression.
type token struct {
	kind tokenKind
	at   int
	text string // a name, an operator, the digits of a number, the value of a string
}

// A lexer splits an expression into tokens.
type lexer struct {
	text string
	at   int
}

// operators lists the operators, longer ones before their beginnings.
var operators = []string{
	"==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "?", ":", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", ".",
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	l.space()
	start := l.at
	if start == len(l.text) {
		return token{tEnd, start, "the end"}, nil
	}
	c := l.text[start]
	switch {
	case isDigit(c), c == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.number()
	case c == '"', c == '\'':
		return l.quoted(false)
	case (c == 'r' || c == 'R') && start+1 < len(l.text) && (l.text[start+1] == '"' || l.text[start+1] == '\''):
		l.at++
		return l.quoted(true)
	case (c == 'b' || c == 'B') && start+1 < len(l.text) && strings.IndexByte(`"'rR`, l.text[start+1]) >= 0 && l.isBytes(start):
		return token{}, refuse("bytes")
	case isLetter(c):
		for l.at < len(l.text) && (isLetter(l.text[l.at]) || isDigit(l.text[l.at])) {
			l.at++
		}
		return token{tName, start, l.text[start:l.at]}, nil
	case c == '`':
		return token{}, refuse("names in backquotes")
	}
	for _, op := range operators {
		if strings.HasPrefix(l.text[start:], op) {
			l.at += len(op)
			return token{tOperator, start, op}, nil
		}
	}
	return token{}, invalid(start, "unexpected character %q", c)
}

// isBytes reports whether a string literal of bytes begins here.
func (l *lexer) isBytes(at int) bool {
	c := l.text[at+1]
	return c == '"' || c == '\'' || at+2 < len(l.text) && (l.text[at+2] == '"' || l.text[at+2] == '\'')
}

// space skips white space and comments.
func (l *lexer) space() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f':
			l.at++
		case strings.HasPrefix(l.text[l.at:], "//"):
			for l.at < len(l.text) && l.text[l.at] != '\n' {
				l.at++
			}
		default:
			return
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// number reads a decimal number.
func (l *lexer) number() (token, error) {
	start := l.at
	digits := func() (n int) {
		for ; l.at < len(l.text) && isDigit(l.text[l.at]); l.at++ {
			n++
		}
		return n
	}
	digits()
	kind := tInt
	if l.at+1 < len(l.text) && l.text[l.at] == '.' && isDigit(l.text[l.at+1]) {
		kind = tDouble
		l.at++
		digits()
	}
	if l.at < len(l.text) && (l.text[l.at] == 'e' || l.text[l.at] == 'E') {
		kind = tDouble
		l.at++
		if l.at < len(l.text) && (l.text[l.at] == '+' || l.text[l.at] == '-') {
			l.at++
		}
		if digits() == 0 {
			return token{}, invalid(start, "a number without an exponent")
		}
	}
	if l.at < len(l.text) && isLetter(l.text[l.at]) {
		return token{}, refuse("the number %s", strconv.Quote(l.text[start:l.at+1]))
	}
	return token{kind, start, l.text[start:l.at]}, nil
}

// quoted reads a string literal.
func (l *lexer) quoted(raw bool) (token, error) {
	start, quote := l.at, l.text[l.at]
	if strings.HasPrefix(l.text[start:], strings.Repeat(string(quote), 3)) {
		return token{}, refuse("strings in three quotes")
	}
	var b strings.Builder
	for l.at++; ; {
		if l.at >= len(l.text) || l.text[l.at] == '\n' || l.text[l.at] == '\r' {
			return token{}, invalid(start, "a string without an end")
		}
		c := l.text[l.at]
		l.at++
		switch {
		case c == quote:
			if !utf8.ValidString(b.String()) {
				return token{}, refuse("strings that are not UTF-8")
			}
			return token{tString, start, b.String()}, nil
		case c == '\\' && !raw:
			if err := l.escape(&b); err != nil {
				return token{}, err
			}
		default:
			b.WriteByte(c)
		}
	}
}

// escapes holds the characters that a backslash and a letter stand for.
var escapes = map[byte]byte{
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"', '`': '`', '?': '?',
}

// escape reads what follows a backslash.
func (l *lexer) escape(b *strings.Builder) error {
	if l.at >= len(l.text) {
		return invalid(l.at, "a string without an end")
	}
	c := l.text[l.at]
	l.at++
	if r, ok := escapes[c]; ok {
		b.WriteByte(r)
		return nil
	}
	if c == 'u' && l.at+4 <= len(l.text) {
		n, err := strconv.ParseUint(l.text[l.at:l.at+4], 16, 16)
		if err == nil && utf8.ValidRune(rune(n)) {
			l.at += 4
			b.WriteRune(rune(n))
			return nil
		}
	}
	return refuse("the escape %s", strconv.Quote(`\`+string(rune(c))))
}
