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
// end (every node brings its own, say), it needs a new Schema now and then: make a
// new snapshot, and derive the pods again.
const MaxNames = 1024

// A FullError reports that a [Schema] has no number left for a resource name.
type FullError struct {
	// Name is the first name, in sorted order, without a number.
	Name Name
}

// Error returns the text, such as
//
//	example.com/gpu would be one of more than 1024 resource names: leave out resources that no pod needs; where many names are of the past, which still count, make a new snapshot
func (e *FullError) Error() string {
	return fmt.Sprintf("%s would be one of more than %d resource names: leave out resources that no pod needs; where many names are of the past, which still count, make a new snapshot", e.Name, MaxNames)
}

// Admit numbers the scalar resources of the lists, in sorted order, so that
// [Schema.Vector] of each list adds no name. If there would be more than
// [MaxNames], it returns a [*FullError] and adds none. Names with a number never
// fail.
func (s *Schema) Admit(lists ...List) error {
	var unknown []Name
	for _, l := range lists {
		for n := range l {
			if _, ok := s.Index(n); !ok && n.IsScalar() {
				unknown = append(unknown, n)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	s.mu.Lock()
	defer s.mu.Unlock()
	unknown = slices.DeleteFunc(unknown, func(n Name) bool { // another goroutine was faster
		_, ok := s.Index(n)
		return ok
	})
	if room := max(0, MaxNames-s.Len()); len(unknown) > room {
		return &FullError{unknown[room]}
	}
	for _, n := range unknown {
		s.add(n)
	}
	return nil
}
