// Compare asks the real kube-scheduler and berth the same questions about random
// clusters, in one process, and reports every difference.
//
//	go run ./cmd/compare -seed 1 -cases 100000
//	go run ./cmd/compare -family spread -cases 5000
//	go run ./cmd/compare -family taint -gates TaintTolerationComparisonOperators
//	go run ./cmd/compare -short
//	go run ./cmd/compare -replay case.json
//
// A case is a cluster and a pod to place. Compared are, for each plugin alone,
// what PreFilter says, the verdict and the reasons on every node, what PreScore
// says, raw and normalized scores over all nodes; and, for the whole profile,
// everything up to the chosen node and the text of the error, preemption
// included. A case of the family sequence is a long row of placements, one after
// the other, with pods and nodes that come, change and go in between: there the
// chosen node, or the error, is compared at every step. In the families
// sequence-volumes and sequence-preemption pods reserve volumes, are turned away
// at Reserve or Permit, have their claims bound or not, and make others go and are
// promised their nodes: what is reserved of every volume and claim is compared,
// too, and nodes, victims and messages of preemption. In sequence-objects services,
// ReplicaSets, namespaces, budgets, labels of nodes, and pods where they are change
// between placements. kube-scheduler has one worker, berth the tie rule Heap.
//
// A case that differs is made as small as possible while it still differs in the
// same way, and printed as a line of JSON on the standard output, together with
// kube-scheduler's answers: it can be replayed, and it has the form of a recorded
// answer. The last line is "N cases, M mismatches", and with any mismatch the
// exit status is 1.
package main
