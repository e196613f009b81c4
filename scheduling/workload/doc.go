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
// Differs: the pods of a Deployment.
// Original: a ReplicaSet makes them, which the Deployment's controller makes. They have the label pod-template-hash,
// and kube-scheduler spreads them by its default constraints, also without a Service.
// Here: the Deployment makes them, so they have neither. A Service, or the ReplicaSet in place of the Deployment, gives them
// the constraints.
// Why: this is not done yet.
//
// Differs: labels that tell the pods of a StatefulSet or an indexed Job apart.
// Original: the controllers add them, such as apps.kubernetes.io/pod-index.
// Here: they are left out.
// Why: pods have no names here.
//
// Differs: a StatefulSet's claims.
// Original: the controller makes them.
// Here: they are left out.
// Why: the pods are for a question or a simulation, not for a cluster.
package workload
