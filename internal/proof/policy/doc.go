// Package policy keeps the rules of the module as tests.
//
// It has no code of its own: each rule is a test over the source of the
// module, and its error text says what to do.
//
//   - Packages import each other in one direction only (importrules_test.go holds the
//     table, imports_test.go the check).
//   - Code that is not a test imports the standard library and this module
//     alone; package scheduling/config, which reads YAML, is the one exception.
//   - The library has no wall clock, no package-level random source, no log, no
//     files, no network and no init functions (purity_test.go).
//   - A floating-point product is rounded before it is added to anything, so
//     that no compiler may fuse the two (fma_test.go).
//   - Every exported name has a comment (docs_test.go).
//   - The page of every package says what a newcomer needs (pages_test.go).
//   - Every exported type of the library is shown in an Example that is run
//     (examples_test.go).
//   - Every plugin is handed to the conformance kit (conformance_test.go).
//   - DEVIATIONS.md lists what the comments say under "Differs:"
//     (deviations_test.go).
//   - The top level of the repository stays as it is (toplevel_test.go).
//
// Each check also runs over a small source text that breaks its rule, so that
// a check which finds nothing any more is itself found.
package policy
