// Package runner holds what only this module's own runners (packages scheduling,
// preemption and frameworktest) keep with a pod or a cycle. It lies below package
// framework, whose types have a method Runner that leads here. So the page of
// framework stays the page of a plugin's author.
package runner

import (
	"reflect"
	"sync/atomic"
)

// A Cycle is the runner's part of a framework.Cycle. The zero value is ready.
type Cycle struct {
	// At is the number of the plugin that runs next. Every pair of plugin and
	// extension point has its own small number, and its own scratch memory.
	At int
	// Sets counts the values that plugins have set, not only offered, since the
	// cycle began. Plugins that set values must be asked in every decision.
	Sets int
	// SkipPostFilter keeps the PostFilter plugins from running; see
	// [Cycle.SetSkipPostFilter].
	SkipPostFilter bool
	// Lookup belongs to package topo: when the plugins of the cycle looked something up first,
	// 0 if they have not.
	Lookup uint64
	// DryRuns is what preemption may use of earlier attempts; nil for nothing.
	DryRuns *DryRuns
}

// Reset makes c ready for another pod.
func (c *Cycle) Reset() {
	c.At, c.Sets, c.SkipPostFilter, c.Lookup = 0, 0, false, 0
	if c.DryRuns != nil { // rarely
		c.DryRuns = nil
	}
}

// SetSkipPostFilter sets SkipPostFilter. Like a value that is set for others, it
// makes the plugin that calls it be asked in every decision.
func (c *Cycle) SetSkipPostFilter(skip bool) {
	c.SkipPostFilter = skip
	c.Sets++
}

// DryRuns lets a preemption plugin keep what its dry runs on nodes came to, from
// one attempt to the next. A scheduler owns one and calls Begin before each
// attempt. By that it vouches that all filters of the cycle read nothing but the
// pod, the node and the node's pods.
type DryRuns struct {
	// Class is equal for pods that all filters of the attempt's cycle, and
	// preemption itself, treat alike.
	Class string
	// Kept belongs to the plugin.
	Kept any
	// Verify makes the plugin find out again, after each attempt, what it has kept.
	Verify bool

	pod, filters any
}

// Begin prepares for an attempt of a cycle with this pod and these filters.
func (d *DryRuns) Begin(class string, pod, filters any) {
	if !reflect.ValueOf(filters).Comparable() {
		filters = nil
	}
	d.Class, d.pod, d.filters = class, pod, filters
}

// Fits reports whether the attempt is for this pod and these filters. It is not if
// someone has put others into the cycle, or if the filters cannot be compared.
func (d *DryRuns) Fits(pod, filters any) bool {
	return d.pod != nil && d.pod == pod && d.filters != nil && d.filters == filters
}

// A Pod is the runner's part of a framework.PodInfo: one entry, that of the
// [Cache] that was written to last. An entry may be gone at any time. Reading and
// writing is safe for concurrent use.
type Pod struct {
	entry atomic.Pointer[Entry]
	// Counted belongs to package topo: what the pod counts as, if it has no terms.
	Counted atomic.Pointer[Counted]
	// Parts and OnlyNode never change.
	Parts Parts
	// First is of the pod that this one is a replica of, nil if of none. Replicas differ in
	// name and UID only.
	First *Pod
	// OnlyNode is the name of the only node that the pod can run on, if its affinity says that
	// and nothing else, as that of a DaemonSet's pod does; "" otherwise.
	OnlyNode [1]string
}

// Original returns First, or the pod itself without one.
func (p *Pod) Original() *Pod {
	if p.First != nil {
		return p.First
	}
	return p
}

// Parts say which parts a pod has, so that asking spares a look at the object.
type Parts uint16

// The parts of a pod.
const (
	HasPodAffinity Parts = 1 << iota
	HasSpread
	HasVolumes
	IsNominated
	HasClaims
	HasExtended // requests a resource that a device class may stand behind
	NamesNodes  // a required node affinity term is about the name of a node
	HasGates
	HasNodeName
	HasHostPorts
	NeedsFeatures   // may need a feature that nodes declare
	ToleratesCordon // of a node; without it, a pod still may
	HasUnknown      // requests a resource that the schema has no number for
)

// A Counted is shared by pods that count as the same.
type Counted struct {
	Text string
	// At is the number of the class in some tables that had this.
	At atomic.Int32
	// Seen is the same for all of these pods.
	Seen Seen
}

// Seen is what terms of pods in the cluster see of a pod, as package topo found it last.
type Seen = atomic.Pointer[SeenText]

// A SeenText holds as long as a version does.
type SeenText struct {
	Version uint64
	Text    string
}

// A Cache is where a runner keeps what it found out about pods, so that it need
// not look it up again. Make one with [NewCache].
type Cache[T any] struct{ id identity }

// An identity tells caches of all types apart, by its address.
type identity struct{ _ byte } // with a size, so that each has its own address

// An Entry of a cache holds a value, which many pods may share.
type Entry struct {
	of    *identity
	value any
}

// NewCache returns an empty cache.
func NewCache[T any]() *Cache[T] { return new(Cache[T]) }

// Entry returns an entry that holds v. It must not change, unless its readers take
// care of that.
func (c *Cache[T]) Entry(v *T) *Entry { return &Entry{&c.id, v} }

// Load returns the pod's value, nil if it has none of this cache.
func (c *Cache[T]) Load(p *Pod) *T {
	if e := p.entry.Load(); e != nil && e.of == &c.id {
		return e.value.(*T)
	}
	return nil
}

// Store gives the pod an entry of this cache.
func (c *Cache[T]) Store(p *Pod, e *Entry) { p.entry.Store(e) }
