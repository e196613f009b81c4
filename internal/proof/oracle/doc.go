// Package oracle transcribes the formulas of kube-scheduler as plainly as
// possible, for tests to compare the fast code with. Nothing here is tuned:
// integers are big, selectors are read as they are written, and totals are
// added up from the objects again for every question.
//
// Source: kube-scheduler 1.37.1, unless a function names another version.
package oracle
