// Package controlplane builds the programs of a Kubernetes control plane from their
// modules and runs them as child processes.
package controlplane
