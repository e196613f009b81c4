// Package match compiles the selectors of objects: label selectors, node selectors
// and terms, and taints with their tolerations. Filters, scorers and counters of
// pods or nodes share it.
//
// Compile a selector once, if possible once per pod with framework.NewPodDerived
// ([RequiredNodeAffinityOf], [PreferredNodesOf]); it then matches without
// allocating. Compiling makes the checks of the Kubernetes API and reports problems
// in the same words, because plugins use these texts as reasons.
//
// All results depend only on the arguments. Compiled values are read-only, so many
// goroutines may use them at once.
//
// Source: k8s.io/component-helpers/scheduling/corev1 and
// k8s.io/apimachinery/pkg/labels, v0.37.
package match
