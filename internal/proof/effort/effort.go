// Package effort says how long random tests may take.
package effort

import (
	"flag"
	"os"
)

// Full reports whether random tests do all of their work: whether BERTH_FULL is set, as
// the gate sets it. Without it they do a part, so that go test ./... stays quick.
func Full() bool { return os.Getenv("BERTH_FULL") != "" }

// Of returns full if tests do all of their work, else quick.
func Of(quick, full int) int {
	if Full() {
		return full
	}
	return quick
}

// Rapid makes rapid check each property on so many inputs, if tests do not do all of
// their work and no flag asks for another number. Call it from TestMain, before the
// tests run.
func Rapid(checks string) error {
	if Full() {
		return nil
	}
	flag.Parse()
	const name = "rapid.checks"
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return nil
	}
	return flag.Set(name, checks)
}
