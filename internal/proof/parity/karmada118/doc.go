// Package karmada118 compares berth with Karmada v1.18.1 on random input. It covers
// the features that earlier versions lack, each with its gate on.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// The kinds general and sets estimate by first fit on the nodes that the grades
// stand for, beside assumed workloads. quota estimates by resource quotas. schedule
// decides, with overflow tiers and affinity between workloads. weights divides.
//
// The comparison ends with a line "N cases, M mismatches". If Karmada is wrong in a
// case, by one of these faults, the case is counted separately, after a check that
// the fault makes the difference:
//
//	wrap            a number of replicas does not fit into 32 bits
//	not modelled    a requested resource is in no model: 0, and not the number
//	                that the sums allow
//	overdrawn       a quota with more used than allowed makes less than
//	                0 replicas
//	two names       a quota bounds one resource as "cpu" and as "requests.cpu"
//	not requested   a quota that assumed workloads exhaust allows nothing to
//	                workloads that do not request that resource
package karmada118
