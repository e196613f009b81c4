package config

import (
	"slices"

	"github.com/berth-sched/berth/scheduling/args"
)

// Known describes a plugin to the extent that a configuration needs.
type Known struct {
	// Points are the extension points that the plugin serves. It may be empty: such
	// a plugin can be enabled and does nothing.
	Points []Point
	// Args decodes the plugin's arguments. nil keeps them as JSON. With a decoder,
	// an enabled plugin without pluginConfig gets its default arguments. A value
	// that is an [args.Validator] is validated.
	Args args.Decoder
	// LateArgs defers the validation of the arguments to the build, which checks
	// only enabled plugins. Upstream does so for NodeResourcesFit.
	LateArgs bool
	// Check replaces the plugin's constructor: an error fails the build. It receives
	// the decoded arguments (or a json.RawMessage, or nil). It is called once per
	// profile that enables the plugin anywhere, even if every point disables it. nil
	// accepts everything.
	Check func(decoded any) error
	// Reports is the built plugin's own name, if it differs from the name in files.
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
