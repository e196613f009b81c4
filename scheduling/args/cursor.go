package args

import "encoding/json"

// A cursor walks over JSON text that is known to be valid.
type cursor struct {
	data []byte
	pos  int
}

// space skips white space.
func (c *cursor) space() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next value or the next punctuation.
func (c *cursor) peek() byte {
	c.space()
	return c.data[c.pos]
}

// object calls member for each member of the next object, with the cursor at its
// value; member must read the value.
func (c *cursor) object(member func(name string)) {
	c.peek()
	c.pos++ // {
	for c.peek() != '}' {
		if c.data[c.pos] == ',' {
			c.pos++
		}
		name := unquote(c.skip())
		c.peek()
		c.pos++ // :
		member(name)
	}
	c.pos++
}

// array calls element for each element of the next array, with the cursor at the
// element; element must read it.
func (c *cursor) array(element func(i int)) {
	c.peek()
	c.pos++ // [
	for i := 0; c.peek() != ']'; i++ {
		if c.data[c.pos] == ',' {
			c.pos++
		}
		element(i)
	}
	c.pos++
}

// skip skips the next value and returns its text.
func (c *cursor) skip() []byte {
	c.space()
	start, depth := c.pos, 0
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case '"':
			c.text()
		case '{', '[':
			depth++
			c.pos++
		case '}', ']':
			depth--
			c.pos++
		case ',', ':', ' ', '\t', '\r', '\n':
			c.pos++
		default:
			c.word()
		}
		if depth == 0 {
			break
		}
	}
	return c.data[start:c.pos]
}

// text skips a string.
func (c *cursor) text() {
	for c.pos++; c.data[c.pos] != '"'; c.pos++ {
		if c.data[c.pos] == '\\' {
			c.pos++
		}
	}
	c.pos++
}

// word skips a number or a literal.
func (c *cursor) word() {
	for ; c.pos < len(c.data); c.pos++ {
		switch c.data[c.pos] {
		case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// kindOf names the type of the JSON value that starts with c.
func kindOf(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// unquote decodes the JSON string raw.
func unquote(raw []byte) string {
	var s string
	_ = json.Unmarshal(raw, &s) // the text is known to be valid
	return s
}
