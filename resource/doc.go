// Package resource holds resource names, exact quantities in Kubernetes'
// grammar, resource lists, and dense vectors over a schema.
package resource
