package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/scheduling/config"
)

var configCommand = command{
	name: "config", args: "FILE", input: readsConfig,
	short: "what a KubeSchedulerConfiguration really means, or what is wrong with it",
	yes:   "kube-scheduler accepts the file",
	long: `Resolves a configuration as kube-scheduler does when it starts: which plugins run at which
point, in which order, with which weights and arguments. Every fault is told with its line.
A - is standard input. A plugin of your own is given with -plugin and the points that it
serves; Koordinator's LoadAwareScheduling is known.`,
	example: []string{
		"berth config scheduler.yaml",
		"berth config scheduler.yaml -profile 1.34 -plugin Mine=filter,score",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		plugins := standIns{}
		flags.Var(plugins, "plugin", "a `plugin` and the points that it serves, as NAME=point,point; may be repeated")
		return func(s *session) (*answer, error) { return configure(s, plugins) }
	},
}

func configure(s *session, plugins standIns) (*answer, error) {
	if len(s.args) != 1 {
		return nil, errors.New("name one file")
	}
	load, err := input.LoadConfigOf(s.version)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		if _, known := load.Preset.Plugins[name]; known || slices.Contains(load.Registry.Names(), name) {
			return nil, fmt.Errorf("-plugin %s: there is a plugin of this name; leave the flag out, or choose another name", name)
		}
		load.Preset.Plugins[name] = plugins[name]
	}
	data, err := s.readConfig(s.args[0])
	if err != nil {
		return nil, err
	}
	c, err := config.Load(data, load)
	if err != nil && !isConfiguration(data) { // so it is not known whether kube-scheduler accepts one
		return nil, fmt.Errorf("%v; the file is no %s", input.InConfig(s.args[0], err), configurationKind)
	}
	if err != nil {
		return nil, input.InConfig(s.args[0], err)
	}
	e := c.Effective()
	a := &answer{yes: true, data: e}
	a.text = fmt.Sprintf("%s has %d %s for kube-scheduler %s", s.args[0], len(e.Profiles), plural(len(e.Profiles), "profile", "profiles"), load.Preset.Release)
	for i := range e.Profiles {
		if err := a.addProfile(&e.Profiles[i]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

const configurationKind = "KubeSchedulerConfiguration"

// isConfiguration reports whether a text says that it is a configuration of a scheduler.
func isConfiguration(text []byte) bool {
	documents, err := config.YAMLToJSON(text)
	if err != nil || len(documents) == 0 {
		return false
	}
	var head struct {
		Kind string `json:"kind"`
	}
	return json.Unmarshal(documents[0], &head) == nil && head.Kind == configurationKind
}

// readConfig reads a configuration from a file, or from standard input for "-".
func (s *session) readConfig(file string) ([]byte, error) {
	if file == "-" {
		return input.ReadConfig("standard input", s.stdin)
	}
	return input.ReadConfigFile(file)
}

// addProfile shows a profile.
func (a *answer) addProfile(p *config.EffectiveProfile) error {
	t := page.Table{Head: []string{"point", "plugins (weight)"}}
	weights := &page.Bars{Series: []page.Series{{Name: "weight"}}}
	for _, point := range config.Points() {
		var names []string
		for _, x := range p.Plugins[point] {
			name := x.Name
			if x.Weight != 0 {
				name += fmt.Sprintf(" (%d)", x.Weight)
			}
			names = append(names, name)
			if point == config.Score {
				weights.Labels = append(weights.Labels, x.Name)
				weights.Series[0].Values = append(weights.Series[0].Values, float64(x.Weight))
			}
		}
		if len(names) > 0 {
			t.Add(string(point), strings.Join(names, ", "))
		}
	}
	s := page.Section{Title: "Profile " + p.SchedulerName, Table: t}
	if len(weights.Labels) > 0 {
		s.Note, s.Figure = "Plugins in the order in which they run. The bars are the weights of the scorers.", weights
	}
	a.add(s)
	arguments := page.Table{Head: []string{"plugin", "arguments"}}
	for _, x := range p.PluginConfig {
		text, err := json.Marshal(x.Args)
		if err != nil {
			return err
		}
		name := x.Name
		if !x.Used {
			name += " (not used)"
		}
		arguments.Add(name, string(text))
	}
	a.add(page.Section{Title: "Arguments of " + p.SchedulerName, Note: "With every default.", Table: arguments})
	return nil
}

// standIns holds the plugins given as flags.
type standIns map[string]config.Known

// String implements flag.Value.
func (s standIns) String() string { return "" }

// Set implements flag.Value.
func (s standIns) Set(text string) error {
	name, points, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("want NAME=point,point")
	}
	var known config.Known
	for p := range strings.SplitSeq(points, ",") {
		switch point := config.Point(strings.TrimSpace(p)); {
		case point == "":
		case !slices.Contains(config.Points(), point):
			return fmt.Errorf("no point %q; points are %v", point, config.Points())
		default:
			known.Points = append(known.Points, point)
		}
	}
	if len(known.Points) == 0 {
		return fmt.Errorf("%s: no points; points are %v", name, config.Points())
	}
	s[name] = known
	return nil
}
