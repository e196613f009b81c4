package expr

import (
	"fmt"
	"math"
	"strconv"
)

// A compiler checks the types of an expression and makes its evals.
type compiler struct {
	scope    []scoped
	slots    int // variables in use
	most     int // of these at once so far
	patterns map[string]*pattern
	parts    int // of all patterns
}

// scoped is a variable that is in scope.
type scoped struct {
	name string
	typ  *typ
	slot int
}

// compiled is a part of an expression.
type compiled struct {
	typ      *typ
	eval     eval
	constant bool
}

func (c *compiler) compile(n *node) (compiled, error) {
	x, err := c.part(n)
	if err != nil {
		return x, err
	}
	inner := x.eval
	x.eval = func(f *frame) value {
		if f.steps++; f.steps > maxSteps {
			return failed(errManySteps)
		}
		return inner(f)
	}
	return x, nil
}

func (c *compiler) part(n *node) (compiled, error) {
	switch n.kind {
	case nInt:
		i, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			return compiled{}, invalid(n.at, "invalid int literal")
		}
		return constant(intType, integer(i)), nil
	case nDouble:
		d, err := strconv.ParseFloat(n.text, 64)
		if err != nil || math.IsInf(d, 0) {
			return compiled{}, refuse("the number %s", n.text)
		}
		return constant(doubleType, value{kind: vDouble, f: d}), nil
	case nString:
		return constant(stringType, text(n.text)), nil
	case nBool:
		return constant(boolType, boolean(n.text == "true")), nil
	case nName:
		return c.name(n)
	case nList:
		return c.list(n)
	case nSelect, nOptSelect:
		return c.field(n)
	case nIndex, nOptIndex:
		return c.index(n)
	case nOperator:
		return c.operator(n)
	}
	return c.call(n)
}

func constant(t *typ, v value) compiled {
	return compiled{t, func(*frame) value { return v }, true}
}

// all compiles several parts.
func (c *compiler) all(list []*node) ([]compiled, error) {
	parts := make([]compiled, len(list))
	for i, n := range list {
		var err error
		if parts[i], err = c.compile(n); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// typeIdentifiers are names of types, which are values too.
var typeIdentifiers = map[string]bool{
	"int": true, "uint": true, "double": true, "bool": true, "string": true, "bytes": true, "list": true, "map": true, "type": true, "null_type": true,
	"google": true, "optional_type": true, "kubernetes": true, "net": true,
}

func (c *compiler) name(n *node) (compiled, error) {
	if v, ok := c.lookup(n.text); ok {
		slot := v.slot
		return compiled{typ: v.typ, eval: func(f *frame) value { return f.read(slot) }}, nil
	}
	switch {
	case n.text == "device":
		return compiled{typ: deviceType, eval: func(*frame) value { return failed(refuse("the device as a value")) }}, nil
	case typeIdentifiers[n.text]:
		return compiled{}, refuse("types as values (%s)", n.text)
	}
	return compiled{}, invalid(n.at, "undeclared reference to '%s'", n.text)
}

// lookup finds a variable; inner ones hide outer ones.
func (c *compiler) lookup(name string) (scoped, bool) {
	for i := len(c.scope) - 1; i >= 0; i-- {
		if c.scope[i].name == name {
			return c.scope[i], true
		}
	}
	return scoped{}, false
}

// read returns the value of a variable.
func (f *frame) read(slot int) value {
	v := &f.vars[slot]
	if init := v.init; init != nil {
		v.init = nil
		v.value = init(f)
	}
	return v.value
}

func (c *compiler) list(n *node) (compiled, error) {
	if len(n.args) == 0 {
		return compiled{}, refuse("empty lists")
	}
	parts, err := c.all(n.args)
	if err != nil {
		return compiled{}, err
	}
	constants := true
	for _, p := range parts {
		switch {
		case p.typ.kind == kDevice:
			return compiled{}, refuse("the device as a value")
		case !fits(parts[0].typ, p.typ):
			return compiled{}, invalid(n.at, "expected type '%s' but found '%s'", parts[0].typ, p.typ)
		case !same(parts[0].typ, p.typ):
			return compiled{}, refuse("lists of values of known and unknown types")
		}
		constants = constants && p.constant
	}
	t := &typ{kList, parts[0].typ}
	if constants {
		var f frame
		elements := make([]value, len(parts))
		for i := range parts {
			elements[i] = parts[i].eval(&f)
		}
		v := list(elements)
		return compiled{t, func(f *frame) value {
			f.steps += 10 + len(elements)
			return v
		}, true}, nil
	}
	return compiled{typ: t, eval: func(f *frame) value {
		f.steps += 10
		elements := make([]value, len(parts))
		for i := range parts {
			if elements[i] = parts[i].eval(f); elements[i].isError() {
				return elements[i]
			}
		}
		return list(elements)
	}}, nil
}

// deviceFields holds the fields of the device.
var deviceFields = map[string]compiled{
	"driver":                   {typ: stringType, eval: func(f *frame) value { return text(f.device.driver) }},
	"allowMultipleAllocations": {typ: boolType, eval: func(f *frame) value { return boolean(f.device.shareable) }},
	"attributes":               {typ: attributesType, eval: func(f *frame) value { return value{kind: vDomains, ref: &f.device.attributes} }},
	"capacity":                 {typ: capacityType, eval: func(f *frame) value { return value{kind: vDomains, ref: &f.device.capacity} }},
}

// field compiles a.b and a.?b.
func (c *compiler) field(n *node) (compiled, error) {
	from, err := c.compile(n.args[0])
	if err != nil {
		return compiled{}, err
	}
	if from.typ.kind == kDevice {
		field, ok := deviceFields[n.text]
		if !ok {
			return compiled{}, invalid(n.at, "undefined field '%s'", n.text)
		}
		if n.kind == nOptSelect {
			return compiled{}, refuse("optional fields of the device")
		}
		return field, nil
	}
	var t *typ
	of := from.typ
	if of.kind == kOptional {
		of = of.elem
	}
	switch of.kind {
	case kMap:
		t = of.elem
	case kDyn:
		t = dynType
	default:
		return compiled{}, invalid(n.at, "type '%s' does not support field selection", from.typ)
	}
	return access(from, constant(stringType, text(n.text)), t, n.kind == nOptSelect), nil
}

// index compiles a[b] and a[?b].
func (c *compiler) index(n *node) (compiled, error) {
	parts, err := c.all(n.args)
	if err != nil {
		return compiled{}, err
	}
	from, key := parts[0], parts[1]
	var t *typ
	of, want := from.typ, dynType
	if of.kind == kOptional {
		of = of.elem
	}
	switch of.kind {
	case kMap:
		t, want = of.elem, stringType
	case kList:
		t, want = of.elem, intType
	case kDyn:
		if n.kind == nOptIndex {
			return compiled{}, refuse("optional elements of a value of unknown type")
		}
		t = dynType
	case kDevice:
		return compiled{}, refuse("the device as a value")
	}
	if want == dynType && of.kind != kDyn || !fits(want, key.typ) {
		return compiled{}, invalid(n.at, "found no matching overload for '_[_]' applied to '(%s, %s)'", from.typ, key.typ)
	}
	return access(from, key, t, n.kind == nOptIndex), nil
}

// access compiles the access to an element. If from or the access is optional, so is the
// result; a value of unknown type may be optional, too.
func access(from, key compiled, t *typ, opt bool) compiled {
	a, b := from.eval, key.eval
	opt = opt || from.typ.kind == kOptional
	if opt {
		t = &typ{kOptional, t}
	}
	return compiled{typ: t, eval: func(f *frame) value {
		v := a(f)
		if v.isError() {
			return v
		}
		opt := opt
		if v.kind == vOptional {
			opt = true
			if v.optional() == nil {
				return noValue
			}
			v = *v.optional()
		}
		k := b(f)
		if k.isError() {
			return k
		}
		switch x, ok := v.find(k); {
		case ok && x.isError():
			return x
		case opt && ok:
			return optional(x)
		case opt:
			return noValue
		case ok:
			return x
		}
		return v.missing(k)
	}}
}

func noBool(v value) error {
	return fmt.Errorf("CEL result of type %s could not be converted to bool", kindNames[v.kind])
}
