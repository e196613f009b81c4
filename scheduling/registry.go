package scheduling

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/args"
)

// A Registry makes plugins by the names that configuration files use.
// [Kubernetes137Registry] and its like hold the in-tree plugins of a release of
// kube-scheduler; your own plugins are one line each:
//
//	r := scheduling.Kubernetes137Registry()
//	err := r.Register("Mine", scheduling.RegisterTyped(NewMine))
//
// The zero Registry has no plugin and is ready to use. Once all plugins are
// registered, any number of goroutines may read it.
type Registry struct {
	release string
	tie     TieRule
	table   map[string]Registration
}

// A Registration says how a plugin is made. [RegisterValue] and [RegisterTyped] make
// one.
type Registration struct {
	// Like is a plugin of the type that New makes: the interfaces that it implements
	// show which points the plugin serves. Its fields do not matter.
	Like framework.Plugin
	// Args decodes the plugin's arguments. If it is nil, New gets them undecoded: a
	// json.RawMessage, or nil if there are none.
	Args args.Decoder
	// New makes the plugin for one profile from the result of Args. h is the handle
	// of the scheduler that will run it, nil if there is none. To return a plugin of
	// several values, use [Combined].
	New func(decoded any, h framework.Handle) (framework.Plugin, error)
}

// NewRegistry returns a registry without any plugin.
func NewRegistry() *Registry { return &Registry{table: map[string]Registration{}} }

// Release returns the release of kube-scheduler whose plugins the registry has, such
// as "1.37"; "" for none.
func (r *Registry) Release() string { return r.release }

// TieRule returns the tie rule of the release; [Random] for none.
func (r *Registry) TieRule() TieRule { return r.tie }

// Register adds a plugin. A name can be registered only once.
func (r *Registry) Register(name string, reg Registration) error {
	_, twice := r.table[name]
	switch {
	case name == "":
		return errors.New("registering a plugin: the name is empty")
	case twice:
		return fmt.Errorf("registering plugin %q: there is one of that name already", name)
	case reg.New == nil:
		return fmt.Errorf("registering plugin %q: New is nil", name)
	case reg.Like == nil:
		return fmt.Errorf("registering plugin %q: Like is nil, so that nobody can tell which points it serves", name)
	}
	if r.table == nil {
		r.table = map[string]Registration{}
	}
	r.table[name] = reg
	return nil
}

// Names returns the names of all plugins, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.table)) }

// Lookup returns the registration of that name.
func (r *Registry) Lookup(name string) (Registration, bool) {
	reg, ok := r.table[name]
	return reg, ok
}

// Make makes the plugin of that name. arguments is a value of the type that the
// registration decodes to, or JSON (a json.RawMessage), or nil for the defaults.
// JSON is decoded strictly and validated. h may be nil.
//
// The error is kube-scheduler's `initializing plugin "x": ...`; for an unknown name
// it lists the known ones.
func (r *Registry) Make(name string, arguments any, h framework.Handle) (framework.Plugin, error) {
	reg, ok := r.table[name]
	if !ok {
		return nil, fmt.Errorf("plugin %q does not exist; known plugins: %s", name, strings.Join(r.Names(), ", "))
	}
	p, err := reg.make(name, arguments, h)
	if err != nil {
		return nil, fmt.Errorf("initializing plugin %q: %w", name, err)
	}
	return p, nil
}

func (g Registration) make(name string, arguments any, h framework.Handle) (p framework.Plugin, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, recovered(v)
		}
	}()
	if raw, ok := arguments.(json.RawMessage); g.Args != nil && (ok || arguments == nil) {
		decoded, errs := g.Args(raw)
		if v, ok := decoded.(args.Validator); ok && len(errs) == 0 {
			errs = v.Validate("")
		}
		if err := args.Join(errs); err != nil {
			return nil, err
		}
		arguments = decoded
	}
	if p, err = g.New(arguments, h); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, errors.New("New returned no plugin and no error")
	}
	for _, part := range partsOf(p) {
		if nameOf(part) != name {
			return nil, fmt.Errorf("the plugin calls itself %q", nameOf(part))
		}
		if v, ok := part.(validator); ok {
			if err := askValid(v); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}
