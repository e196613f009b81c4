// Package display prints what the examples show: how far they are, and how full
// a cluster is.
package display
