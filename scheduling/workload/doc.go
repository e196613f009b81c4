// Package workload makes the pods that a Deployment, StatefulSet, Job or DaemonSet stands
// for, as their controllers do.
//
//	for _, w := range workload.Of(objects) {
//		pods, err := w.Pods(objects.Nodes)
//		...
//	}
//
// A workload that is being deleted makes no pods. [Of] lists it all the same, so that its template
// is at hand.
//
// # What it leaves to you
//
// It gives pods no names, except those of a DaemonSet, and follows nothing: package
// simulate has controllers that keep the number of pods as time passes. Set the defaults
// of the API server with api.Objects.Default.
//
// # Determinism and concurrency
//
// Results depend on the arguments alone. Functions may run at the same time if nobody
// changes the objects.
//
// Source: the controllers of Kubernetes 1.37.
//
// Differs: a StatefulSet's claims.
// Original: the controller makes them.
// Here: they are left out.
// Why: the pods are for a question or a simulation, not for a cluster.
package workload
