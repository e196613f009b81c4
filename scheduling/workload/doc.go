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
// It follows nothing: package
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
// Original: a ReplicaSet makes them, which the Deployment's controller makes.
// Here: the Deployment makes them. They have the label pod-template-hash, and kube-scheduler's default constraints spread
// them, as long as the snapshot has the Deployment.
// Why: a question about a manifest, or a simulation of one, has no ReplicaSets.
//
// Differs: the value of pod-template-hash.
// Original: a hash of the template as Go has it in memory.
// Here: a hash of its JSON. It is the one of the ReplicaSet with this template if that is among the objects. Without
// ReplicaSets it is that of the Deployment's pods among the objects, if they all have the same.
// Why: the original depends on the types of a release.
//
// Differs: numbers of pods that an indexed Job makes after others have succeeded.
// Original: those that status.completedIndexes does not have.
// Here: the caller counts from 0 on.
// Why: only how many have succeeded is read.
//
// Differs: a StatefulSet's claims.
// Original: the controller makes them.
// Here: they are left out.
// Why: the pods are for a question or a simulation, not for a cluster.
package workload
