package config

import (
	"slices"

	"github.com/berth-sched/berth/scheduling/args"
)

// Known is what must be known of a plugin to resolve a configuration.
type Known struct {
	// Points are the extension points that the plugin serves. None is allowed:
	// such a plugin can be enabled and does nothing.
	Points []Point
	// Args decodes the plugin's arguments. nil keeps them as they are, as JSON.
	// With a decoder, a plugin that is enabled and has no pluginConfig gets its
	// default arguments. A value that is an [args.Validator] is validated.
	Args args.Decoder
	// LateArgs leaves the validation of the arguments to the build, which looks
	// only at plugins that are enabled. Upstream does so with NodeResourcesFit.
	LateArgs bool
	// Check stands for the plugin's constructor: an error fails the build. It is
	// called with the decoded arguments (or a json.RawMessage, or nil), once per
	// profile that enables the plugin anywhere, also when every point disables
	// it. nil accepts everything.
	Check func(decoded any) error
	// Reports is the name that the built plugin gives itself, when it differs
	// from the name that files use.
	Reports string
}

// serves reports whether the plugin serves a point.
func (k Known) serves(p Point) bool { return slices.Contains(k.Points, p) }

// construct returns the error of the plugin's constructor.
func (k Known) construct(decoded any) error {
	if v, ok := decoded.(args.Validator); ok {
		if err := args.Join(v.Validate("")); err != nil {
			return err
		}
	}
	if k.Check != nil {
		return k.Check(decoded)
	}
	return nil
}
