// Profiles prints what a KubeSchedulerConfiguration file really means. For every
// profile it lists the plugins that run at each point, in their order and with their
// weights, and the arguments of each with every default set.
//
//	go run ./examples/profiles
//	go run ./examples/profiles -config scheduler.yaml -o json
//	go run ./examples/profiles -config scheduler.yaml -plugin Mine=filter,score -release 1.34
//
// Without a file it examines sample.yaml. If a file has errors, Profiles prints them
// on standard error, one a line, and exits with status 1. If a file names your own
// plugin, pass it with -plugin and the points that it serves. Koordinator's
// LoadAwareScheduling is known.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
)

//go:embed sample.yaml
var sample []byte

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("profiles", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	file := flags.String("config", "", "the configuration `file`, YAML or JSON; - is standard input")
	output := flags.String("o", "table", "the `form` of the output: table or json")
	release := flags.String("release", "1.37", "the kube-scheduler `release` whose plugins and defaults count: 1.18, 1.34 or 1.37")
	plugins := standIns{}
	flags.Var(plugins, "plugin", "a plugin and the points that it serves, as `NAME=point,point`; may be repeated")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			flags.Usage()
		}
		return err
	}
	presets := map[string]func() config.Preset{"1.18": config.Kubernetes118, "1.34": config.Kubernetes134, "1.37": config.Kubernetes137}
	registries := map[string]func() *scheduling.Registry{"1.18": scheduling.Kubernetes118Registry, "1.34": scheduling.Kubernetes134Registry, "1.37": scheduling.Kubernetes137Registry}
	preset, ok := presets[*release]
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *output != "table" && *output != "json":
		return fmt.Errorf("-o: got %q, want table or json", *output)
	case !ok:
		return fmt.Errorf("-release: got %q, want 1.18, 1.34 or 1.37", *release)
	}
	o := config.LoadConfig{Preset: preset(), Registry: registries[*release](), ReadFile: os.ReadFile}
	err := o.Registry.Register(estimator.LoadAwareName, scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators()))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		if _, known := o.Preset.Plugins[name]; known || slices.Contains(o.Registry.Names(), name) {
			return fmt.Errorf("-plugin %s: there is a plugin of this name; leave the flag out, or choose another name", name)
		}
		o.Preset.Plugins[name] = plugins[name]
	}
	data, err := read(*file)
	if err != nil {
		return err
	}
	c, err := config.Load(data, o)
	if err != nil {
		return err
	}
	if *output == "table" {
		return write(stdout, c.Effective())
	}
	j := json.NewEncoder(stdout)
	j.SetEscapeHTML(false)
	return j.Encode(c.Effective())
}

// read returns the text of a file, of standard input for "-", or of the sample.
func read(file string) ([]byte, error) {
	switch file {
	case "":
		return sample, nil
	case "-":
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
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

// write prints the profiles for people.
func write(w io.Writer, e config.Effective) error {
	var b strings.Builder
	for i, p := range e.Profiles {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", p.SchedulerName)
		for _, point := range config.Points() {
			if list := p.Plugins[point]; len(list) > 0 {
				fmt.Fprintf(&b, "  %-19s%s\n", point, describe(list))
			}
		}
		for _, pc := range p.PluginConfig {
			text, err := json.Marshal(pc.Args)
			if err != nil {
				return err
			}
			unused := ""
			if !pc.Used {
				unused = "  (not used)"
			}
			fmt.Fprintf(&b, "  %s: %s%s\n", pc.Name, text, unused)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describe returns plugins as text, with their weights.
func describe(list []config.Plugin) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
		if p.Weight != 0 {
			names[i] += fmt.Sprintf(" (%d)", p.Weight)
		}
	}
	return strings.Join(names, ", ")
}
