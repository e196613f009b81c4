package framework

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/resource"
)

// A Checker is an extension that can check itself; see [Snapshot.Check].
type Checker interface {
	Extension
	// Check finds anew what the extension keeps about s, and returns the first thing that
	// differs, nil if nothing does.
	Check(s *Snapshot) error
}

// checkExtension asks a Checker. A panic is an error.
func (s *Snapshot) checkExtension(c Checker) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(c, "Check", v)
		}
	}()
	return c.Check(s)
}

// Check finds anew what the snapshot keeps beside its nodes, pods and objects, asks every
// extension that is a [Checker], and returns the first thing that differs, nil if nothing
// does. It is slow and meant for tests. A scheduler that verifies calls it every few
// decisions.
func (s *Snapshot) Check() error {
	if err := s.check(); err != nil {
		return err
	}
	affine := 0
	for _, n := range s.All() {
		for _, p := range n.Pods {
			if p.HasPodAffinity() {
				affine++
			}
		}
		if err := n.checkPlaces(); err != nil {
			return err
		}
	}
	if affine != s.affine {
		return fmt.Errorf("%d pods have pod affinity, and %d are counted", affine, s.affine)
	}
	if err := s.checkPriorities(); err != nil {
		return err
	}
	if err := s.checkViews(); err != nil {
		return err
	}
	for _, t := range s.tables {
		if err := t.check(); err != nil {
			return err
		}
	}
	for i := range s.extensions {
		if c, ok := s.extensions[i].value.(Checker); ok {
			if err := s.checkExtension(c); err != nil {
				return err
			}
		}
	}
	for _, n := range s.All() {
		if err := n.checkTotals(); err != nil {
			return err
		}
	}
	return nil
}

// checkViews returns an error about what watchers see of a pod that is not there. In a transaction it may come back.
func (s *Snapshot) checkViews() error {
	if s.undo.isOpen() {
		return nil
	}
	for at, seen := range s.views {
		if n := s.AtSlot(at.slot); n == nil || !slices.Contains(n.Pods, at.pod) || len(seen) == 0 {
			return fmt.Errorf("%d watchers see something else of %s in slot %d, which is not there", len(seen), podObject(at.pod.Pod), at.slot)
		}
	}
	return nil
}

// checkTotals compares the totals with sums over the pods, each found by itself.
func (n *NodeInfo) checkTotals() error {
	schema, full := n.static.schema, false
	sum := func(of func(p *PodInfo) int64) (total int64) {
		for _, p := range n.Pods {
			total = resource.SatAdd(total, of(p))
		}
		full = full || total == math.MaxInt64
		return total
	}
	for i := range max(len(n.Requested), schema.Len()) {
		has := false
		if i < schema.Len() {
			_, has = n.Node.Status.Allocatable[schema.Name(i)]
		}
		want := sum(func(p *PodInfo) int64 {
			used := p.UsedRequests.At(i)
			if has {
				used += p.UnknownRequest(schema.Name(i)).Used // a pod has a name in one of the two
			}
			return used
		})
		if got := n.Requested.At(i); got != want {
			return fmt.Errorf("node %s: total %d is %d, that of its pods %d", n.name, i, got, want)
		}
	}
	for i, got := range n.NonZeroRequested {
		if want := sum(func(p *PodInfo) int64 { return p.UsedNonZero[i] }); got != want {
			return fmt.Errorf("node %s: the total with defaults %d is %d, that of its pods %d", n.name, i, got, want)
		}
	}
	if full && !n.full {
		return fmt.Errorf("node %s: a total is the largest int64, and that is not noted", n.name)
	}
	return nil
}

// checkPlaces compares the index of the node's pods with the pods.
func (n *NodeInfo) checkPlaces() error {
	if n.places == nil || n.places.of == nil {
		return nil
	}
	count := map[podIdentity]int32{}
	for _, p := range n.Pods {
		count[identityOf(p)]++
	}
	if len(n.Pods) <= manyPods || len(count) != len(n.places.of) {
		return fmt.Errorf("node %s: it has %d pods of %d identities, and an index of %d", n.name, len(n.Pods), len(count), len(n.places.of))
	}
	for i, p := range n.Pods {
		switch at := n.places.of[identityOf(p)]; {
		case at.count != count[identityOf(p)]:
			return fmt.Errorf("node %s: the index has %d pods like %s, want %d", n.name, at.count, podObject(p.Pod), count[identityOf(p)])
		case at.place >= 0 && int(at.place) != i:
			return fmt.Errorf("node %s: the index has %s at place %d, want %d", n.name, podObject(p.Pod), at.place, i)
		}
	}
	return nil
}

// check compares the sorted lists with the objects, and each object with its key.
func (t *table) check() error {
	for key, obj := range t.objects {
		if obj == t.none || t.keyOf(obj) != key {
			return fmt.Errorf("objects: the key %q has the object %v", key, obj)
		}
	}
	sorted := t.sorted.Load()
	if sorted == nil {
		return t.compare(t.arrange(), nil)
	}
	return t.compare(sorted.entries, sorted.list)
}

// compare compares a listing with the objects. list is nil if there is only half of it.
func (t *table) compare(entries []entry, list any) error {
	keys := slices.Sorted(maps.Keys(t.objects))
	same := len(entries) == len(keys) && (list == nil || reflect.ValueOf(list).Len() == len(keys))
	for i := 0; same && i < len(keys); i++ {
		obj := t.objects[keys[i]]
		same = entries[i] == entry{keys[i], obj} && (list == nil || reflect.ValueOf(list).Index(i).Interface() == obj)
	}
	if !same {
		return fmt.Errorf("objects: %T lists %d objects otherwise than by their keys, or others than the %d that there are", t.none, len(entries), len(keys))
	}
	return nil
}

// Check implements [Checker]: it looks for every pod by its name.
func (x *podIndex) Check(s *Snapshot) error {
	if x.snapshot != s {
		return fmt.Errorf("index of pods: it is another snapshot's")
	}
	count := map[podName]int32{}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			count[nameOf(p)]++
		}
	}
	for name, place := range x.places.All() {
		switch n := s.AtSlot(int(place.slot)); {
		case place.others != count[name]-1:
			return fmt.Errorf("index of pods: %v has %d others, want %d", name, place.others, count[name]-1)
		case n == nil || !slices.Contains(n.Pods, place.pod) || nameOf(place.pod) != name:
			return fmt.Errorf("index of pods: %v is not on the node of slot %d", name, place.slot)
		}
		delete(count, name)
	}
	for name, pods := range count {
		return fmt.Errorf("index of pods: %v is missing, %d pods have this name", name, pods)
	}
	return nil
}
