package devices

import (
	"sync"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
)

// A program is a compiled expression.
type program struct {
	built *expr.Program              // by the built-in compiler, or
	other api.CompiledDeviceSelector // by the user's
	err   error                      // it cannot be compiled
	expense
}

// programs keeps the programs of a snapshot and its forks by their texts, and the questions
// of classes. A program never changes, so several goroutines may share it.
type programs struct {
	mu       sync.Mutex
	compiled map[programKey]*program
	bytes    int // about how much memory they take
	made     uint64

	classes map[classKey]classEntry
}

// A programKey identifies a text and its compiler, nil for the built-in one.
type programKey struct {
	compiler api.DeviceSelectorCompiler
	text     string
}

// maxProgramBytes bounds the memory for programs. Beyond it, those are dropped that their
// owners have had longest; see overspent.
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

// get returns the program of an expression. The owner pays if nobody has it yet.
func (p *programs) get(key programKey, owner string) *program {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x, ok := p.compiled[key]; ok {
		return x
	}
	x := new(program)
	if key.compiler == nil {
		x.built, x.err = expr.Compile(key.text)
	} else {
		x.other, x.err = key.compiler.CompileDeviceSelector(key.text)
	}
	p.made++
	x.expense = expense{owner, p.made, x.bytesOf(key.text)}
	if p.compiled == nil {
		p.compiled = map[programKey]*program{}
	}
	if p.bytes+x.bytes > maxProgramBytes {
		p.drop(maxProgramBytes*3/4 - x.bytes)
	}
	p.compiled[key] = x
	p.bytes += x.bytes
	return x
}

// drop keeps programs of at most so many bytes.
func (p *programs) drop(most int) {
	keys := make([]programKey, 0, len(p.compiled))
	list := make([]expense, 0, len(p.compiled))
	for key, x := range p.compiled {
		keys, list = append(keys, key), append(list, x.expense)
	}
	for _, i := range overspent(list, most) {
		delete(p.compiled, keys[i])
		p.bytes -= list[i].bytes
	}
}

// A classKey identifies the questions of a class.
type classKey struct {
	compiler api.DeviceSelectorCompiler
	class    string
	unshared bool
}

type classEntry struct {
	class     *api.DeviceClass
	questions *questions
}

// maxClasses bounds for how many classes questions are kept. Beyond it, all are prepared anew.
const maxClasses = 1 << 10

// ofClass returns the questions of a class. They are the same for all requests that name it.
// unshared says that they see devices which cannot be shared.
func (p *programs) ofClass(compiler api.DeviceSelectorCompiler, class *api.DeviceClass, unshared bool) *questions {
	key := classKey{compiler, class.Name, unshared}
	p.mu.Lock()
	e := p.classes[key]
	p.mu.Unlock()
	if e.class == class {
		return e.questions
	}
	r := selectorReader{programs: p, compiler: compiler, class: class.Name}
	e = classEntry{class, &questions{conditions: r.read(class.Spec.Selectors), unshared: unshared, account: new(account)}}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.classes == nil || len(p.classes) >= maxClasses {
		p.classes = map[classKey]classEntry{}
	}
	p.classes[key] = e
	return e.questions
}
