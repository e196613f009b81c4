package config

// merge returns the default plugin sets with the file's sets merged in.
func merge(defaults, file *Plugins) Plugins {
	var out Plugins
	for _, point := range allPoints() {
		*out.At(point) = mergeSet(defaults.At(point), file.At(point))
	}
	return out
}

// mergeSet returns one default plugin set with the file's set merged in. Default
// plugins keep their place, even if the file enables them again (its weight then
// counts). Plugins that the file disables are dropped. The file's other plugins
// follow in their order, so disabling and enabling a default plugin moves it to the
// end. If the file enables a name twice, the last entry takes the default's place
// and the others follow at the end, where the build finds the repetition.
func mergeSet(defaults, file *PluginSet) PluginSet {
	var out PluginSet
	if n := len(file.Disabled) + len(defaults.Disabled); n > 0 {
		out.Disabled = make([]Plugin, 0, n)
	}
	if n := len(file.Enabled) + len(defaults.Enabled); n > 0 {
		out.Enabled = make([]Plugin, 0, n)
	}
	for _, list := range [][]Plugin{file.Disabled, defaults.Disabled} {
		for _, p := range list {
			out.Disabled = append(out.Disabled, Plugin{Name: p.Name})
		}
	}
	last := make(map[string]int, len(file.Enabled))
	for i, p := range file.Enabled {
		last[p.Name] = i
	}
	placed := make(map[int]bool)
	if !out.disables("*") {
		for _, p := range defaults.Enabled {
			if out.disables(p.Name) {
				continue
			}
			if i, ok := last[p.Name]; ok {
				p = file.Enabled[i]
				placed[i] = true
			}
			out.Enabled = append(out.Enabled, p)
		}
	}
	for i, p := range file.Enabled {
		if !placed[i] {
			out.Enabled = append(out.Enabled, p)
		}
	}
	return out
}
