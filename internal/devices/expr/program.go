package expr

// The bounds of an evaluation.
const (
	// maxSteps keeps evaluations far below kube-scheduler's cost limit: a step here
	// costs at most five units there.
	maxSteps = 150_000
	maxVars  = 8
)

// A Program is a compiled expression.
type Program struct {
	root  eval
	bytes int
	parts int // of all patterns
	slots int // of its variables
}

// An eval evaluates a part of an expression.
type eval func(f *frame) value

// A frame is the state of one evaluation.
type frame struct {
	device  *Device
	steps   int
	crashed bool       // the original gives up the whole evaluation
	slots   int        // for vars
	vars    []variable // nil until one is declared
}

// declare gives a variable its value, or what to find it with.
func (f *frame) declare(slot int, v variable) {
	if f.vars == nil {
		f.steps += f.slots
		f.vars = make([]variable, f.slots)
	}
	f.vars[slot] = v
}

// A variable is one of a macro. It is evaluated when it is first read.
type variable struct {
	value value
	init  eval // nil once value is set
}

// Compile compiles an expression. The error is a [*CompileError] or a [*RefusedError].
func Compile(text string) (*Program, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &compiler{}
	root, err := c.compile(n)
	if err != nil {
		return nil, err
	}
	if root.typ.kind != kBool && root.typ.kind != kDyn {
		return nil, invalid(0, "must evaluate to bool or the unknown type, not %s", root.typ)
	}
	return &Program{root.eval, 64*len(text) + 128*c.parts, c.parts, c.most}, nil
}

// Bytes is about how much memory the program takes.
func (p *Program) Bytes() int { return p.bytes }

// Parts is how many parts the patterns of the expression have, each counted once.
func (p *Program) Parts() int { return p.parts }

// Match evaluates the expression for a device. It returns the answer and the steps of the
// evaluation, from 1 to a little more than 150,000: each takes at most about 0.1 µs. An
// error may be a [*RefusedError].
func (p *Program) Match(d *Device) (ok bool, steps int, err error) {
	if d.err != nil {
		return false, 1, d.err
	}
	f := frame{device: d, slots: p.slots}
	v := p.root(&f)
	switch {
	case f.steps > maxSteps:
		return false, maxSteps + 1, errManySteps
	case f.crashed:
		err = errOverload
	case v.kind == vError:
		err = v.ref.(error)
	case v.kind != vBool:
		err = noBool(v)
	}
	return err == nil && v.i != 0, f.steps, err
}
