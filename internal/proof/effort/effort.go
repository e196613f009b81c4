// Package effort says how long random tests may take.
package effort

import "os"

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
