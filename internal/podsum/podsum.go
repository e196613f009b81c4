// Package podsum adds up the requests of the containers of a pod.
package podsum

import "github.com/berth-sched/berth/resource"

// A Sum adds up containers, one after another: first all containers, then the init
// containers in their order. A container costs O(names that it requests), however many
// the pod requests in all.
//
// Invariant: peak has every name of sidecars, and is at least as large for it.
type Sum struct {
	running  resource.List // containers and sidecars
	sidecars resource.List // those that run by now
	peak     resource.List // of the initialization
}

// Container adds to the amount of a resource that a container requests.
func (s *Sum) Container(name resource.Name, q resource.Quantity) { add(&s.running, name, q) }

// Sidecar adds to the amount of a resource that a sidecar requests, which keeps running
// beside the containers.
func (s *Sum) Sidecar(name resource.Name, q resource.Quantity) {
	add(&s.running, name, q)
	raise(&s.peak, name, add(&s.sidecars, name, q))
}

// Init is about a resource that an init container requests. It runs beside the sidecars
// before it only.
func (s *Sum) Init(name resource.Name, q resource.Quantity) {
	if beside, ok := s.sidecars[name]; ok {
		q = q.Add(beside)
	}
	raise(&s.peak, name, q)
}

// Total returns the larger of the sum of the containers and the peak during
// initialization, per resource. The Sum must not be used any more.
func (s *Sum) Total() resource.List {
	for name, q := range s.peak {
		raise(&s.running, name, q)
	}
	if s.running == nil {
		return resource.List{}
	}
	return s.running
}

// add adds to an entry of a list and returns it.
func add(l *resource.List, name resource.Name, q resource.Quantity) resource.Quantity {
	if *l == nil {
		*l = resource.List{}
	}
	if before, ok := (*l)[name]; ok {
		q = before.Add(q)
	}
	(*l)[name] = q
	return q
}

// raise makes an entry of a list at least q. It keeps its own notation if they are equal.
func raise(l *resource.List, name resource.Name, q resource.Quantity) {
	if *l == nil {
		*l = resource.List{}
	}
	if before, ok := (*l)[name]; !ok || before.Cmp(q) < 0 {
		(*l)[name] = q
	}
}
