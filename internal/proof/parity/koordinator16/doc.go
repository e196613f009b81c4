// Package koordinator16 compares load-aware scheduling by the rules up to 1.6
// with the real plugin of Koordinator 1.6.0, which it imports, as the package
// koordinator does with that of 1.8.0. The package koordinator15 is built with
// 1.5.0.
//
//	go test -run TestCompare -seed 1 -cases 20000
//
// What these versions do not know is taken out of the cases: arguments that came
// later, and a null among the reports of pods, which their plugin panics at. Cases
// are left out in which two pods have one name or a pod changes its node: of
// namesakes the plugin knows the one that came last, and of a pod that has moved it
// keeps a ghost; see estimator.Ledger.
package koordinator16
