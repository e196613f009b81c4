// Package oracle transcribes the formulas of kube-scheduler as plainly as possible,
// so that tests can compare the fast code with them. Nothing here is tuned: integers
// are big, selectors are evaluated as written, and every question adds up its totals
// from the objects again.
//
// Source: kube-scheduler 1.37.1, unless a function names another version.
package oracle
