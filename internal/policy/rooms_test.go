package policy

import (
	"slices"
	"strings"
)

// A room is a directory with everything below it that has no room of its own.
type room struct {
	dir string

	// imports lists the rooms that its code may import besides itself.
	imports []string

	// modules lists the modules outside the standard library that its code may
	// import. Empty for all but one.
	modules []string

	// library is set for code that users link: it must be pure.
	library bool

	// network is set where net and what is below it may be used.
	network bool

	// testOnly is set for rooms that only tests and other such rooms import.
	testOnly bool
}

// What lies below the plugins, below the door, and below the examples.
var (
	nouns   = []string{"resource", "framework/api", "framework"}
	shared  = append(slices.Clone(nouns), "estimator", "estimator/capacity", "internal/match", "internal/topo", "internal/volumes")
	plugins = append(slices.Clone(shared), "filter", "scoring", "internal/engine")
	public  = []string{
		"resource", "framework/api", "framework", "framework/frameworktest", "estimator", "estimator/capacity", "estimator/nodemetric", "filter", "scoring",
		"scheduling", "scheduling/config", "scheduling/extender",
	}
)

// rooms is the table of import directions: a room may import itself and what
// its line names, nothing else. The longest matching directory counts.
var rooms = []room{
	{dir: "resource", library: true},
	{dir: "framework/api", imports: []string{"resource"}, library: true},
	{dir: "framework", imports: []string{"resource", "framework/api"}, library: true},
	{dir: "framework/frameworktest", imports: nouns, library: true},
	{dir: "internal/match", imports: nouns, library: true},
	{dir: "internal/topo", imports: append(slices.Clone(nouns), "internal/match"), library: true},
	{dir: "internal/volumes", imports: append(slices.Clone(nouns), "internal/match"), library: true},
	{dir: "estimator", imports: nouns, library: true},
	{dir: "estimator/capacity", imports: nouns, library: true},
	{dir: "estimator/nodemetric", imports: append(slices.Clone(nouns), "estimator"), library: true},
	{dir: "filter", imports: shared, library: true},
	{dir: "scoring", imports: shared, library: true},
	{dir: "internal/engine", imports: nouns, library: true},

	{dir: "scheduling", imports: plugins, library: true},
	{dir: "scheduling/extender", imports: append(slices.Clone(plugins), "scheduling"), library: true, network: true},
	{
		dir:     "scheduling/config",
		imports: append(slices.Clone(plugins), "scheduling", "scheduling/extender"),
		modules: []string{"go.yaml.in/yaml"},
		library: true,
	},

	// What logs and publishes: beside the library, for who wants it.
	{dir: "scheduling/observe", imports: append(slices.Clone(plugins), "scheduling")},

	{dir: "examples", imports: append(slices.Clone(public), "scheduling/observe")},

	{dir: "internal/oracle", imports: nouns, modules: testModules, testOnly: true},
	{dir: "internal/gen", imports: append(slices.Clone(nouns), "framework/frameworktest"), modules: testModules, testOnly: true},
	{dir: "internal/golden", imports: public, testOnly: true},
	{dir: "internal/soak", imports: append(slices.Clone(public), "internal/gen"), testOnly: true},
	{dir: "internal/cmd", imports: append(slices.Clone(public), "internal/gen", "internal/golden", "internal/soak"), testOnly: true},
	{dir: "internal/policy", testOnly: true},
}

// testModules are the modules outside the standard library that tests of any
// room may import.
var testModules = []string{"github.com/google/go-cmp", "pgregory.net/rapid"}

// roomOf returns the room that a directory belongs to.
func roomOf(dir string) (room, bool) {
	var best room
	found := false
	for _, r := range rooms {
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
