// Package soak drives schedulers through long random histories of a cluster, taking the
// reference path and the incremental path for every decision, and for every attempt to
// make room by preemption.
//
// A history is a function of its seed. It is cut into epochs of up to three thousand
// steps; each has a new cluster, a new profile and a new tie rule. In a step nodes are
// added, changed or removed; pods are bound, replaced or deleted; workloads, budgets and
// volumes change; time passes; the snapshot is forked, and sometimes the schedulers
// with it; a what-if is rolled back; or a pod is scheduled. A pod that finds no node makes room for itself as far as its
// priority allows: its victims go at once or after a while, it is nominated to their
// node, waits, and is tried again.
//
// Each decision is made by a verifying scheduler (see [scheduling.CacheConfig]), which takes
// both paths, and by a reference one. Now and then both decide among some of the nodes. After
// each decision the two must stand at the same place. Every few decisions the verifying
// scheduler checks all invariants of the engine.
//
// A run fails ([Result.Err]) if the paths differ, if the engine has a fault, or if a
// kept class makes fewer decisions than the mix of clusters must give: an engine that
// always steps aside would be right, too.
//
// It is for tests and for the command internal/cmd/soak.
package soak
