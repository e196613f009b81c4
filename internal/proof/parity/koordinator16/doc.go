// Package koordinator16 compares load-aware scheduling by the rules up to 1.6 with
// the real plugin of Koordinator 1.6.0, which it imports. The package koordinator
// does the same with 1.8.0. The package koordinator15 is built with 1.5.0.
//
//	go test -run TestCompare -seed 1 -cases 20000
//
// It removes from the cases what these versions do not know: arguments that came
// later, and a null among the reports of pods, which makes their plugin panic. It
// skips cases in which two pods have one name or a pod changes its node. If two pods
// have one name, the plugin knows only the last one; if a pod has moved, the plugin
// keeps a stale copy of it; see estimator.Ledger.
package koordinator16
