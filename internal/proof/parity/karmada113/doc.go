// Package karmada compares berth with Karmada v1.13.0 on random input: the same
// objects, as JSON, go through both.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// The module karmada116 builds the same cases with Karmada v1.16.0: a [Version]
// holds what is different. The module karmada118 compares what Karmada v1.18.1
// has more, on its own cases. The first two divide the work into kinds of cases, see
// [Version.Kinds].
//
// The comparison ends with a line "N cases, M mismatches". A case in which
// Karmada is wrong, by one of the faults below, is counted apart, after it was
// checked that the fault, and nothing else, makes the difference: where an
// estimate is wrong, Karmada decides again with the right one, and must then
// agree. Two faults cannot be taken out of the way like that, wrapped sums and
// the division by the number of clusters that can take all: there it is checked
// that the input leads to them.
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
// Karmada 1.13 divides by the Floor method, 1.16 by Webster's; both estimate by
// Karmada113. The answers of 1.11 are compared in the golden tests only.
package karmada
