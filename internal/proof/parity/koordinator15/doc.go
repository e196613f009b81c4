// Package koordinator15 compares load-aware scheduling by the rules of 1.5 with the
// real plugin of Koordinator 1.5.0. It builds the cases of the package koordinator16
// with that version.
//
//	go test -run TestCompare -seed 1 -cases 20000
package koordinator15
