// Package config loads KubeSchedulerConfiguration files and resolves what they mean:
// which plugins run at which point, in which order, with which weights and
// arguments.
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
// duplicate fields and wrong types are errors. Then Load fills in every default,
// merges the default plugins with the file's, and decodes plugin arguments to typed
// values. Validation applies upstream's rules, with its messages. The build resolves
// each profile: it expands multiPoint and fixes orders and weights, exactly as
// kube-scheduler does when it starts:
//
//	file's plugins ──merge──▶ sets per point ──expand multiPoint──▶ run order
//	                ▲                               (overrides, multiPoint, rest)
//	     preset's default plugins
//
// [Load] stops after the first step with problems and returns all of that step's
// problems as one [*Error].
//
// # From a file to schedulers
//
// To Load, plugins are names. A [Known] describes each name: the points that the
// plugin serves, and the decoder of its arguments. A [Preset] describes the in-tree
// plugins as data. The [scheduling.Registry] of the LoadConfig describes the others,
// and also makes them:
//
//	registry := scheduling.Kubernetes137Registry()
//	err := registry.Register("Mine", scheduling.RegisterTyped(NewMine))
//	c, err := config.Load(data, config.LoadConfig{Registry: registry})
//	built, err := c.Build(config.BuildConfig{})
//	s, err := scheduling.New(built.Profiles[0])
//
// # What it leaves to you
//
// Load constructs no plugins, and opens files only through LoadConfig.ReadFile. It
// reads the settings of the client connection and of leader election, but does not
// act on them.
//
// # YAML
//
// This is the only package of the module that reads YAML. Programs that read
// manifests can call [YAMLToJSON]. The text is YAML 1.1, as in Kubernetes' own
// parser: a bare yes, no, on, off, y or n is a boolean, and anchors and merge keys
// work.
//
// # Without extenders
//
// With the build tag noextenders the package links neither net/http nor crypto/tls,
// for small programs such as pages in WebAssembly. Load then accepts extenders without
// reading their certificates, Build refuses them by name, and BuildConfig.Extender and
// Extender.TLS do not exist.
//
// # Older files
//
// Load also reads the versions v1beta3, v1beta2 and v1alpha1, unless
// LoadConfig.OnlyV1 is set. v1beta2 and v1alpha1 have no default multiPoint. There
// the file's sets are merged, point by point, with the defaults of the point, so a
// default plugin keeps its place if the file gives it another weight. Defaults
// are those of the preset, but InterPodAffinity, NodeAffinity and TaintToleration weigh 1,
// as in the releases that read these versions. v1alpha1 has one
// profile, whose plugins and pluginConfig are at the top level.
//
// # Determinism and concurrency
//
// The result depends on the arguments alone; problems come in a fixed order. Any
// number of goroutines may read a Configuration.
//
// Differs: several problems of one step.
// Original: kube-scheduler stops at the first wrong type and at the first build
// error.
// Here: all of them are reported.
// Why: a user can correct all of them at once.
//
// Differs: a null duration.
// Original: kube-scheduler rejects it.
// Here: it is absent.
// Why: null means absent for every other field.
//
// Differs: a multiPoint plugin that does not exist while every point disables "*".
// Original: kube-scheduler panics.
// Here: the plugin is reported as unknown.
// Why: bad input must not end the program.
//
// Differs: several plugins that fail.
// Original: kube-scheduler reports a random one.
// Here: all are reported, in the order of their names.
// Why: the answer must be the same on every run.
//
// Differs: apiVersions.
// Original: kube-scheduler 1.37 reads v1 and its internal version.
// Here: older versions are accepted; the internal one is not.
// Switch: [LoadConfig.OnlyV1] rejects the older versions.
//
// Differs: typed arguments in messages.
// Original: kube-scheduler prints its internal form.
// Here: they are in v1's form.
// Why: the user has written v1.
//
// Source: kube-scheduler 1.37.1, pkg/scheduler/apis/config, pkg/scheduler/profile
// and framework/runtime.
package config
