// Package kube runs a scheduler in a real Kubernetes cluster: it follows the cluster by
// client-go, lets package lifecycle decide, and carries the decisions out.
//
//	scheduler, err := kube.New(kube.Config{
//		Client:   client, // a kubernetes.Interface
//		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
//	})
//	err = scheduler.Run(ctx)
//
// It is a module of its own, because it needs client-go. README.md has a whole scheduler
// with a plugin of its own, from an empty folder to bound pods; cmd/berth-scheduler is a
// ready-made one.
//
// # What it does
//
// Run lists and watches what the plugins of kube-scheduler read, and keeps it without the
// fields that scheduling does not read. Nothing is decided before everything is listed and
// this process leads. The first lists are applied in the order of names, so the same cluster
// gives the same order of nodes. A version that is known does nothing.
//
// A decision is written as kube-scheduler writes it: the binding, the conditions
// PodScheduled and DisruptionTarget, status.nominatedNodeName, events of events.k8s.io, the
// reservations of volumes and the allocations of devices. If the answer to a binding is
// lost, the pod counts on its node until the API server says what has become of it.
//
// [Scheduler.Handler] serves metrics and health, [Scheduler.Snapshot] what-ifs about the
// live cluster, and [Scheduler.Extender] kube-schedulers that ask over the extender
// protocol.
//
// # What it leaves to you
//
// The client with its credentials and limits, and serving the handlers. Without
// [Config.LeaderElection] you must make sure that no other scheduler serves the same
// profiles. If the storage of the API server is restored from a backup, restart the
// scheduler: versions of objects run backwards then.
//
// # Determinism and concurrency
//
// The order in which watches deliver, and in which bindings end, is that of the network, so
// two runs may differ. With [Config.Bindings] 1 and one pod at a time they do not. Any
// goroutine may call the methods of a [Scheduler]. When Run returns, none of its goroutines
// is left.
//
// # Cost
//
// A pod takes one request for its binding and one for the event that says so; events wait
// for bindings, up to 5 s. A pod that fails takes one for its condition, and one for an
// event at the powers of two of the failures. The memory is that of the objects in their cut-down form, once.
//
// Differs: events.
// Original: kube-scheduler writes the second of a series and then its end, and starts a
// goroutine for each event.
// Here: the count is written at the powers of two, by 64 writers that leave the API server
// to bindings for up to 5 s. 16,384 events can wait.
// Why: the count is nearly right at any time, for as few requests; in a burst, pods start
// earlier; memory is bounded.
//
// Source: kube-scheduler 1.37, eventhandlers.go, schedule_one.go, framework/preemption,
// cmd/kube-scheduler, and client-go 0.37.
package kube
