// Package framework holds the nouns of scheduling and the contract that
// plugins fulfil.
package framework
