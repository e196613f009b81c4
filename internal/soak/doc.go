// Package soak drives schedulers through long random histories of a cluster,
// taking the plain and the fast road for every decision.
//
// A history is a function of its seed. It is cut into epochs of a few thousand
// steps; each has a new cluster, a new profile and a new tie rule. In a step
// nodes come, change or go, pods are bound, replaced or deleted, time passes,
// the snapshot is forked or a what-if is rolled back, or a pod is scheduled.
//
// It is for tests and for the command internal/cmd/soak.
package soak
