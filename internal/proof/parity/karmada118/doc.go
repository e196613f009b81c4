// Package karmada118 compares berth with Karmada v1.18.1 on random input: what
// that version has and earlier ones do not, each with its gate on.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// general and sets estimate by first fit on the nodes that the grades stand for,
// beside assumed workloads; quota by resource quotas; schedule decides, with
// overflow tiers and affinity between workloads; weights divides.
//
// The comparison ends with a line "N cases, M mismatches". A case in which
// Karmada is wrong, by one of these faults, is counted apart, after it was
// checked that the fault makes the difference:
//
//	wrap            a number of replicas does not fit into 32 bits
//	not modelled    a requested resource is in no model: 0, and not what the sums
//	                allow
//	overdrawn       a quota of which more is used than there is makes less than
//	                0 replicas
//	two names       a quota bounds one resource as "cpu" and as "requests.cpu"
//	not requested   a quota that assumed workloads exhaust allows nothing to
//	                those who do not request that resource
package karmada118
