package config

import "bytes"

// textByte is what a byte of a text costs that an alias repeats: the library resolves the
// text anew, and it is written once more.
const textByte = 8

// aliases returns the place of the first alias with which all that aliases repeat costs more
// than the limit, or -1. An alias costs what lies behind its anchor, with the aliases in that.
//
// The library has a bound of its own, but that counts values, however long they are.
func (c cost) aliases(data []byte, limit int) int {
	if bytes.IndexByte(data, '*') < 0 || bytes.IndexByte(data, '&') < 0 {
		return -1
	}
	w := aliasWalk{tokens: tokensOf(data), cost: c, known: map[string]int{}, within: map[string]opened{}}
	for w.next() {
		if at := w.token(); at[0] == '*' && len(at) > 1 {
			price := w.costOf(at[1:])
			w.step(price)
			if w.spent += price; w.spent > limit {
				return w.begin
			}
			continue
		}
		w.step(w.price())
	}
	return -1
}

// costOf is what an alias costs, as far as the walk knows. If it has not seen the end of a node with
// the anchor, that is all from there on.
func (w *aliasWalk) costOf(name string) int {
	cost := w.known[name]
	if in, ok := w.within[name]; ok {
		cost = max(cost, w.total-in.before)
	}
	return cost
}

// An aliasWalk goes over the tokens of a text and learns what the nodes with anchors cost.
type aliasWalk struct {
	tokens
	cost
	known  map[string]int // by anchor
	open   []anchored     // the nodes that the walk is in, from the outside
	within map[string]opened
	total  int  // of the tokens so far
	spent  int  // on aliases
	inList bool // the last token began an element of a block list
}

// opened is in how many nodes with one anchor the walk is, and the total before the outermost.
type opened struct{ nodes, before int }

// anchored is a node with an anchor whose end is not known yet.
type anchored struct {
	name   string
	before int // the total before it
	begun  bool
	line   int // of the anchor
	// How far it goes: in brackets to their end or a comma, in the line of its anchor to the
	// end of a text or bracket, and below to what is indented no more than indent.
	flow, indent   int
	inList         bool
	inline, closes bool
}

// price is what the token costs if it is repeated.
func (w *aliasWalk) price() int {
	token := w.token()
	switch token[0] {
	case '#', '&', '!':
		return 0
	}
	switch token { // a text may begin with any of these characters
	case ",", "]", "}":
		return 0
	case ":", "?":
		return w.cost.entry / w.cost.again
	default:
		return w.cost.value/w.cost.again + textByte*len(token)
	}
}

// step counts a token, and closes and opens nodes at it.
func (w *aliasWalk) step(price int) {
	first := w.data[w.begin]
	for len(w.open) > 0 && w.ended(&w.open[len(w.open)-1], first) {
		w.close()
	}
	w.total += price
	switch {
	case first == '&':
		a := anchored{name: string(w.data[w.begin+1 : w.at]), before: w.total, line: w.row, flow: w.flow, indent: w.indent(), inList: w.inList}
		w.open = append(w.open, a)
		in := w.within[a.name]
		if in.nodes++; in.nodes == 1 {
			in.before = a.before
		}
		w.within[a.name] = in
	case first == '!' || first == '#':
	default:
		w.inList = first == '-' && w.at == w.begin+1
	}
}

// close notes what the innermost node costs.
func (w *aliasWalk) close() {
	last := len(w.open) - 1
	a := &w.open[last]
	w.known[a.name] = w.total - a.before
	in := w.within[a.name]
	if in.nodes--; in.nodes > 0 {
		w.within[a.name] = in
	} else {
		delete(w.within, a.name)
	}
	w.open = w.open[:last]
}

// ended reports whether the token is behind the node a.
func (w *aliasWalk) ended(a *anchored, first byte) bool {
	literal := w.flow == 0 && (first == '|' || first == '>') // which may begin in any column
	switch {
	case first == '#' || first == '!':
		return false
	case a.flow > 0:
		return w.flow < a.flow || w.flow == a.flow && first == ','
	case a.closes:
		return true
	case !a.begun:
		a.begun = true
		a.inline = w.row == a.line || literal
		if a.inline {
			a.closes = w.flow == 0
			return false
		}
	case a.inline: // in brackets
		a.closes = w.flow == 0
		return false
	}
	column := w.begin - w.row
	return w.flow == 0 && !literal && (column < a.indent || column == a.indent && (first != '-' || a.inList))
}
