package resource

import (
	"fmt"
	"slices"
)

// MaxNames is the greatest number of resource names in a [Schema] filled by
// [Schema.Admit], cpu, memory and ephemeral-storage included. It bounds the vectors
// of a cluster, because a vector reaches to its last resource. Without a bound,
// nodes with names of their own would cost memory that grows with the square of
// their number.
//
// A name counts for as long as the Schema lives, even if no object uses it any
// more. Existing vectors refer to it by number and are listed nowhere, so its
// number cannot be given to another name. If the names of a cluster change without
// end (every node brings its own, say), it needs a new Schema now and then, which
// [Schema.Keeping] makes. A framework.Snapshot does this by itself.
const MaxNames = 1024

// A FullError reports that a [Schema] has no number left for a resource name.
type FullError struct {
	// Name is the first name, in sorted order, without a number.
	Name Name
}

// Error returns the text, such as
//
//	example.com/gpu would be one of more than 1024 resource names: leave out resources that no pod needs
func (e *FullError) Error() string {
	return fmt.Sprintf("%s would be one of more than %d resource names: leave out resources that no pod needs", e.Name, MaxNames)
}

// Admit numbers the scalar resources of the lists, in sorted order, so that
// [Schema.Vector] of each list adds no name. If there would be more than
// [MaxNames], it returns a [*FullError] and adds none. Names with a number never
// fail.
func (s *Schema) Admit(lists ...List) error {
	unknown := s.unknown(lists)
	s.mu.Lock()
	defer s.mu.Unlock()
	unknown = s.stillUnknown(unknown)
	if room := max(0, MaxNames-(s.Len()-len(s.free)-len(s.guests))); len(unknown) > room {
		return &FullError{unknown[room]}
	}
	if len(s.guests) > 0 {
		for _, l := range lists {
			for n := range l {
				delete(s.guests, n)
			}
		}
	}
	for _, n := range unknown {
		s.add(n)
	}
	return nil
}

// MaxGuests is the greatest number of names in a [Schema] that [Schema.AdmitGuests] has
// added and [Schema.Admit] has not met since. They do not count among [MaxNames].
const MaxGuests = 64

// AdmitGuests is Admit for the requests of pods. Pods may name anything, so their names
// get no more than [MaxGuests] numbers until Admit meets them: until a node has the
// resource. AdmitGuests returns the names that get none, in sorted order. A resource
// without a number is one that no node has.
func (s *Schema) AdmitGuests(lists ...List) (left []Name) {
	unknown := s.unknown(lists)
	if len(unknown) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	unknown = s.stillUnknown(unknown)
	room := min(len(unknown), MaxGuests-len(s.guests))
	for _, n := range unknown[:room] {
		s.welcome(n)
		s.add(n)
	}
	return unknown[room:]
}

// welcome notes a guest. The caller holds the lock.
func (s *Schema) welcome(n Name) {
	if s.guests == nil {
		s.guests = map[Name]bool{}
	}
	s.guests[n] = true
}

// unknown returns the scalar resources of the lists that have no number, sorted.
func (s *Schema) unknown(lists []List) []Name {
	var unknown []Name
	for _, l := range lists {
		for n := range l {
			if _, ok := s.Index(n); !ok && n.IsScalar() {
				unknown = append(unknown, n)
			}
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// stillUnknown leaves out the names that another goroutine has added. The caller holds
// the lock.
func (s *Schema) stillUnknown(names []Name) []Name {
	return slices.DeleteFunc(names, func(n Name) bool {
		_, ok := s.Index(n)
		return ok
	})
}
