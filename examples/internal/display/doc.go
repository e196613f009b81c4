// Package display prints the progress of the examples.
package display
