package resource

import (
	"fmt"
	"slices"
)

// MaxNames is how many resource names a [Schema] tells apart that is filled by
// [Schema.Admit], cpu, memory and ephemeral-storage included. It bounds the
// vectors of a cluster, whose length is that of their last resource: without a
// bound, nodes that each bring names of their own would cost memory that grows
// with the square of their number.
//
// A name counts for as long as the Schema lives, also when nothing has it any
// more: vectors made before, which nobody keeps a list of, would else be read by
// another name. A cluster whose names change without end, as when every node
// brings its own, needs a new Schema now and then: a new snapshot, with the pods
// made anew.
const MaxNames = 1024

// A FullError says that a [Schema] has no number left for a resource name.
type FullError struct {
	// Name is the first name, in sorted order, that found no place.
	Name Name
}

// Error returns the text, such as
//
//	example.com/gpu would be one of more than 1024 resource names: leave out resources that no pod needs; where many names are of the past, which still count, make a new snapshot
func (e *FullError) Error() string {
	return fmt.Sprintf("%s would be one of more than %d resource names: leave out resources that no pod needs; where many names are of the past, which still count, make a new snapshot", e.Name, MaxNames)
}

// Admit gives numbers to the scalar resources of the lists that have none yet, in
// sorted order, so that [Schema.Vector] of each list adds no name. If there would
// be more than [MaxNames] it returns a [*FullError] and adds none. Names that are
// known already never fail.
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
