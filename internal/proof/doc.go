// Package proof is the second floor of internal: below internal itself lies what the
// library stands on, and below internal/proof what proves it. Nothing that users link
// imports from here.
//
//	golden, replay    recorded answers of the real systems, checked against the plugins
//	oracle            the formulas once more, as plainly as possible
//	gen               random clusters, pods and workloads
//	soak              long random histories, each decision on both paths
//	shapes            the shapes of real clusters, measured on both paths
//	work, amplify     time and memory grow no faster than what others send
//	policy            the rules of the module as tests: imports, words, the API list
//	enough, effort    how long random tests run; testheap: the heap that they run in
//	parity            nested modules that ask the real systems live
//	browser, e2e      nested modules: the page in a browser, a real control plane
//	tools             the pinned linters
//
// The commands of soak and shapes are in internal/cmd.
package proof
