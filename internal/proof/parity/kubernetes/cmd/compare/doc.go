// Compare asks the real kube-scheduler and berth the same questions about random
// clusters, in one process, and reports every difference.
//
//	go run ./cmd/compare -seed 1 -cases 100000
//	go run ./cmd/compare -family spread -cases 5000
//	go run ./cmd/compare -family taint -gates TaintTolerationComparisonOperators
//	go run ./cmd/compare -short
//	go run ./cmd/compare -replay case.json
//
// A case is a cluster and a pod to place. For each plugin alone, Compare compares
// PreFilter's answer, the verdict and the reasons on every node, PreScore's answer,
// and raw and normalized scores over all nodes. For the whole profile, it compares
// everything up to the chosen node and the text of the error, preemption included.
// kube-scheduler has one worker, berth the tie rule Heap.
//
// A case of the family sequence is a long series of placements. In between, pods and
// nodes are added, change and are deleted. Compare compares the chosen node, or the
// error, at every step.
//
// In the families sequence-volumes and sequence-preemption, pods reserve volumes,
// are rejected at Reserve or Permit, have their claims bound or not, preempt others
// and are nominated to nodes. Compare also compares the reservations of every volume
// and claim, and nodes, victims and messages of preemption. In sequence-objects,
// services, ReplicaSets, namespaces, budgets, labels of nodes, and pods on their
// nodes change between placements.
//
// If a case differs, Compare makes it as small as possible while it still differs in
// the same way. It prints the case as a line of JSON on the standard output,
// together with kube-scheduler's answers. You can replay that line, and it has the
// form of a recorded answer. The last line is "N cases, M mismatches", and with any
// mismatch the exit status is 1.
package main
