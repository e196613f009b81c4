// Package match compiles what objects use to select each other: label
// selectors, node selectors and terms, and taints with their tolerations.
// Filters, scorers and everything that counts pods or nodes share it.
//
// A selector is compiled once, where that is possible per pod through
// framework.NewPodDerived ([RequiredNodeAffinityOf], [PreferredNodesOf]), and
// then matches without allocating. Compiling checks what the Kubernetes API
// would check, and reports it in the same words, because plugins hand those
// texts on as reasons.
//
// Everything here depends on its arguments alone, and compiled values are
// read only: they may be used by many goroutines at once.
//
// Source: k8s.io/component-helpers/scheduling/corev1 and
// k8s.io/apimachinery/pkg/labels, v0.37.
package match
