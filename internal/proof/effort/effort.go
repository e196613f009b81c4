// Package effort says how long random tests may take.
package effort

import "flag"

// Full reports whether random tests do all of their work: whether they were built with the
// tag full, as the gate builds them. Without it they do a part, so that go test ./... stays
// quick.
func Full() bool { return full }

// Of returns full if tests do all of their work, else quick.
func Of(quick, full int) int {
	if Full() {
		return full
	}
	return quick
}

// Suffices reports whether a test with random cases may stop: these have shown what they
// must, and tests need not do all of their work.
func Suffices(shown bool) bool { return shown && !Full() }

// Rapid makes rapid check each property on 15 inputs instead of 100, if tests do not do
// all of their work and no flag asks for a number. Call it from TestMain, before the tests
// run. It panics in a test without rapid.
func Rapid() {
	flag.Parse()
	const name = "rapid.checks"
	asked := Full()
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return
	}
	if err := flag.Set(name, "15"); err != nil {
		panic(err)
	}
}
