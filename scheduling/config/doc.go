// Package config loads KubeSchedulerConfiguration files and tells what they
// really mean: which plugins run at which point, in which order, with which
// weights and arguments.
//
//	c, err := config.Load(data, config.LoadConfig{
//		Plugins: map[string]config.Known{"Mine": {Points: []config.Point{config.Score}}},
//	})
//	if err != nil {
//		return err // every problem, each with line and path where it has one
//	}
//	json.NewEncoder(os.Stdout).Encode(c.Effective())
//
// # What it does
//
// A file, YAML or JSON, goes through four steps. Decoding is strict: unknown and
// duplicate fields and wrong types are errors. Then every default is filled in,
// the default plugins are merged with the file's, and the arguments of plugins are
// decoded to typed values. Validation applies upstream's rules, with its messages.
// The build resolves each profile: multiPoint is expanded, and orders and weights
// are fixed, exactly as kube-scheduler does when it starts:
//
//	file's plugins ──merge──▶ sets per point ──expand multiPoint──▶ run order
//	                ▲                               (overrides, multiPoint, rest)
//	     preset's default plugins
//
// [Load] stops after the step that found problems and returns all of that step's
// as one [*Error].
//
// # From a file to schedulers
//
// To Load, plugins are names. What a name stands for is a [Known]: the points
// that it serves and how its arguments are decoded. The in-tree plugins are known
// as data (a [Preset]), others by the [scheduling.Registry] of the Options, which
// also makes them:
//
//	registry := scheduling.Kubernetes137Registry()
//	err := registry.Register("Mine", scheduling.RegisterTyped(NewMine))
//	c, err := config.Load(data, config.LoadConfig{Registry: registry})
//	built, err := c.Build(config.BuildConfig{})
//	s, err := scheduling.New(built.Profiles[0])
//
// # What it leaves to you
//
// Load constructs nothing and opens no file but through Options.ReadFile. The
// client connection and the leader election are told, and not acted on.
//
// # YAML
//
// This is the only package of the module that reads YAML; [YAMLToJSON] does it
// for programs that read manifests. Text is YAML 1.1, as Kubernetes' own parser
// has it: a bare yes, no, on, off, y or n is a boolean, anchors and merge keys
// work.
//
// # Older files
//
// The versions v1beta3, v1beta2 and v1alpha1 are read too, unless Options.OnlyV1
// is set. v1beta2 and v1alpha1 know no default multiPoint: there the file's sets
// are merged, point by point, with the defaults of the point, so that a default
// plugin keeps its place when the file gives it another weight. v1alpha1 has one
// profile, whose plugins and pluginConfig stand at the top level.
//
// # Determinism and concurrency
//
// The result depends on the arguments alone; problems come in a fixed order. A
// Configuration may be read by any number of goroutines.
//
// Differs: all problems of a step are reported, upstream stops at the first wrong
// type and at the first build error; a null duration is absent, upstream refuses
// it; where upstream panics (a multiPoint plugin that does not exist while every
// point disables "*") the plugin is reported as unknown; where it reports a random
// one of several failing plugins, all are reported, in the order of their names.
// Older apiVersions are accepted, the internal one is not. Messages print typed
// arguments in v1's form.
//
// Source: kube-scheduler 1.37.1, pkg/scheduler/apis/config, pkg/scheduler/profile
// and framework/runtime.
package config
