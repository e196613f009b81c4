package expr

import "strconv"

// macro compiles a call that is a macro; false if it is none.
func (c *compiler) macro(n *node) (compiled, error, bool) {
	switch {
	case !n.member && n.text == "has":
		x, err := c.has(n)
		return x, err, true
	case !n.member:
		return compiled{}, nil, false
	}
	if from := n.args[0]; from.kind == nName {
		if _, ok := c.lookup(from.text); !ok && from.text != "device" {
			if from.text == "cel" && n.text == "bind" && len(n.args) == 4 {
				x, err := c.bind(n)
				return x, err, true
			}
			return compiled{}, refuse("the function %s", strconv.Quote(from.text+"."+n.text)), true
		}
	}
	switch n.text {
	case "all", "exists", "exists_one":
		if len(n.args) != 3 {
			return compiled{}, refuse("this form of the macro %s", strconv.Quote(n.text)), true
		}
		x, err := c.loop(n)
		return x, err, true
	case "existsOne", "map", "filter", "transformList", "transformMap", "transformMapEntry", "optMap", "optFlatMap", "sortBy":
		return compiled{}, refuse("the macro %s", strconv.Quote(n.text)), true
	}
	return compiled{}, nil, false
}

// has compiles the test for a field.
func (c *compiler) has(n *node) (compiled, error) {
	if len(n.args) != 1 || n.args[0].kind != nSelect {
		return compiled{}, invalid(n.at, "invalid argument to has() macro")
	}
	field := n.args[0]
	from, err := c.compile(field.args[0])
	if err != nil {
		return compiled{}, err
	}
	switch from.typ.kind {
	case kDevice:
		if _, ok := deviceFields[field.text]; !ok {
			return compiled{}, invalid(field.at, "undefined field '%s'", field.text)
		}
		return compiled{typ: boolType, eval: func(*frame) value { return boolean(true) }}, nil
	case kMap:
		if from.typ.elem.kind == kMap {
			return compiled{}, refuse("has() for a domain")
		}
	default:
		return compiled{}, refuse("has() for a field of a %s", from.typ)
	}
	eval, name := from.eval, field.text
	return compiled{typ: boolType, eval: func(f *frame) value {
		v := eval(f)
		if v.isError() {
			return v
		}
		if v.kind != vMap { // ?: may choose between a domain and all of them
			return failed(refuse("has() for a field of a %s", kindNames[v.kind]))
		}
		_, ok := v.domain().find(name)
		return boolean(ok)
	}}, nil
}

// declare brings a variable into scope; the result takes it out again.
func (c *compiler) declare(n *node, t *typ) (slot int, end func(), err error) {
	switch {
	case n.kind != nName:
		return 0, nil, invalid(n.at, "argument must be a simple name")
	case n.text == "device" || n.text == "cel" || typeIdentifiers[n.text]:
		return 0, nil, refuse("a variable named %s", strconv.Quote(n.text))
	case len(c.scope) == maxVars:
		return 0, nil, refuse("more than %d variables", maxVars)
	}
	slot = c.slots
	c.slots++
	c.most = max(c.most, c.slots)
	c.scope = append(c.scope, scoped{n.text, t, slot})
	return slot, func() {
		c.slots--
		c.scope = c.scope[:len(c.scope)-1]
	}, nil
}

// bind compiles cel.bind(name, value, expression). The value is evaluated when the expression first
// reads it, so its variables have other slots than those of the expression.
func (c *compiler) bind(n *node) (compiled, error) {
	outer, most := c.slots, c.most
	defer func() { c.slots = outer }()
	c.most = c.slots
	init, err := c.compile(n.args[2])
	if err != nil {
		return compiled{}, err
	}
	c.slots = c.most
	c.most = max(c.most, most)
	if init.typ.kind == kDevice {
		return compiled{}, refuse("the device as a value")
	}
	slot, end, err := c.declare(n.args[1], init.typ)
	if err != nil {
		return compiled{}, err
	}
	defer end()
	body, err := c.compile(n.args[3])
	if err != nil {
		return compiled{}, err
	}
	if body.typ.kind == kDevice {
		return compiled{}, refuse("the device as a value")
	}
	start, eval := init.eval, body.eval
	return compiled{typ: body.typ, eval: func(f *frame) value {
		f.declare(slot, variable{init: start})
		return eval(f)
	}}, nil
}

// loop compiles all, exists and exists_one.
func (c *compiler) loop(n *node) (compiled, error) {
	from, err := c.compile(n.args[0])
	if err != nil {
		return compiled{}, err
	}
	t := dynType
	switch from.typ.kind {
	case kList:
		t = from.typ.elem
	case kMap:
		t = stringType
	case kDyn:
	default:
		return compiled{}, invalid(n.at, "expression of type '%s' cannot be range of a comprehension", from.typ)
	}
	slot, end, err := c.declare(n.args[1], t)
	if err != nil {
		return compiled{}, err
	}
	defer end()
	condition, err := c.compile(n.args[2])
	if err != nil {
		return compiled{}, err
	}
	if condition.typ.kind != kBool && condition.typ.kind != kDyn {
		return compiled{}, noOverload(n.args[2], []compiled{condition})
	}
	fold := foldJunction
	if n.text == "exists_one" {
		fold = foldOne
	}
	a, b, decides := from.eval, condition.eval, n.text != "all"
	return compiled{typ: boolType, eval: func(f *frame) value {
		elements := a(f)
		switch elements.kind {
		case vError:
			return elements
		case vMap, vDomains:
			elements = list(elements.keys())
		case vList:
		default:
			return failed(errOverload)
		}
		return fold(elements.list(), decides, func(x value) value {
			f.steps += 5
			f.declare(slot, variable{value: x})
			return b(f)
		})
	}}, nil
}

// foldJunction joins the answers for all elements by || if decides is true, by && if it
// is false.
func foldJunction(elements []value, decides bool, ask func(value) value) value {
	result := boolean(!decides)
	for _, x := range elements {
		v := ask(x)
		if v.kind == vBool && v.isTrue() == decides {
			return v
		}
		result = both(result, v, decides)
	}
	return result
}

// foldOne reports whether exactly one answer is true. Every error counts.
func foldOne(elements []value, _ bool, ask func(value) value) value {
	n := 0
	for _, x := range elements {
		switch v := ask(x); {
		case v.isError():
			return v
		case v.kind != vBool:
			return failed(errOverload)
		case v.isTrue():
			n++
		}
	}
	return boolean(n == 1)
}
