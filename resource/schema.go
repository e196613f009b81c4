package resource

import "sync"

// The dimensions that every Schema begins with.
const (
	IndexCPU              = 0
	IndexMemory           = 1
	IndexEphemeralStorage = 2
)

// Schema maps resource names to dense indexes.
type Schema struct {
	mu    sync.RWMutex
	index map[Name]int
	names []Name
}

// NewSchema returns a Schema of the three fixed dimensions.
func NewSchema() *Schema {
	return &Schema{index: map[Name]int{CPU: 0, Memory: 1, EphemeralStorage: 2}, names: []Name{CPU, Memory, EphemeralStorage}}
}

// Index returns the index of n.
func (s *Schema) Index(n Name) (int, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.index[n]
	return i, ok
}

// Intern returns the index of n and adds n if it is new.
func (s *Schema) Intern(n Name) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.index[n]; ok {
		return i
	}
	s.index[n] = len(s.names)
	s.names = append(s.names, n)
	return len(s.names) - 1
}

// Name returns the name of dimension i.
func (s *Schema) Name(i int) Name {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names[i]
}

// Len returns the number of dimensions.
func (s *Schema) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.names)
}

// Vector returns l as a vector.
func (s *Schema) Vector(l List) Vector {
	v := make(Vector, 3)
	for _, n := range l.Names() {
		q := l[n]
		switch {
		case n == CPU:
			v[IndexCPU] = q.MilliValue()
		case n == Memory, n == EphemeralStorage, n.IsScalar():
			v = v.With(s.Intern(n), q.Value())
		}
	}
	return v
}
