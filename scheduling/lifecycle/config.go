package lifecycle

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/queue"
)

// A Config says how a [Driver] works.
type Config struct {
	// Profiles are the profiles; a pod chooses one by spec.schedulerName. There must
	// be at least one, and their names must differ ("" is [scheduling.DefaultName]).
	// All must have the same QueueSort plugin: the same name and type, and equal
	// values. If the type holds functions, which cannot be compared, name and type
	// are enough.
	Profiles []scheduling.Profile
	// Binder binds pods.
	Binder Binder
	// Clock tells the time: the machine's clock through [framework.ClockOf], or a
	// virtual one.
	Clock framework.Clock

	// Groups, if not nil, are the rules by which pods that name a group in
	// spec.schedulingGroup are placed: together, with the PodGroup object of that name,
	// or not at all. The zero [gang.Rules] are those of kube-scheduler 1.37 with the
	// feature gates GenericWorkload and TopologyAwareWorkloadScheduling on. Single pods
	// then preempt by units, too: see [preemption.DefaultPreemption]. If it is nil, each
	// pod is scheduled alone.
	Groups *gang.Rules

	// Handle is the handle that plugins of the profiles were made with; nil means
	// that no plugin needs one. New connects it to the driver. A handle serves only
	// one driver.
	Handle *Handle
	// Seed is the result of [framework.Handle.Seed], and the seed of profiles whose
	// own seed is 0.
	Seed uint64
	// Order is the order of the nodes; the zero value is kube-scheduler's.
	Order framework.NodeOrder
	// Bindings is how many binding cycles may run at once, each in its own
	// goroutine. 0 means none: binding cycles run in the scheduling goroutine, as
	// part of the attempt, and equal events give equal decisions. A pod that waits
	// on Permit never takes a goroutine, and one that waits in [Await] is not counted.
	// A quarter as many reports, at least one, may be under way besides.
	Bindings int
	// Backoff is how long pods wait after failed attempts.
	Backoff queue.Backoff
	// MaxUnschedulable is the longest time that a pod waits for an event; 0 means 5
	// minutes.
	MaxUnschedulable time.Duration
	// FullBackoff makes pods wait for the end of their backoff, as in kube-scheduler
	// up to 1.32.
	FullBackoff bool
	// AssumeTTL is how long a bound pod counts on its node before the source
	// confirms it; 0 means for ever, as in kube-scheduler since 1.23.
	AssumeTTL time.Duration
	// Grace is how long, by Clock, binding cycles may continue after Run was told to
	// stop. Then their contexts are cancelled. 0 means 10 s.
	Grace time.Duration
	// Observer learns what the driver does; nil means none, and costs nothing.
	Observer Observer
	// ErrorHandler gets the errors that no caller gets: events that cannot be
	// applied, panics of plugins, reporters and observers that fail no pod, and
	// bindings that were never confirmed. The scheduling goroutine calls it; nil
	// ignores the errors.
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

// sameSort reports whether two profiles sort alike: by equal plugins of one name and
// type. Plugins that hold functions cannot be compared and count as equal.
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

// nameOf returns the name of a profile, or of the profile that a pod asks for.
func nameOf(name string) string {
	if name == "" {
		return scheduling.DefaultName
	}
	return name
}
