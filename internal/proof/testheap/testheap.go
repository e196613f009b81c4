// Package testheap runs the tests of packages that make much garbage and keep little.
package testheap

import (
	"flag"
	"runtime/debug"
	"testing"
)

// Main runs the tests with a heap that may grow to five times what is in use; with the
// usual heap a third of their time would go into collecting it. Benchmarks run with
// the usual heap. Call it from TestMain.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
	m.Run()
}
