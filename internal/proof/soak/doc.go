// Package soak drives schedulers through long random histories of a cluster,
// taking the plain and the fast road for every decision, and for every attempt
// to make room by preemption.
//
// A history is a function of its seed. It is cut into epochs of up to three
// thousand steps; each has a new cluster, a new profile and a new tie rule. In a step
// nodes come, change or go, pods are bound, replaced or deleted, workloads,
// budgets and volumes change, time passes, the snapshot is forked or a what-if is
// rolled back, or a pod is scheduled. A pod that finds no node makes room for
// itself as far as its priority allows: its victims go at once or after a while,
// it is nominated to their node, waits, and is tried again.
//
// Each decision is taken three times: by a scheduler that verifies its fast road
// (see [scheduling.CacheConfig]), and by one that has none.
//
// It is for tests and for the command internal/cmd/soak.
package soak
