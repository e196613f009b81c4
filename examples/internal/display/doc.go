// Package display prints the progress of the examples, and how full a cluster is.
package display
