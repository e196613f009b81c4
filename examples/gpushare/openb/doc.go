// Package openb is the experiment of "Beware of Fragmentation" (USENIX ATC 2023) on the
// OpenB trace: which part of a cluster's GPUs do policies give out, if pods arrive until
// they ask for 130 % of all GPUs?
//
//	trace, err := openb.Read("default", nodes, pods)
//	series, err := openb.Run(trace, openb.Config{Policy: openb.FGD, Seed: 42})
//	series.Allocation[100] // percent of the GPUs, when 100 % have been asked for
//
// # The experiment
//
// The pods of a workload come in random order, and then random copies of them, until all
// together ask for 1.3 times the GPUs of the cluster. They come one by one and never
// leave. A pod that fits nowhere is dropped. After each pod three figures are taken: the
// GPUs asked for so far, those given out, and the [devices.Fragmentation] of all nodes.
// The published tables hold, for each whole percent asked for, the means of these figures.
//
// The random order is that of the original: the numbers of Go's math/rand for the seed,
// in the order in which the simulator draws them. So every figure of the policies without
// chance can be compared with the published one, digit by digit.
//
// # What it leaves to you
//
// Reading files, and printing. The tables of other workloads of the trace are read in the
// same way.
//
// # Determinism
//
// A run is a function of the trace and its Config.
//
// # Concurrency
//
// A Trace may be shared by goroutines; each Run has a snapshot and a scheduler of its own.
//
// Source: hkust-adsl/kubernetes-scheduler-simulator, the experiments of the paper.
package openb
