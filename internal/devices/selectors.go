package devices

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
)

// A program is a compiled expression.
type program struct {
	built *expr.Program              // by the built-in compiler, or
	other api.CompiledDeviceSelector // by the user's
	err   error                      // it cannot be compiled
}

// programs keeps the programs of a snapshot and its forks by their texts. An entry never
// changes, so several goroutines may share it.
type programs struct {
	mu       sync.Mutex
	compiled map[programKey]*program
	bytes    int // about how much memory they take
}

// A programKey identifies a text and its compiler, nil for the built-in one.
type programKey struct {
	compiler api.DeviceSelectorCompiler
	text     string
}

// maxProgramBytes bounds the memory for programs. Beyond it, all are compiled anew.
const maxProgramBytes = 64 << 20

// bytesOf is about how much memory a program takes with its text. Programs of a user's
// compiler count as ours without patterns do.
func (x *program) bytesOf(text string) int {
	const fixed, each = 512, 64
	n := fixed + (each+1)*len(text)
	if x.built != nil {
		n = fixed + len(text) + x.built.Bytes()
	}
	return n
}

// get returns the program of an expression.
func (p *programs) get(compiler api.DeviceSelectorCompiler, text string) *program {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := programKey{compiler, text}
	if x, ok := p.compiled[key]; ok {
		return x
	}
	x := new(program)
	if compiler == nil {
		x.built, x.err = expr.Compile(text)
	} else {
		x.other, x.err = compiler.CompileDeviceSelector(text)
	}
	bytes := x.bytesOf(text)
	if p.compiled == nil || p.bytes+bytes > maxProgramBytes {
		p.compiled, p.bytes = map[programKey]*program{}, 0
	}
	p.compiled[key] = x
	p.bytes += bytes
	return x
}

// answers are the answers of a program for the devices of a slice.
type answers struct {
	yes  []bool
	errs map[int]error // by device
}

// answersOf returns the answers for all devices of the slice. Programs have no side
// effects, so it does not matter that some answers may never be needed.
func (s *slice) answersOf(p *program) *answers {
	if a, ok := s.answered.find(p); ok {
		return a
	}
	return s.answered.add(p, s.ask(p))
}

func (s *slice) ask(p *program) *answers {
	a := &answers{yes: make([]bool, len(s.devices))}
	for i := range s.devices {
		err := p.err
		switch {
		case err != nil:
		case p.built != nil:
			a.yes[i], err = p.built.Match(s.views()[i])
		default:
			a.yes[i], err = p.other.MatchesDevice(s.pool.Driver, s.devices[i].Device)
		}
		if err != nil {
			if a.errs == nil {
				a.errs = map[int]error{}
			}
			a.yes[i], a.errs[i] = false, err
		}
	}
	return a
}

// A condition is a selector of a class or of a request.
type condition struct {
	program *program
	class   string // whose selector it is; "" for the claim's
	index   int
}

// conditions returns the conditions of a list of selectors.
func (s *State) conditions(to []condition, compiler api.DeviceSelectorCompiler, class string, list []api.DeviceSelector) []condition {
	for i := range list {
		if list[i].CEL != nil {
			to = append(to, condition{s.programs.get(compiler, list[i].CEL.Expression), class, i})
		}
	}
	return to
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
		return fmt.Errorf("%s: selector #%d: %w; set DeviceSelectors to a compiler of the full language", whose, c.index, err)
	case c.program.err != nil:
		return fmt.Errorf("%s: selector #%d: CEL compile error: %w", whose, c.index, err)
	}
	hint := ""
	if strings.Contains(err.Error(), "no such key:") {
		hint = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
	}
	return fmt.Errorf("%s: selector #%d on device %s: CEL runtime error: %w%s", whose, c.index, d.ID(), err, hint)
}
