// Package karmada compares berth with Karmada v1.13.0 on random input: the same
// objects, as JSON, go through both.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/bench
//
// The module karmada116 builds the same cases with Karmada v1.16.0; a [Version]
// holds the differences. The module karmada118 compares the new features of Karmada
// v1.18.1, on its own cases. The first two divide the work into kinds of cases, see
// [Version.Kinds].
//
// The comparison ends with a line "N cases, M mismatches". If Karmada is wrong in a
// case, by one of the faults below, the case is counted separately. First the
// comparison checks that the fault, and nothing else, makes the difference: if an
// estimate is wrong, Karmada decides again with the right one, and must then agree.
// This does not work for two faults, wrapped sums and the division by the number of
// clusters that can take all. For these, it checks that the input leads to them.
//
//	panic            Karmada panics; berth answers or returns an error
//	wrap             a number of replicas, or a sum of them, wraps
//	nothing          nothing is requested, times the number of nodes, wraps
//	removed cluster  scaling down gives replicas to a cluster that was removed
//	random tie       Karmada breaks a tie at random, berth by name
//	random order     the answer depends on the order of a map: one requested
//	                 resource is in no model, another exceeds every grade
//	as written       models meet only if both write the boundary alike
//
// Karmada 1.13 divides by the Floor method, 1.16 by Webster's; both estimate by
// Karmada113. Only the golden tests compare the answers of 1.11.
package karmada
