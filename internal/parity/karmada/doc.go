// Package karmada compares berth with Karmada v1.13.0 on random input: the same
// objects, as JSON, go through both.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// The comparison ends with a line "N cases, M mismatches". A case in which
// Karmada is wrong, by one of the faults below, is counted apart, after it was
// checked that the fault, and nothing else, makes the difference:
//
//	panic            Karmada panics; berth answers or returns an error
//	wrap             a number of replicas, or a sum of them, wraps
//	nothing          nothing is requested, times the number of nodes, wraps
//	removed cluster  scaling down gives replicas to a cluster that was removed
//	random tie       what Karmada decides at random, berth decides by name
//	random order     the answer depends on the order of a map: one requested
//	                 resource is in no model, another exceeds every grade
//	as written       models meet only where both write the place alike
//
// Karmada 1.13 divides by the Floor method and estimates by MinCovers. The
// answers of other versions are compared in the golden tests.
package karmada
