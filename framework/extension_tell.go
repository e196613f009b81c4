package framework

import (
	"errors"
	"fmt"
)

// ErrBroken is in the error of every method that changes a snapshot, once an extension
// has panicked where the snapshot could not take back what it did: in a rollback, when it was told of a
// node or an object, or when the snapshot was made as a fork. From then on the snapshot refuses all changes
// and decisions, because totals of the extension may be wrong. Make a new one.
var ErrBroken = errors.New("the snapshot is broken: an extension panicked where nothing could be taken back; make a new one")

// Broken returns the error that the snapshot answers all changes with, once it is broken, and
// nil before. See [ErrBroken].
func (s *Snapshot) Broken() error {
	if s == nil {
		return nil
	}
	return s.broken
}

// breakBy notes that the state of an extension is unknown.
func (s *Snapshot) breakBy(err error) {
	if s.broken == nil {
		s.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	}
}

// panicked returns the error about an extension that panicked with v.
func panicked(extension any, method string, v any) error {
	return fmt.Errorf("extension %T: %s: panic: %v", extension, method, v)
}

// A podEvent is a method of [PodWatcher].
type podEvent uint8

const (
	podAdded podEvent = iota
	podRemoved
)

func (e podEvent) String() string { return [...]string{"PodAdded", "PodRemoved"}[e] }

// tellPods tells the watchers of pods from one number up to another of a pod. If one
// panics, it stops and returns its number and an error.
func (s *Snapshot) tellPods(e podEvent, from, to int, n *NodeInfo, p *PodInfo) (at int, err error) {
	defer func() {
		if at == to { // nothing panicked: recover is not free
			return
		}
		if v := recover(); v != nil {
			err = panicked(s.podWatchers[at], e.String(), v)
		}
	}()
	for at = from; at < to; at++ {
		seen := p
		if len(s.views) > 0 {
			if seen = s.views.of(p, n.Slot(), at); seen == nil {
				continue
			}
		}
		if w := s.podWatchers[at]; e == podAdded {
			w.PodAdded(s, n, seen)
		} else {
			w.PodRemoved(s, n, seen)
		}
	}
	return to, nil
}

// tellPodsBack tells the watchers of pods from one number up to another of the opposite of what they were
// told before. One that panics breaks the snapshot.
func (s *Snapshot) tellPodsBack(e podEvent, from, to int, n *NodeInfo, p *PodInfo) {
	for ; from < to; from++ {
		at, err := s.tellPods(e, from, to, n, p)
		if err != nil {
			s.breakBy(err)
		}
		from = at
	}
}

// tellNodes tells the extensions of a node. One that panics breaks the snapshot.
func (s *Snapshot) tellNodes(method string, call func(NodeWatcher)) error {
	return s.tellEach(method, func(e *extension) {
		if e.nodes != nil {
			call(e.nodes)
		}
	})
}

// tellObjects tells the extensions of another object. One that panics breaks the
// snapshot.
func (s *Snapshot) tellObjects(key string, obj any) error {
	return s.tellEach("ObjectChanged", func(e *extension) {
		if e.objects != nil {
			e.objects.ObjectChanged(s, key, obj)
		}
	})
}

// tellCommitted tells an extension that the outermost transaction has been committed. If it
// panics, it breaks the snapshot.
func (s *Snapshot) tellCommitted(w commitWatcher) {
	defer func() {
		if v := recover(); v != nil {
			s.breakBy(panicked(w, "Committed", v))
		}
	}()
	w.Committed(s)
}

// tellReleased tells an extension that a pod has gone. If it panics, it breaks the snapshot.
func (s *Snapshot) tellReleased(h podHolder, p *PodInfo) {
	defer func() {
		if v := recover(); v != nil {
			s.breakBy(panicked(h, "PodReleased", v))
		}
	}()
	h.PodReleased(s, p)
}

func (s *Snapshot) tellEach(method string, call func(*extension)) error {
	for i := range s.extensions {
		if err := guardExtension(&s.extensions[i], method, call); err != nil {
			s.breakBy(err)
		}
	}
	return s.broken
}

func guardExtension(e *extension, method string, call func(*extension)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(e.value, method, v)
		}
	}()
	call(e)
	return nil
}
