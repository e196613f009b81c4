package resource

import (
	"slices"
	"sync"
	"sync/atomic"
)

// The first dimensions of every [Schema].
const (
	// IndexCPU is the index of cpu, in thousandths.
	IndexCPU = iota
	// IndexMemory is the index of memory, in bytes.
	IndexMemory
	// IndexEphemeralStorage is the index of ephemeral-storage, in bytes.
	IndexEphemeralStorage

	// fixed is the number of these dimensions.
	fixed
)

// Schema numbers resource names, so that a [List] can become a [Vector]. cpu,
// memory and ephemeral-storage always have the first three numbers; other names get
// the next free number when they are first added. A number is never taken back or
// reused, so a Vector keeps its meaning for as long as it lives; see [MaxNames].
//
// Vectors are comparable only within one Schema, so use one for all nodes and pods
// that meet. The zero value has the three fixed dimensions and is ready to use. A
// Schema is safe for concurrent use, and lookups take no lock. Do not copy it after
// first use.
type Schema struct {
	mu     sync.Mutex // held while names are added
	added  atomic.Pointer[table]
	guests map[Name]bool // names that AdmitGuests has added and Admit has not met
}

// NewSchema returns a Schema with the three fixed dimensions.
func NewSchema() *Schema {
	return new(Schema)
}

// Index returns the number of n and whether it has one.
func (s *Schema) Index(n Name) (int, bool) {
	switch n {
	case CPU:
		return IndexCPU, true
	case Memory:
		return IndexMemory, true
	case EphemeralStorage:
		return IndexEphemeralStorage, true
	}
	i, ok := s.added.Load().find(n)
	if !ok {
		return 0, false
	}
	return fixed + i, true
}

// Intern returns the number of n, and gives it the next one if it has none. It
// takes any name, and any number of names; for a bound, use [Schema.Admit].
// [Schema.Vector] decides which names belong into a Vector, and interns them as it
// meets them.
func (s *Schema) Intern(n Name) int {
	if i, ok := s.Index(n); ok {
		return i
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.Index(n); ok { // another goroutine was faster
		return i
	}
	return s.add(n)
}

// add gives n, which has no number, the next one. The caller holds the lock.
func (s *Schema) add(n Name) int {
	t := s.added.Load()
	if t.full() {
		t = t.grown()
		s.added.Store(t)
	}
	return fixed + t.add(n)
}

// Name returns the name with number i, or "" if there is none.
func (s *Schema) Name(i int) Name {
	switch i {
	case IndexCPU:
		return CPU
	case IndexMemory:
		return Memory
	case IndexEphemeralStorage:
		return EphemeralStorage
	}
	if t := s.added.Load(); i >= fixed && i-fixed < t.len() {
		return t.names[i-fixed]
	}
	return ""
}

// Len returns the number of dimensions. Exactly the numbers below it have a name.
func (s *Schema) Len() int {
	return fixed + s.added.Load().len()
}

// Exact adds l to v in place, growing v as needed, as [Schema.Vector] counts it, and
// reports whether the sum of vectors is the vector of the sum. It is if every amount is
// a whole number of its unit and s knows every scalar resource; otherwise v is of no
// use. No amount may be negative. Exact allocates nothing if v is long enough.
func (s *Schema) Exact(v Vector, l List) (Vector, bool) {
	for n, q := range l {
		i, ok := s.Index(n)
		switch {
		case !ok && n.IsScalar():
			return v, false
		case !ok:
			continue
		}
		unit := uint8(0)
		if i == IndexCPU {
			unit = 1
		}
		if q.b != nil || q.p > unit {
			return v, false
		}
		v = v.grow(i + 1)
		v[i] = SatAdd(v[i], q.in(unit))
	}
	return v, true
}

// Vector returns l in the units of kube-scheduler: cpu as [Quantity.MilliValue],
// everything else as [Quantity.Value]. It adds scalar resources (see
// [Name.IsScalar]) that s does not know yet, in sorted order. Like kube-scheduler,
// it ignores all other names, "pods" among them. The Vector belongs to the caller.
func (s *Schema) Vector(l List) Vector {
	v := make(Vector, fixed, max(fixed, len(l)))
	var unknown []Name
	for n, q := range l {
		switch i, ok := s.Index(n); {
		case n == CPU:
			v[IndexCPU] = q.MilliValue()
		case ok && i < fixed:
			v[i] = q.Value()
		case !n.IsScalar():
		case ok:
			v = v.With(i, q.Value())
		default:
			unknown = append(unknown, n)
		}
	}
	slices.Sort(unknown)
	for _, n := range unknown {
		q := l[n]
		v = v.With(s.Intern(n), q.Value())
	}
	return v
}
