//go:build !nochecks

package runner

// Checks says whether schedulers that verify also check invariants. The build tag nochecks
// leaves the checks out of a program that must be small; both paths are compared all the same.
const Checks = true
