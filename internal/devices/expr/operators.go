package expr

import (
	"cmp"
	"math"
	"strings"
)

// operator compiles an operator.
func (c *compiler) operator(n *node) (compiled, error) {
	parts, err := c.all(n.args)
	if err != nil {
		return compiled{}, err
	}
	for _, p := range parts {
		if p.typ.kind == kDevice {
			return compiled{}, refuse("the device as a value")
		}
	}
	if n.text == "+" && (parts[0].typ.kind == kList || parts[1].typ.kind == kList) {
		return compiled{}, refuse("the sum of lists")
	}
	t := operatorType(n.text, parts)
	if t == nil {
		return compiled{}, noOverload(n, parts)
	}
	x := compiled{typ: t}
	switch {
	case n.text == "?":
		x.eval = choose(parts[0].eval, parts[1].eval, parts[2].eval)
	case n.text == "&&":
		x.eval = junction(parts[0].eval, parts[1].eval, false)
	case n.text == "||":
		x.eval = junction(parts[0].eval, parts[1].eval, true)
	case len(parts) == 1:
		x.eval = unary(parts[0].eval, prefixes[n.text])
	case n.text == "in" && parts[1].constant && n.args[1].kind == nList && parts[1].typ.elem.kind != kList:
		x.eval = inConstants(parts[0].eval, parts[1].eval)
	default:
		x.eval = binary(parts[0].eval, parts[1].eval, infixes[n.text])
	}
	return x, nil
}

func noOverload(n *node, parts []compiled) error {
	var types []string
	for _, p := range parts {
		types = append(types, p.typ.String())
	}
	return invalid(n.at, "found no matching overload for '%s' applied to '(%s)'", n.text, strings.Join(types, ", "))
}

// operatorType returns the type of an operator's result, nil if the operands do not fit.
func operatorType(op string, parts []compiled) *typ {
	a := parts[0].typ
	is := func(t *typ, kinds ...typeKind) bool {
		if t.kind == kDyn {
			return true
		}
		for _, k := range kinds {
			if t.kind == k {
				return true
			}
		}
		return false
	}
	if len(parts) == 1 {
		switch {
		case op == "!" && is(a, kBool):
			return boolType
		case op == "-" && is(a, kInt, kDouble):
			return a
		}
		return nil
	}
	b := parts[1].typ
	switch op {
	case "?":
		if is(a, kBool) && fits(b, parts[2].typ) {
			return general(b, parts[2].typ)
		}
		return nil
	case "&&", "||":
		if is(a, kBool) && is(b, kBool) {
			return boolType
		}
		return nil
	case "==", "!=":
		if fits(a, b) {
			return boolType
		}
		return nil
	case "in":
		switch {
		case b.kind == kDyn,
			b.kind == kMap && is(a, kString),
			b.kind == kList && fits(a, b.elem):
			return boolType
		}
		return nil
	case "<", "<=", ">", ">=":
		numbers := is(a, kInt, kDouble) && is(b, kInt, kDouble)
		if numbers || is(a, kBool, kString) && is(b, kBool, kString) && fits(a, b) {
			return boolType
		}
		return nil
	case "+":
		if is(a, kInt, kDouble, kString) && is(b, kInt, kDouble, kString) && fits(a, b) {
			return known(a, b)
		}
		return nil
	case "%":
		if is(a, kInt) && is(b, kInt) {
			return known(a, b)
		}
		return nil
	}
	if is(a, kInt, kDouble) && is(b, kInt, kDouble) && fits(a, b) {
		return known(a, b)
	}
	return nil
}

// general returns the type that both fit.
func general(a, b *typ) *typ {
	switch {
	case a.kind == kDyn:
		return a
	case b.kind == kDyn:
		return b
	case a.elem != nil && general(a.elem, b.elem) == a.elem:
		return a
	}
	return b
}

// known returns the one of two types that is not dyn, if there is one.
func known(a, b *typ) *typ {
	if a.kind == kDyn {
		return b
	}
	return a
}

// choose evaluates one of two parts.
func choose(condition, yes, no eval) eval {
	return func(f *frame) value {
		switch v := condition(f); {
		case v.isTrue():
			return yes(f)
		case v.isFalse():
			return no(f)
		case v.isError():
			return v
		}
		return failed(errOverload)
	}
}

// junction is && or ||. An operand that decides wins over errors of the other.
func junction(a, b eval, decides bool) eval {
	return func(f *frame) value {
		x := a(f)
		if x.kind == vBool && x.isTrue() == decides {
			return x
		}
		y := b(f)
		if y.kind == vBool && y.isTrue() == decides {
			return y
		}
		return both(x, y, decides)
	}
}

// both is the result of a junction that neither operand decides. An operand that was
// refused might decide.
func both(x, y value, decides bool) value {
	for _, v := range [2]value{x, y} {
		if _, refused := v.ref.(*RefusedError); refused {
			return v
		}
	}
	for _, v := range [2]value{x, y} {
		switch v.kind {
		case vError:
			return v
		case vBool:
		default:
			return failed(errOverload)
		}
	}
	return boolean(!decides)
}

func unary(a eval, op func(value) value) eval {
	return func(f *frame) value {
		if v := a(f); v.isError() {
			return v
		} else {
			return op(v)
		}
	}
}

func binary(a, b eval, op func(x, y value) value) eval {
	return func(f *frame) value {
		x := a(f)
		return f.apply(op, x, b(f))
	}
}

// apply counts the steps of an operator, and takes them.
func (f *frame) apply(op func(x, y value) value, x, y value) value {
	f.steps += (x.size() + y.size()) / 8
	if y.kind == vList {
		f.steps += len(y.list()) * (1 + x.size()/8) // each element may be as long
	}
	switch {
	case x.isError():
		return x
	case y.isError():
		return y
	case f.steps > maxSteps:
		return failed(errManySteps)
	}
	return op(x, y)
}

// prefixes and infixes are the operators for values that are no errors.
var (
	prefixes = map[string]func(value) value{"!": not, "-": negate}
	infixes  = map[string]func(x, y value) value{
		"==": equal, "!=": unequal, "in": in,
		"<":  order(func(c int) bool { return c < 0 }),
		"<=": order(func(c int) bool { return c <= 0 }),
		">":  order(func(c int) bool { return c > 0 }),
		">=": order(func(c int) bool { return c >= 0 }),
		"+":  add, "-": subtract, "*": multiply, "/": divide, "%": modulo,
	}
)

func not(v value) value {
	if v.kind != vBool {
		return failed(errOverload)
	}
	return boolean(v.i == 0)
}

func negate(v value) value {
	switch {
	case v.kind == vInt && v.i == math.MinInt64:
		return failed(errOverflow)
	case v.kind == vInt:
		return integer(-v.i)
	case v.kind == vDouble:
		return value{kind: vDouble, f: -v.f}
	}
	return failed(errOverload)
}

// equal compares two values. Values of different types differ, but a quantity or a
// version on the left cannot be compared with anything else.
func equal(x, y value) value {
	switch x.kind {
	case vInt, vDouble:
		c, ok := compareNumbers(x, y)
		return boolean(ok && c == 0 && !x.isNaN() && !y.isNaN())
	case vBool:
		return boolean(y.kind == vBool && x.i == y.i)
	case vString:
		return boolean(y.kind == vString && x.s == y.s)
	case vQuantity:
		if y.kind != vQuantity || y.i != 0 {
			return failed(errOverload)
		}
		return boolean(x.quantity().Equal(y.quantity()))
	case vVersion:
		if y.kind != vVersion {
			return failed(errOverload)
		}
		return boolean(x.version().Compare(y.version()) == 0)
	}
	if x.kind == vList && y.kind != vList {
		return boolean(false)
	}
	return failed(refuse("the comparison of a %s", kindNames[x.kind]))
}

// unequal counts what cannot be compared as different.
func unequal(x, y value) value {
	v := equal(x, y)
	if _, refused := v.ref.(*RefusedError); refused {
		return v
	}
	return boolean(!v.isTrue())
}

// in reports whether x is an element of a list or a key of a map.
func in(x, y value) value {
	switch y.kind {
	case vList:
		for _, element := range y.list() {
			v := equal(x, element)
			if _, refused := v.ref.(*RefusedError); refused {
				return v
			}
			if v.isTrue() {
				return v
			}
		}
		return boolean(false)
	case vMap:
		_, ok := y.domain().find(x.s)
		return boolean(ok && x.kind == vString)
	case vDomains:
		_, ok := y.domains().find(x.s)
		return boolean(ok && x.kind == vString)
	}
	return failed(errOverload)
}

// inConstants is in for a list of constants that are no lists. The original makes a set of them. It crashes
// when it looks for a version there, which ends the whole evaluation.
func inConstants(a, b eval) eval {
	return func(f *frame) value {
		x := a(f)
		if x.kind == vVersion {
			f.crashed = true
			return failed(errOverload)
		}
		return f.apply(in, x, b(f))
	}
}

// compareNumbers compares integers and floating-point numbers; false if one is neither.
func compareNumbers(x, y value) (int, bool) {
	switch {
	case x.kind == vInt && y.kind == vInt:
		return cmp.Compare(x.i, y.i), true
	case x.kind == vDouble && y.kind == vDouble:
		return cmp.Compare(x.f, y.f), true
	case x.kind == vInt && y.kind == vDouble:
		return compareMixed(x.i, y.f), true
	case x.kind == vDouble && y.kind == vInt:
		return -compareMixed(y.i, x.f), true
	}
	return 0, false
}

func compareMixed(i int64, f float64) int {
	switch {
	case f < math.MinInt64:
		return 1
	case f > math.MaxInt64:
		return -1
	}
	return cmp.Compare(float64(i), f)
}

func order(holds func(c int) bool) func(x, y value) value {
	return func(x, y value) value {
		c, ok := compareNumbers(x, y)
		switch {
		case x.isNaN() || y.isNaN():
			return failed(errNaN)
		case ok:
		case x.kind == vString && y.kind == vString:
			c = strings.Compare(x.s, y.s)
		case x.kind == vBool && y.kind == vBool:
			c = cmp.Compare(x.i, y.i)
		default:
			return failed(errOverload)
		}
		return boolean(holds(c))
	}
}

func add(x, y value) value {
	switch {
	case x.kind == vInt && y.kind == vInt:
		if sum := x.i + y.i; (sum > x.i) == (y.i > 0) {
			return integer(sum)
		}
		return failed(errOverflow)
	case x.kind == vDouble && y.kind == vDouble:
		return value{kind: vDouble, f: x.f + y.f}
	case x.kind == vString && y.kind == vString:
		return text(x.s + y.s)
	case x.kind == vList:
		return failed(refuse("the sum of lists"))
	}
	return failed(errOverload)
}

func subtract(x, y value) value {
	switch {
	case x.kind == vInt && y.kind == vInt:
		if d := x.i - y.i; (d < x.i) == (y.i > 0) {
			return integer(d)
		}
		return failed(errOverflow)
	case x.kind == vDouble && y.kind == vDouble:
		return value{kind: vDouble, f: x.f - y.f}
	}
	return failed(errOverload)
}

func multiply(x, y value) value {
	switch {
	case x.kind == vInt && y.kind == vInt:
		p := x.i * y.i
		if x.i != 0 && (p/x.i != y.i || x.i == -1 && y.i == math.MinInt64) {
			return failed(errOverflow)
		}
		return integer(p)
	case x.kind == vDouble && y.kind == vDouble:
		return value{kind: vDouble, f: float64(x.f * y.f)}
	}
	return failed(errOverload)
}

func divide(x, y value) value {
	switch {
	case x.kind == vInt && y.kind == vInt && y.i == 0:
		return failed(errDivision)
	case x.kind == vInt && y.kind == vInt && x.i == math.MinInt64 && y.i == -1:
		return failed(errOverflow)
	case x.kind == vInt && y.kind == vInt:
		return integer(x.i / y.i)
	case x.kind == vDouble && y.kind == vDouble && y.f == 0:
		return failed(refuse("a division by 0.0"))
	case x.kind == vDouble && y.kind == vDouble:
		return value{kind: vDouble, f: x.f / y.f}
	}
	return failed(errOverload)
}

func modulo(x, y value) value {
	switch {
	case x.kind != vInt || y.kind != vInt:
		return failed(errOverload)
	case y.i == 0:
		return failed(errModulus)
	case x.i == math.MinInt64 && y.i == -1:
		return failed(errOverflow)
	}
	return integer(x.i % y.i)
}
