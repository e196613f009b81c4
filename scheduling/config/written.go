package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/scheduling/args"
)

// A writtenProfile is a profile as the file has it, without defaults: the build finds the
// fields of its problems there.
type writtenProfile struct {
	path         string                // in the file
	Plugins      map[string]writtenSet `json:"plugins"`
	PluginConfig []struct {
		Name string `json:"name"`
	} `json:"pluginConfig"`
}

// A writtenSet is the plugins of a point as the file has them.
type writtenSet struct {
	Enabled []struct {
		Name string `json:"name"`
	} `json:"enabled"`
	Disabled []struct{} `json:"disabled"`
}

// written returns the profiles of the file, as far as they can be read.
func (l *loader) written() (list []*writtenProfile) {
	var file struct {
		Profiles []json.RawMessage `json:"profiles"`
	}
	if l.version.topLevelProfile {
		file.Profiles = []json.RawMessage{l.raw}
	} else if json.Unmarshal(l.raw, &file) != nil {
		return nil
	}
	for i, text := range file.Profiles {
		w := &writtenProfile{path: fmt.Sprintf("profiles[%d]", i)}
		_ = json.Unmarshal(text, w) // decoding has found what is wrong with it
		list = append(list, w)
	}
	return list
}

// self returns the path of the profile, "" if the file does not have it.
func (w *writtenProfile) self() string {
	if w == nil {
		return ""
	}
	return w.path
}

// list returns the path of the part, enabled or disabled, of a point's plugins; that of
// multiPoint if the point has none; "" if the file has neither.
func (w *writtenProfile) list(point Point, part string) string {
	if w == nil {
		return ""
	}
	for _, p := range []Point{point, MultiPoint} {
		set := w.Plugins[string(p)]
		if part == "enabled" && len(set.Enabled) > 0 || part == "disabled" && len(set.Disabled) > 0 {
			return fmt.Sprintf("%s.plugins.%s.%s", w.path, p, part)
		}
	}
	return ""
}

// plugin returns the path of a plugin in the list of the point, or in another one if that
// does not have it; "" if the file does not name it.
func (w *writtenProfile) plugin(point Point, name string) string {
	if w == nil {
		return ""
	}
	for _, p := range slices.Concat([]string{string(point), "multiPoint"}, slices.Sorted(maps.Keys(w.Plugins))) {
		for i, plugin := range slices.Backward(w.Plugins[p].Enabled) { // of equal ones the last is too many
			if plugin.Name == name {
				return fmt.Sprintf("%s.plugins.%s.enabled[%d].name", w.path, p, i)
			}
		}
	}
	return ""
}

// arguments returns the path of the field of a plugin's arguments that an error is about.
func (w *writtenProfile) arguments(name string, err error) string {
	if w == nil {
		return ""
	}
	for i, pc := range w.PluginConfig {
		if pc.Name != name {
			continue
		}
		path := fmt.Sprintf("%s.pluginConfig[%d].args", w.path, i)
		var field args.FieldError
		if errors.As(err, &field) && field.Field != "" {
			path += "." + field.Field
		}
		return path
	}
	return ""
}
