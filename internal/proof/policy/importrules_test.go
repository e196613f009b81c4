package policy

import (
	"slices"
	"strings"
)

// A rule says what the code of one directory, and of everything below it that has
// no rule of its own, may import.
type rule struct {
	dir string

	// imports lists the directories of this module that its code may import
	// besides its own.
	imports []string

	// modules lists the modules outside the standard library that its code may
	// import. Empty for most.
	modules []string

	// library is set for code that users link: it must be pure.
	library bool

	// network is set where net and what is below it may be used.
	network bool

	// testOnly is set for directories that only tests and other such
	// directories import.
	testOnly bool
}

// What lies below the plugins, below package scheduling, and below the examples.
var (
	objects = []string{"resource", "framework/api", "framework", "framework/incremental", "framework/replica", "framework/queueing", "internal/changelog", "internal/cow", "internal/podsum", "internal/runner"}
	shared  = with(objects, "estimator", "internal/devices", "internal/match", "internal/topo", "internal/volumes")
	plugins = with(shared, "filter", "scoring")
	public  = []string{
		"resource", "framework/api", "framework", "framework/incremental", "framework/replica", "framework/queueing", "framework/frameworktest",
		"estimator", "estimator/capacity", "estimator/nodemetric", "filter", "scoring",
		"scheduling", "scheduling/args", "scheduling/preemption", "scheduling/queue", "scheduling/lifecycle",
		"scheduling/virtualclock", "scheduling/gang", "scheduling/whatif", "scheduling/workload", "scheduling/simulate", "scheduling/config", "scheduling/extender", "scheduling/multicluster",
	}
)

// with returns a list with more entries; the list itself stays as it is.
func with(list []string, more ...string) []string { return append(slices.Clone(list), more...) }

// rules is the table of import directions: code may import its own directory and
// what its line names, nothing else. The longest matching directory counts.
var rules = []rule{
	{dir: "resource", imports: []string{"internal/errtext", "internal/qualified"}, library: true},
	{dir: "internal/errtext", library: true},
	{dir: "internal/memsize", library: true},
	{dir: "internal/strictjson", library: true},
	{dir: "internal/changelog", library: true},
	{dir: "internal/cow", library: true},
	{dir: "internal/digest", library: true},
	{dir: "internal/qualified", library: true},
	{dir: "internal/semver", library: true},
	{dir: "internal/podsum", imports: []string{"resource"}, library: true},
	{dir: "internal/runner", library: true},
	{dir: "framework/api", imports: []string{"resource", "internal/errtext", "internal/podsum", "internal/qualified", "internal/semver", "internal/strictjson"}, library: true},
	{dir: "framework", imports: []string{"resource", "framework/api", "internal/changelog", "internal/cow", "internal/digest", "internal/errtext", "internal/runner"}, library: true},
	{dir: "framework/incremental", imports: []string{"framework"}, library: true},
	{dir: "framework/replica", imports: []string{"framework"}, library: true},
	{dir: "framework/queueing", imports: []string{"framework", "framework/api"}, library: true},
	{dir: "framework/frameworktest", imports: objects, library: true},
	{dir: "internal/heap", library: true},
	{dir: "internal/pick", library: true},
	{dir: "internal/match", imports: with(objects, "internal/errtext", "internal/qualified"), library: true},
	{dir: "internal/topo", imports: with(objects, "internal/digest", "internal/match"), library: true},
	{dir: "internal/devices", imports: with(objects, "internal/digest", "internal/errtext", "internal/match", "internal/devices/expr"), library: true},
	{dir: "internal/devices/expr", imports: []string{"resource", "framework/api", "internal/errtext", "internal/semver"}, library: true},
	{dir: "internal/volumes", imports: with(objects, "internal/errtext", "internal/match"), library: true},
	{dir: "internal/nodename", imports: objects, library: true},
	{dir: "estimator", imports: with(objects, "internal/errtext"), library: true},
	{dir: "estimator/capacity", imports: with(objects, "internal/errtext"), library: true},
	{dir: "estimator/nodemetric", imports: with(objects, "estimator"), library: true},
	{dir: "internal/podsize", imports: []string{"framework/api", "framework"}, library: true},
	{dir: "filter", imports: with(shared, "internal/errtext", "internal/digest", "internal/podsize"), library: true},
	{dir: "scoring", imports: shared, library: true},
	{dir: "internal/engine/tree", library: true},
	{dir: "internal/engine/bucket", imports: []string{"framework", "framework/incremental", "internal/engine/guard", "internal/engine/slotlist"}, library: true},
	{dir: "internal/engine/guard", library: true},
	{dir: "internal/engine/slotlist", library: true},
	{dir: "internal/engine/nodelog", imports: with(objects, "internal/engine/slotlist"), library: true},
	{
		dir:     "internal/engine",
		imports: with(objects, "internal/heap", "internal/engine/tree", "internal/engine/bucket", "internal/engine/guard", "internal/engine/nodelog", "internal/engine/slotlist", "internal/memsize"),
		library: true,
	},

	// Below package scheduling.
	{dir: "scheduling/args", imports: with(objects, "estimator", "internal/errtext", "internal/match", "internal/strictjson"), library: true},
	{dir: "scheduling/preemption", imports: with(objects, "internal/match", "internal/topo"), library: true},
	{dir: "scheduling/virtualclock", imports: []string{"framework", "internal/heap"}, library: true},

	{dir: "scheduling", imports: with(plugins, "internal/digest", "internal/errtext", "internal/pick", "internal/engine", "scheduling/args", "scheduling/preemption"), library: true},

	// Above package scheduling.
	{dir: "internal/subjects", imports: with(objects, "internal/podsize"), library: true},
	{dir: "scheduling/queue", imports: with(objects, "internal/heap", "internal/subjects", "scheduling"), library: true},
	{dir: "scheduling/lifecycle", imports: with(objects, "internal/errtext", "internal/heap", "internal/podsize", "internal/subjects", "scheduling", "scheduling/gang", "scheduling/preemption", "scheduling/queue"), library: true},
	{dir: "scheduling/gang", imports: with(objects, "filter", "internal/devices", "internal/errtext", "internal/nodename", "internal/podsize", "internal/volumes", "scoring", "scheduling", "scheduling/preemption"), library: true},
	{dir: "scheduling/multicluster", imports: with(objects, "estimator/capacity", "internal/match", "scheduling"), library: true},
	{dir: "scheduling/whatif", imports: with(objects, "internal/devices", "internal/match", "internal/nodename", "internal/podsize", "internal/volumes", "estimator", "scheduling", "scheduling/workload"), library: true},
	{dir: "scheduling/workload", imports: with(objects, "filter", "internal/match", "scheduling"), library: true},
	{dir: "scheduling/simulate", imports: with(objects, "internal/devices", "internal/errtext", "internal/heap", "internal/strictjson", "internal/volumes", "scheduling", "scheduling/gang", "scheduling/lifecycle", "scheduling/queue", "scheduling/virtualclock", "scheduling/whatif", "scheduling/workload"), library: true},
	{dir: "scheduling/extender", imports: with(objects, "internal/errtext", "internal/strictjson", "scheduling", "scheduling/preemption"), library: true, network: true},
	{
		dir:     "scheduling/config",
		imports: with(objects, "internal/errtext", "internal/strictjson", "scheduling", "scheduling/args", "scheduling/extender", "scheduling/preemption"),
		modules: []string{"go.yaml.in/yaml"},
		library: true,
	},

	// What logs and publishes. It is not part of the pure library.
	{dir: "scheduling/observe", imports: with(objects, "internal/errtext", "scheduling", "scheduling/queue", "scheduling/lifecycle")},

	{dir: "examples", imports: with(public, "scheduling/observe", "examples/gpushare/devices", "internal/errtext")}, // some are tools, which speak of misspelt names
	{dir: "examples/gpushare/devices", imports: objects, library: true},

	{dir: "scheduling/simulate/simulatetest", imports: with(objects, "scheduling/simulate")},

	// What proves the library.
	{dir: "internal/proof/oracle", imports: objects, modules: testModules, testOnly: true},
	{dir: "internal/proof/gen", imports: with(objects, "framework/frameworktest"), modules: testModules, testOnly: true},
	{dir: "internal/proof/golden", imports: with(public, "internal/devices", "internal/devices/expr"), testOnly: true},
	{dir: "internal/proof/replay", imports: with(public, "internal/proof/golden"), testOnly: true},
	{dir: "internal/proof/soak", imports: with(public, "internal/proof/gen", "internal/topo", "examples/gpushare/devices"), testOnly: true},
	{dir: "internal/proof/shapes", imports: with(public, "internal/proof/gen"), testOnly: true},
	{dir: "internal/cmd", imports: with(public, "internal/proof/gen", "internal/proof/golden", "internal/proof/soak", "internal/proof/shapes"), testOnly: true},
	{dir: "internal/proof", testOnly: true},
	{dir: "internal/proof/testheap", testOnly: true},
	{dir: "internal/proof/effort", testOnly: true},
	{dir: "internal/proof/enough", modules: testModules, testOnly: true},
	{dir: "internal/proof/amplify", imports: with(public, "internal/proof/effort"), network: true, testOnly: true},
	{dir: "internal/proof/work", imports: public, testOnly: true},
	{dir: "internal/proof/policy", testOnly: true},
}

// testModules are the modules outside the standard library that all tests may
// import.
var testModules = []string{"github.com/google/go-cmp", "pgregory.net/rapid"}

// ruleOf returns the rule that holds for a directory.
func ruleOf(dir string) (rule, bool) {
	var best rule
	found := false
	for _, r := range rules {
		if within(dir, r.dir) && (!found || len(r.dir) > len(best.dir)) {
			best, found = r, true
		}
	}
	return best, found
}

// within reports whether the path is parent or lies below it.
func within(name, parent string) bool {
	return name == parent || strings.HasPrefix(name, parent+"/")
}

// withinAny reports whether the path lies in one of parents.
func withinAny(name string, parents []string) bool {
	return slices.ContainsFunc(parents, func(p string) bool { return within(name, p) })
}

// standard reports whether the import path is the standard library's: its
// first element has no dot.
func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}
