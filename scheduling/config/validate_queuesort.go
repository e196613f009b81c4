package config

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/berth-sched/berth/scheduling/args"
)

// validateQueueSort checks that all profiles configure the queue sort plugin in the
// same words, because there is one queue. The build compares what multiPoint adds.
func validateQueueSort(profiles []Profile) []args.FieldError {
	var errs []args.FieldError
	first := &profiles[0]
	sort := first.Plugins.QueueSort
	name := ""
	if len(sort.Enabled) > 0 {
		name = sort.Enabled[0].Name
	}
	if n := len(sort.Enabled); n > 1 {
		errs = append(errs, args.Invalid(profilePath(0)+".plugins.queueSort.Enabled", n, "only one queue sort plugin can be enabled"))
	}
	var want any
	for _, pc := range first.PluginConfig {
		if name != "" && pc.Name == name {
			want = pc.Args
		}
	}
	for i := 1; i < len(profiles); i++ {
		p := &profiles[i]
		if s := p.Plugins.QueueSort; !slices.Equal(sort.Enabled, s.Enabled) || !slices.Equal(sort.Disabled, s.Disabled) {
			errs = append(errs, args.Invalid(profilePath(i)+".plugins.queueSort", printed(s), "must be the same for all profiles"))
		}
		for _, pc := range p.PluginConfig {
			if pc.Name == name && !bytes.Equal(argsText(want), argsText(pc.Args)) {
				errs = append(errs, args.Invalid(profilePath(i)+".pluginConfig.args", pc.Args, "queueSort must be the same for all profiles"))
			}
		}
	}
	return errs
}

// printed returns a plugin set whose JSON form is the one of upstream's messages.
func printed(s PluginSet) any {
	type plugin struct {
		Name   string
		Weight int32
	}
	list := func(in []Plugin) (out []plugin) {
		for _, p := range in {
			out = append(out, plugin(p))
		}
		return out
	}
	return struct{ Enabled, Disabled []plugin }{list(s.Enabled), list(s.Disabled)}
}

// argsText returns arguments as JSON: raw ones as in the file, and nothing for none.
func argsText(a any) []byte {
	switch a := a.(type) {
	case nil:
		return nil
	case json.RawMessage:
		return a
	}
	b, err := json.Marshal(a)
	if err != nil {
		return nil
	}
	return b
}
