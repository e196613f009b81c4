//go:build nochecks

package runner

// Checks says that there are no checks of invariants.
const Checks = false
