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
// a free number when they are first added. A number is never taken back or
// reused, so a Vector keeps its meaning for as long as it lives; for names that are
// no longer used, see [Schema.Keeping].
//
// Vectors are comparable only within one Schema, so use one for all nodes and pods
// that meet. The zero value has the three fixed dimensions and is ready to use. A
// Schema is safe for concurrent use, and lookups take no lock. Do not copy it after
// first use.
type Schema struct {
	mu     sync.Mutex // held while names are added
	added  atomic.Pointer[table]
	guests map[Name]bool // names that AdmitGuests has added and Admit has not met
	free   []int         // numbers of the table without a name, in ascending order
	origin *Schema       // the first of those that this one comes from; nil for itself
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
	if len(s.free) > 0 {
		at := s.free[0]
		s.free = s.free[1:]
		s.added.Store(t.with(at, n))
		return fixed + at
	}
	if t.full() {
		t = t.grown()
		s.added.Store(t)
	}
	return fixed + t.add(n)
}

// Keeping returns a schema in which the numbers for which keep returns true have the
// same names as in s, and all others are free for new names. A vector that is 0 at the
// numbers that are not kept means the same in both. cpu, memory and ephemeral-storage
// are always kept. s stays as it is.
func (s *Schema) Keeping(keep func(i int) bool) *Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &Schema{origin: s.first()}
	t := s.added.Load()
	names := make([]Name, t.len())
	last := 0
	for i := range names {
		if n := t.names[i]; n != "" && keep(fixed+i) {
			names[i], last = n, i+1
			if s.guests[n] {
				k.welcome(n)
			}
		}
	}
	for i, n := range names[:last] {
		if n == "" {
			k.free = append(k.free, i)
		}
	}
	if last > 0 {
		k.added.Store(tableOf(names[:last]))
	}
	return k
}

// Related reports whether [Schema.Keeping] has made one of the two, or both, of one
// schema, or they are the same. An object whose vectors follow one of them can be derived
// again for the other.
func (s *Schema) Related(o *Schema) bool { return s.first() == o.first() }

func (s *Schema) first() *Schema {
	if s.origin != nil {
		return s.origin
	}
	return s
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

// Len returns the number of dimensions. All numbers with a name are below it, and all
// below it have one, except those that [Schema.Keeping] did not keep.
func (s *Schema) Len() int {
	return fixed + s.added.Load().len()
}

// Exact adds l to v in place, growing v as needed, as [Schema.Vector] counts it, and
// reports whether the sum of vectors is the vector of the sum. It is if every amount is
// a whole number of its unit, none is negative, and s knows every scalar resource;
// otherwise v is of no use. Exact allocates nothing if v is long enough.
func (s *Schema) Exact(v Vector, l List) (Vector, bool) {
	others := len(l)
	for i, n := range [fixed]Name{IndexCPU: CPU, IndexMemory: Memory, IndexEphemeralStorage: EphemeralStorage} {
		if others == 0 { // as of most pods: to range over a map takes longer
			return v, true
		}
		if q, ok := l[n]; ok {
			if v, ok = v.addExact(i, q); !ok {
				return v, false
			}
			others--
		}
	}
	if others == 0 {
		return v, true
	}
	for n, q := range l {
		i, ok := s.Index(n)
		switch {
		case ok && i < fixed: // added above
		case ok:
			if v, ok = v.addExact(i, q); !ok {
				return v, false
			}
		case n.IsScalar() || q.Sign() < 0:
			return v, false
		}
	}
	return v, true
}

// addExact adds an amount to an element. It reports false if that is negative, or not a whole
// number of the element's unit.
func (v Vector) addExact(i int, q Quantity) (Vector, bool) {
	unit := uint8(0)
	if i == IndexCPU {
		unit = 1
	}
	if q.Sign() < 0 || q.b != nil || q.p > unit {
		return v, false
	}
	v = v.grow(i + 1)
	v[i] = SatAdd(v[i], q.in(unit))
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
