// Package record writes events of the group events.k8s.io.
//
// Events of different pods are written side by side, so they keep up with bindings under the
// same client limits. In a burst of bindings they wait for up to 5 s. Equal ones of a pod
// become a series, whose count is written at the powers of two. Nobody waits for an event: a
// queue is bounded, and what finds no room is dropped and counted.
//
// Source: client-go 0.37, tools/events: the key of a series, and an event that the API
// server does not answer is tried 12 times.
package record
