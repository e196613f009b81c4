package lifecycle

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// A Config says how a [Driver] works.
type Config struct {
	// Profiles are the profiles; a pod chooses one by spec.schedulerName. There
	// must be one at least, their names must differ ("" is
	// [scheduling.DefaultName]), and all must have the same QueueSort plugin:
	// of one name and type, and equal. A type that holds functions, which cannot
	// be compared, counts by its name.
	Profiles []scheduling.Profile
	// Binder binds pods.
	Binder Binder
	// Clock tells the time: the machine's through [framework.ClockOf], or a
	// virtual one.
	Clock framework.Clock

	// Handle is the handle that plugins of the profiles were made with; nil
	// means that none needs it. The driver connects it; a handle serves one
	// driver.
	Handle *Handle
	// Seed is what [framework.Handle.Seed] tells, and the seed of profiles whose
	// own is 0.
	Seed uint64
	// Order is the order of the nodes; the zero value is kube-scheduler's.
	Order framework.NodeOrder
	// Bindings is how many binding cycles may run at once, each in a goroutine
	// of its own. 0 means none: binding cycles run in the scheduling goroutine,
	// as part of the attempt, and equal events give equal decisions. A pod that
	// waits on Permit takes no goroutine in any case.
	Bindings int
	// Backoff is how long pods wait after failed attempts.
	Backoff queue.Backoff
	// MaxUnschedulable is how long a pod waits for an event at most; 0 means
	// 5 minutes.
	MaxUnschedulable time.Duration
	// FullBackoff makes pods wait for the end of their backoff, as
	// kube-scheduler up to 1.32 does.
	FullBackoff bool
	// AssumeTTL is how long a pod that was bound counts on its node although
	// the source has not confirmed it; 0 means for ever, as in kube-scheduler
	// since 1.23.
	AssumeTTL time.Duration
	// Grace is how long binding cycles may go on after Run was told to stop,
	// before their contexts are cancelled, by Clock; 0 means 10 s.
	Grace time.Duration
	// Observer is told what the driver does; nil means nobody, and costs nothing.
	Observer Observer
	// Problem is told of what has nobody to go to: events that cannot be
	// applied, plugins, reporters and observers that panic where no pod fails by
	// it, bindings that were never confirmed. It is called by the scheduling goroutine; nil means that
	// nobody wants to know.
	ErrorHandler func(error)
}

const defaultGrace = 10 * time.Second

// check reports every error of the configuration.
func (c *Config) check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("lifecycle: "+format, args...)) }
	if len(c.Profiles) == 0 {
		fail("Profiles: there is none")
	}
	seen := map[string]bool{}
	for i := range c.Profiles {
		name := nameOf(c.Profiles[i].Name)
		if seen[name] {
			fail("Profiles[%d].Name: %q: another profile has it", i, name)
		}
		seen[name] = true
		if i > 0 && !sameSort(c.Profiles[0].QueueSort, c.Profiles[i].QueueSort) {
			fail("Profiles[%d].QueueSort: has to be the same as that of Profiles[0]", i)
		}
	}
	if c.Binder == nil {
		fail("Binder: is nil")
	}
	if c.Clock == nil {
		fail("Clock: is nil")
	}
	for _, n := range []struct {
		field string
		value int64
	}{
		{"Bindings", int64(c.Bindings)}, {"AssumeTTL", int64(c.AssumeTTL)}, {"Grace", int64(c.Grace)},
	} {
		if n.value < 0 {
			fail("%s: %d: must not be negative", n.field, n.value)
		}
	}
	return errors.Join(errs...)
}

// sameSort reports whether two profiles sort alike: by plugins of one name and
// type that are equal, where that can be told. It cannot of functions.
func sameSort(a, b framework.Plugin) bool {
	if a == nil {
		a = scheduling.PrioritySort{}
	}
	if b == nil {
		b = scheduling.PrioritySort{}
	}
	t := reflect.TypeOf(a)
	if t != reflect.TypeOf(b) || a.Name() != b.Name() {
		return false
	}
	return reflect.DeepEqual(a, b) || holdsFunc(t, map[reflect.Type]bool{})
}

// holdsFunc reports whether values of the type may lead to a function.
func holdsFunc(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func:
		return true
	case reflect.Array, reflect.Map, reflect.Pointer, reflect.Slice:
		return holdsFunc(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.NumField() {
			if holdsFunc(t.Field(f).Type, seen) {
				return true
			}
		}
	}
	return false
}

// nameOf is the name of a profile, or of the one that a pod asks for.
func nameOf(name string) string {
	if name == "" {
		return scheduling.DefaultName
	}
	return name
}
