package strictjson

import (
	"bytes"
	"slices"
)

// manyNames is how many names of an object are compared one by one. More go into a map.
const manyNames = 16

// Repeats consumes the next value, and calls tell with the path of each name that an object
// in it has had before. All steps of these paths are fields or indexes. If tell returns an
// error, Repeats stops and returns it; tell must not keep the path.
//
// The work is linear in the length of the text, and values without repeated names take no
// memory but for the names around the present place.
func (s *Scanner) Repeats(tell func(path Path) error) error {
	r := repeats{Scanner: s, tell: tell}
	return r.value()
}

// repeats is the state of [Scanner.Repeats].
type repeats struct {
	*Scanner
	tell  func(path Path) error
	names [][]byte // of the objects around the present place, those of the outermost first
	steps []place
}

// A place is a step whose name is not a string yet: a long one may have many values below.
type place struct {
	name  []byte // nil for an element
	index int
}

func (r *repeats) value() error {
	begin := r.Peek()
	if begin != '{' && begin != '[' {
		return r.Skip()
	}
	first, at := len(r.names), len(r.steps)
	r.steps = append(r.steps, place{})
	var many map[string]bool
	ok, err := r.Open(begin)
	for i := 0; ok && err == nil; i++ {
		r.steps[at].index = i
		if begin == '{' {
			if many, err = r.name(first, many); err != nil {
				return err
			}
		}
		if err := r.value(); err != nil {
			return err
		}
		ok, err = r.More(begin + 2)
	}
	r.names, r.steps = r.names[:first], r.steps[:at]
	return err
}

// name consumes the name of a member of an object whose names begin at first, or are in
// many.
func (r *repeats) name(first int, many map[string]bool) (map[string]bool, error) {
	name, err := r.Key()
	if err != nil {
		return many, err
	}
	r.steps[len(r.steps)-1].name = name
	if many[string(name)] || many == nil && slices.ContainsFunc(r.names[first:], func(n []byte) bool { return bytes.Equal(n, name) }) {
		return many, r.tell(r.path())
	}
	switch {
	case many != nil:
		many[string(name)] = true
	case len(r.names)-first < manyNames:
		r.names = append(r.names, name)
	default:
		many = map[string]bool{string(name): true}
		for _, n := range r.names[first:] {
			many[string(n)] = true
		}
	}
	return many, nil
}

func (r *repeats) path() Path {
	path := make(Path, len(r.steps))
	for i, s := range r.steps {
		if path[i] = (Step{Kind: Index, Index: s.index}); s.name != nil {
			path[i] = Step{Kind: Field, Name: string(s.name)}
		}
	}
	return path
}

// Repeats calls tell for each repeated name in a text, which holds one value or several, one
// after the other or with commas between them. It stops without an error where the text is
// not JSON.
func (d *Dialect) Repeats(data []byte, tell func(path Path) error) error {
	s := Scanner{data: data, maxDepth: d.MaxDepth}
	r := repeats{Scanner: &s, tell: tell}
	for !s.AtEnd() {
		switch err := r.value().(type) {
		case nil:
		case *SyntaxError, *LimitError:
			return nil
		default:
			return err
		}
		if s.Peek() == ',' {
			s.pos++
		}
	}
	return nil
}
