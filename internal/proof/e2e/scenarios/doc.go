// Package scenarios has the end-to-end tests, one scenario a file.
package scenarios
