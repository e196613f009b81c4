// Package api holds the API objects that scheduling reads: Pod, Node and the other
// Kubernetes kinds, Koordinator's NodeMetric and Karmada's Cluster.
//
//	objects, err := api.Decode(data) // the output of "kubectl get nodes,pods -A -o json"
//	err = objects.Default()          // fill in the defaults of the API server
//	pod := api.MakePod("web").Requests("500m", "1Gi").Obj()
//
// Field names, Go names and the JSON form follow the Kubernetes API, cut down to
// what scheduling reads. [Decode] ignores other fields and kinds, and counts them
// in [Objects].SkippedFields and Skipped, so you can find a misspelt field there.
//
// # What it holds
//
//	kinds      one file for each group of types, such as pod.go, node.go, storage.go
//	decoding   [Decode] for files and lists, [DecodeObject] for one object
//	defaults   [Objects.Default], [DefaultPod]
//	builders   [MakePod], [MakeNode], for tests and short programs
//	selectors  [ParseLabelSelector], [ParseNodeSelectorTerm]
//	sums       [PodRequests], [PodImages]
//	errors     [InvalidError] names the object, the field and the value
//
// # What it leaves to you
//
// Nothing here schedules: package framework derives the input of plugins from these
// objects. Objects are plain values. Do not change one while a snapshot holds it.
// Objects of [Decode] share equal parts: change a [Clone] of them. A pod as kubectl
// prints it, with two containers, needs about 3 KB together with its PodInfo, and a node
// about 7 KB, most of it for the names of 30 images
// (go test ./framework -run xxx -bench Load).
//
// # Determinism and concurrency
//
// The package keeps no state. Several goroutines may call all functions, but only
// one at a time may change an object or an [Objects]. The same input gives the same
// result.
//
// Source: k8s.io/api v0.37 (Kubernetes 1.37), Koordinator 1.8 (slo/v1alpha1) and
// Karmada 1.18 (cluster/v1alpha1).
package api
