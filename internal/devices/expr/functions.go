package expr

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/berth-sched/berth/internal/semver"
	"github.com/berth-sched/berth/resource"
)

// A signature is one form of a function. The number of its parameters says which of the
// functions is set. A receiver is the first parameter.
type signature struct {
	params []typeKind
	result *typ
	one    func(a value) value
	two    func(a, b value) value
	three  func(a, b, c value) value
}

// A function has the signatures that the language gives to its name. If others is set,
// there are more of them, which this package does not have.
type function struct {
	signatures []signature
	others     bool
}

// members are the functions that are called on a receiver.
var members = map[string]function{
	"startsWith": textTest(strings.HasPrefix),
	"endsWith":   textTest(strings.HasSuffix),
	"contains":   textTest(strings.Contains),
	"lowerAscii": textMap(lowerASCII),
	"upperAscii": textMap(upperASCII),
	"trim":       textMap(strings.TrimSpace),
	"size":       {signatures: sizes},
	"indexOf": {others: true, signatures: []signature{
		{params: []typeKind{kString, kString}, result: intType, two: func(a, b value) value { return integer(indexOf(a.s, b.s)) }},
	}},
	"replace": {others: true, signatures: []signature{{params: []typeKind{kString, kString, kString}, result: stringType, three: replace}}},
	"split": {others: true, signatures: []signature{
		{params: []typeKind{kString, kString}, result: stringsType, two: func(a, b value) value { return listOf(strings.Split(a.s, b.s), text) }},
	}},
	"substring": {signatures: []signature{
		{params: []typeKind{kString, kInt}, result: stringType, two: func(a, b value) value {
			return substring(a.s, b.i, int64(utf8.RuneCountInString(a.s)))
		}},
		{params: []typeKind{kString, kInt, kInt}, result: stringType, three: func(a, b, c value) value { return substring(a.s, b.i, c.i) }},
	}},

	"isLessThan":    comparison(boolType, func(c int) value { return boolean(c < 0) }),
	"isGreaterThan": comparison(boolType, func(c int) value { return boolean(c > 0) }),
	"compareTo":     comparison(intType, func(c int) value { return integer(int64(c)) }),
	"major":         versionNumberAt(0),
	"minor":         versionNumberAt(1),
	"patch":         versionNumberAt(2),
	"add":           quantityMath(resource.Quantity.Add),
	"sub":           quantityMath(resource.Quantity.Sub),
	"isInteger": {signatures: []signature{{params: []typeKind{kQuantity}, result: boolType, one: func(a value) value {
		if a.i != 0 {
			return failed(errComputed)
		}
		_, ok := integerOf(a.quantityText())
		return boolean(ok)
	}}}},
	"asInteger": {signatures: []signature{{params: []typeKind{kQuantity}, result: intType, one: func(a value) value {
		if a.i != 0 {
			return failed(errComputed)
		}
		i, ok := integerOf(a.quantityText())
		if !ok {
			return failed(errNotWhole)
		}
		return integer(i)
	}}}},
}

// globals are the functions without a receiver.
var globals = map[string]function{
	"size":       {signatures: sizes},
	"quantity":   {signatures: []signature{{params: []typeKind{kString}, result: quantityType, one: parseQuantity}}},
	"isQuantity": {signatures: []signature{{params: []typeKind{kString}, result: boolType, one: succeeds(parseQuantity)}}},
	"sign": {signatures: []signature{{params: []typeKind{kQuantity}, result: intType, one: func(a value) value {
		return integer(int64(a.quantity().Sign()))
	}}}},
	"semver": {signatures: []signature{
		{params: []typeKind{kString}, result: versionType, one: func(a value) value { return parseSemver(a, false) }},
		{params: []typeKind{kString, kBool}, result: versionType, two: func(a, b value) value { return parseSemver(a, b.isTrue()) }},
	}},
	"isSemver": {signatures: []signature{
		{params: []typeKind{kString}, result: boolType, one: succeeds(func(a value) value { return parseSemver(a, false) })},
		{params: []typeKind{kString, kBool}, result: boolType, two: func(a, b value) value { return boolean(!parseSemver(a, b.isTrue()).isError()) }},
	}},
	"int": {others: true, signatures: []signature{
		{params: []typeKind{kInt}, result: intType, one: func(a value) value { return a }},
		{params: []typeKind{kString}, result: intType, one: func(a value) value {
			i, err := strconv.ParseInt(a.s, 10, 64)
			if err != nil {
				return failed(fmt.Errorf("type conversion error from 'string' to 'int'"))
			}
			return integer(i)
		}},
	}},
	"string": {others: true, signatures: []signature{
		{params: []typeKind{kInt}, result: stringType, one: func(a value) value { return text(strconv.FormatInt(a.i, 10)) }},
		{params: []typeKind{kString}, result: stringType, one: func(a value) value { return a }},
		{params: []typeKind{kBool}, result: stringType, one: func(a value) value { return text(strconv.FormatBool(a.isTrue())) }},
	}},
}

// sizes are the signatures of size.
var sizes = []signature{
	{params: []typeKind{kString}, result: intType, one: func(a value) value { return integer(int64(utf8.RuneCountInString(a.s))) }},
	{params: []typeKind{kList}, result: intType, one: func(a value) value { return integer(int64(len(a.list()))) }},
	{params: []typeKind{kMap}, result: intType, one: func(a value) value { return integer(int64(a.entries())) }},
}

func textTest(test func(s, t string) bool) function {
	return function{signatures: []signature{
		{params: []typeKind{kString, kString}, result: boolType, two: func(a, b value) value { return boolean(test(a.s, b.s)) }},
	}}
}

func textMap(change func(string) string) function {
	return function{signatures: []signature{{params: []typeKind{kString}, result: stringType, one: func(a value) value { return text(change(a.s)) }}}}
}

func lowerASCII(s string) string { return mapASCII(s, 'A', 'Z', 'a'-'A') }

func upperASCII(s string) string { return mapASCII(s, 'a', 'z', 'A'-'a') }

func mapASCII(s string, from, to, by rune) string {
	return strings.Map(func(r rune) rune {
		if from <= r && r <= to {
			return r + by
		}
		return r
	}, s)
}

// indexOf counts in characters.
func indexOf(s, part string) int64 {
	i := strings.Index(s, part)
	if i < 0 {
		return -1
	}
	return int64(utf8.RuneCountInString(s[:i]))
}

// maxReplaced bounds the text that replace makes.
const maxReplaced = 1 << 16

func replace(a, b, c value) value {
	if (len(a.s)+1)*(len(c.s)+1) > maxReplaced {
		return failed(refuse("a replacement in so long a string"))
	}
	return text(strings.ReplaceAll(a.s, b.s, c.s))
}

// substring counts in characters.
func substring(s string, start, end int64) value {
	runes := []rune(s)
	if start < 0 || end > int64(len(runes)) || start > end {
		return failed(fmt.Errorf("index out of range: %d, %d", start, end))
	}
	return text(string(runes[start:end]))
}

// comparison has the forms for two quantities and for two versions.
func comparison(result *typ, of func(c int) value) function {
	return function{signatures: []signature{
		{params: []typeKind{kQuantity, kQuantity}, result: result, two: func(a, b value) value { return of(a.quantity().Cmp(b.quantity())) }},
		{params: []typeKind{kVersion, kVersion}, result: result, two: func(a, b value) value { return of(a.version().Compare(b.version())) }},
	}}
}

func versionNumberAt(i int) function {
	return function{signatures: []signature{
		{params: []typeKind{kVersion}, result: intType, one: func(a value) value { return integer(int64(a.version().Number[i])) }},
	}}
}

// quantityMath has the forms for a quantity and for an integer.
func quantityMath(op func(q, r resource.Quantity) resource.Quantity) function {
	return function{signatures: []signature{
		{params: []typeKind{kQuantity, kQuantity}, result: quantityType, two: func(a, b value) value {
			return computed(op(a.quantity(), b.quantity()), a.long || b.long)
		}},
		{params: []typeKind{kQuantity, kInt}, result: quantityType, two: func(a, b value) value {
			if b.i == math.MinInt64 { // the original negates it, which wraps
				return failed(refuse("the number %d as a quantity", b.i))
			}
			return computed(op(a.quantity(), resource.New(b.i, resource.DecimalExponent)), a.long)
		}},
	}}
}

func parseQuantity(a value) value {
	q, err := resource.Parse(a.s)
	if err != nil {
		return failed(err)
	}
	return value{kind: vQuantity, long: isLong(a.s), s: a.s, ref: q}
}

// longQuantity is how many bytes parsing a long quantity counts. Arithmetic with it counts
// longNumber.
const (
	longQuantity = 1200
	longNumber   = 32
)

// isLong reports whether a quantity may have more than 18 digits, and so up to a thousand.
func isLong(text string) bool { return len(text) > 18 || strings.ContainsAny(text, "eE") }

func parseSemver(a value, loose bool) value {
	parse := semver.Parse
	if loose {
		parse = semver.ParseLoose
	}
	v, err := parse(a.s)
	if err != nil {
		return failed(err)
	}
	return value{kind: vVersion, ref: v}
}

func succeeds(of func(value) value) func(value) value {
	return func(a value) value { return boolean(!of(a).isError()) }
}

// kindsOf holds the kinds of values of each type.
var kindsOf = map[typeKind][]valueKind{
	kBool: {vBool}, kInt: {vInt}, kDouble: {vDouble}, kString: {vString}, kQuantity: {vQuantity}, kVersion: {vVersion}, kList: {vList}, kMap: {vMap, vDomains},
}

// takes reports whether a value fits a parameter.
func (s *signature) takes(i int, v value) bool { return slices.Contains(kindsOf[s.params[i]], v.kind) }

// call compiles the call of a function or a macro.
func (c *compiler) call(n *node) (compiled, error) {
	if x, err, ok := c.macro(n); ok {
		return x, err
	}
	parts, err := c.all(n.args)
	if err != nil {
		return compiled{}, err
	}
	for _, p := range parts {
		if p.typ.kind == kDevice {
			return compiled{}, refuse("the device as a value")
		}
	}
	if n.member && (n.text == "matches" || n.text == "find") {
		return c.pattern(n, parts)
	}
	if n.member && (n.text == "hasValue" || n.text == "orValue" || n.text == "value") {
		return optionalCall(n, parts)
	}
	if !n.member && n.text == "dyn" && len(parts) == 1 {
		return compiled{typ: dynType, eval: parts[0].eval, constant: parts[0].constant}, nil
	}
	table := globals
	if n.member {
		table = members
	}
	fn, ok := table[n.text]
	if !ok {
		return compiled{}, refuse("the function %s", strconv.Quote(n.text))
	}
	var fit []signature
	for _, s := range fn.signatures {
		ok := len(s.params) == len(parts)
		for i := 0; ok && i < len(parts); i++ {
			k := parts[i].typ.kind
			ok = k == kDyn || k == s.params[i]
		}
		if ok {
			fit = append(fit, s)
		}
	}
	switch {
	case len(fit) == 0 && fn.others:
		return compiled{}, refuse("this form of the function %s", strconv.Quote(n.text))
	case len(fit) == 0:
		return compiled{}, noOverload(n, parts)
	}
	x := compiled{typ: fit[0].result, eval: invoke(fit, parts, fn.others, n.text)}
	if !n.member && (n.text == "int" || n.text == "string") && parts[0].constant {
		// The original converts literals when it compiles.
		v := x.eval(new(frame))
		if refused, ok := v.ref.(*RefusedError); ok {
			return compiled{}, refused
		}
		if v.isError() {
			return compiled{}, invalid(n.at, "%v", v.ref)
		}
		x.constant = true
	}
	return x, nil
}

// invoke evaluates the arguments and calls the form that fits them.
func invoke(fit []signature, parts []compiled, others bool, name string) eval {
	const perStep = 8 // bytes that are read in a step
	times := 1
	switch name {
	case "split", "semver", "isSemver":
		times = 2 * perStep // each byte may become a value of its own
	}
	quantities := name == "quantity" || name == "isQuantity"
	return func(f *frame) value {
		var args [3]value
		size := 1
		for i := range parts {
			if args[i] = parts[i].eval(f); args[i].isError() {
				return args[i]
			}
			size *= args[i].size() + 1
		}
		if quantities && isLong(args[0].s) {
			size += longQuantity
		}
		if f.steps += times * size / perStep; f.steps > maxSteps {
			return failed(errManySteps)
		}
		for k := range fit {
			s := &fit[k]
			ok := true
			for i := range parts {
				ok = ok && s.takes(i, args[i])
			}
			switch {
			case !ok:
			case s.one != nil:
				return s.one(args[0])
			case s.two != nil:
				return s.two(args[0], args[1])
			default:
				return s.three(args[0], args[1], args[2])
			}
		}
		if others {
			return failed(refuse("this form of the function %s", strconv.Quote(name)))
		}
		return failed(errOverload)
	}
}

// pattern compiles matches and find.
func (c *compiler) pattern(n *node, parts []compiled) (compiled, error) {
	if len(parts) != 2 || parts[0].typ.kind != kDyn && parts[0].typ.kind != kString || parts[1].typ.kind != kDyn && parts[1].typ.kind != kString {
		if n.text == "find" {
			return compiled{}, refuse("this form of the function %s", strconv.Quote(n.text))
		}
		return compiled{}, noOverload(n, parts)
	}
	if n.args[1].kind != nString {
		return compiled{}, refuse("patterns that are not literals")
	}
	p, err := c.patternOf(n.args[1].text)
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return compiled{}, err
	case err != nil && n.text == "matches":
		return compiled{}, invalid(n.args[1].at, "invalid matches argument")
	case err != nil:
		return compiled{}, refuse("the pattern %s", strconv.Quote(n.args[1].text))
	}
	x := compiled{typ: boolType}
	if n.text == "find" {
		x.typ = stringType
	}
	from, find := parts[0].eval, n.text == "find"
	x.eval = func(f *frame) value {
		v := from(f)
		switch {
		case v.isError():
			return v
		case v.kind != vString:
			return failed(errOverload)
		}
		if f.steps += (len(v.s) + 1) * p.cost / 8; f.steps > maxSteps {
			return failed(errManySteps)
		}
		if find {
			return text(p.re.FindString(v.s))
		}
		return boolean(p.re.MatchString(v.s))
	}
	return x, nil
}

// optionalCall compiles the functions of optional values.
func optionalCall(n *node, parts []compiled) (compiled, error) {
	t := parts[0].typ
	if t.kind != kOptional {
		return compiled{}, refuse("the function %s of a %s", strconv.Quote(n.text), t)
	}
	from := parts[0].eval
	get := func(f *frame, absent func() value) value {
		v := from(f)
		switch {
		case v.isError():
			return v
		case v.optional() == nil:
			return absent()
		}
		return *v.optional()
	}
	switch {
	case n.text == "orValue" && len(parts) == 2:
		if !fits(t.elem, parts[1].typ) {
			return compiled{}, noOverload(n, parts)
		}
		other := parts[1].eval
		return compiled{typ: general(t.elem, parts[1].typ), eval: func(f *frame) value { return get(f, func() value { return other(f) }) }}, nil
	case n.text == "value" && len(parts) == 1:
		return compiled{typ: t.elem, eval: func(f *frame) value { return get(f, func() value { return failed(errNoValue) }) }}, nil
	case n.text == "hasValue" && len(parts) == 1:
		return compiled{typ: boolType, eval: func(f *frame) value {
			v := from(f)
			if v.isError() {
				return v
			}
			return boolean(v.optional() != nil)
		}}, nil
	}
	return compiled{}, noOverload(n, parts)
}
