package devices

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
)

// A condition is a selector of a class or of a request.
type condition struct {
	program *program
	class   string // whose selector it is; "" for the claim's
	index   int
}

// Each evaluation counts steps of the search: one, and one for some steps of expr, which are
// shorter. Those of a user's compiler count alike, and besides what they have cost if they say so.
const (
	stepsOfExpr  = 2
	stepsOfCall  = 100
	maxCallSteps = 1 << 30
)

// matches evaluates the condition for a device. It returns the steps of the search that
// this counts.
func (c *condition) matches(d *Device, unshared bool) (ok bool, steps int, err error) {
	p := c.program
	switch {
	case p.err != nil:
		return false, 1, p.err
	case p.built != nil:
		ok, n, err := p.built.Match(d.view(unshared))
		return ok, 1 + n/stepsOfExpr, err
	}
	if metered, is := p.other.(api.MeteredDeviceSelector); is {
		ok, steps, err := metered.MeterDevice(d.slice.pool.Driver, d.seen(unshared))
		return ok, stepsOfCall + min(max(0, steps), maxCallSteps), err
	}
	ok, err = p.other.MatchesDevice(d.slice.pool.Driver, d.seen(unshared))
	return ok, stepsOfCall, err
}

// seen returns the device as selectors see it: as published, or as if it could not be shared.
func (d *Device) seen(unshared bool) *api.Device {
	if !unshared || !d.shareable {
		return d.Device
	}
	x := *d.Device
	x.AllowMultipleAllocations = nil
	return &x
}

// view is seen for expr.
func (d *Device) view(unshared bool) *expr.Device {
	if unshared && d.shareable {
		return expr.NewDevice(d.slice.pool.Driver, d.seen(true))
	}
	return d.slice.views()[d.index]
}

// The bounds of all selectors of a class, or of a claim. Equal ones count once.
const (
	maxSelectorText  = 512 << 10
	maxSelectorParts = 16 << 10 // of patterns; see [expr.Program.Parts]
)

var (
	errManyParts = &expr.RefusedError{What: fmt.Sprintf("patterns of more than %d parts in all selectors of a class or claim", maxSelectorParts)}
	errLongTexts = fmt.Errorf("the selectors of a class or claim are longer than %d bytes in all", maxSelectorText)
)

// A selectorReader compiles the selectors of a class, or of a claim, within their bounds.
type selectorReader struct {
	programs *programs
	compiler api.DeviceSelectorCompiler
	class    string
	classes  map[*api.DeviceClass]int // what withoutExpression says of them: many requests name one
	owner    string                   // who pays for the programs: a namespace, "" for classes
	known    map[string]*program
	text     int
	parts    int
	bytes    int // of the programs
}

// read returns the conditions of a list of selectors.
func (r *selectorReader) read(list []api.DeviceSelector) []condition {
	var conditions []condition
	for i := range list {
		p := noExpression
		if list[i].CEL != nil {
			p = r.program(list[i].CEL.Expression)
		}
		conditions = append(conditions, condition{p, r.class, i})
	}
	return conditions
}

// errNoExpression is the error of a selector of a type that is not known.
var errNoExpression = errors.New("CEL expression empty (unsupported selector type?)")

var noExpression = &program{err: errNoExpression}

// withoutExpression returns the index of the first selector without an expression, -1 if
// there is none.
func withoutExpression(list []api.DeviceSelector) int {
	return slices.IndexFunc(list, func(s api.DeviceSelector) bool { return s.CEL == nil })
}

// withoutExpression is that of the selectors of a class.
func (r *selectorReader) withoutExpression(class *api.DeviceClass) int {
	i, ok := r.classes[class]
	if !ok {
		if i = withoutExpression(class.Spec.Selectors); r.classes == nil {
			r.classes = map[*api.DeviceClass]int{}
		}
		r.classes[class] = i
	}
	return i
}

// program returns the program of an expression. Beyond the bounds nothing is compiled.
func (r *selectorReader) program(text string) *program {
	if p := r.known[text]; p != nil {
		return p
	}
	if r.text += len(text); r.text > maxSelectorText {
		return &program{err: errLongTexts}
	}
	if r.parts > maxSelectorParts {
		return &program{err: errManyParts}
	}
	p := r.programs.get(programKey{r.compiler, text}, r.owner)
	r.bytes += p.bytes
	if p.built != nil {
		if r.parts += p.built.Parts(); r.parts > maxSelectorParts {
			p = &program{err: errManyParts}
		}
	}
	if r.known == nil {
		r.known = map[string]*program{}
	}
	r.known[text] = p
	return p
}

// fault returns the error of a condition for a device.
func (c *condition) fault(p plan, d *Device, err error) error {
	whose := "class " + c.class
	if c.class == "" {
		whose = "claim " + p.claim.Key()
	}
	var refused *expr.RefusedError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%s: selector #%d: %w; set DeviceSelectors to a compiler of the full language, such as scheduling/kube/celselector", whose, c.index, err)
	case c.program.err != nil:
		return fmt.Errorf("%s: selector #%d: CEL compile error: %w", whose, c.index, err)
	}
	hint := ""
	if strings.Contains(err.Error(), "no such key:") {
		hint = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
	}
	return fmt.Errorf("%s: selector #%d on device %s: CEL runtime error: %w%s", whose, c.index, d.ID(), err, hint)
}
