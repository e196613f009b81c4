package resource

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/internal/errtext"
)

// List is a set of quantities by resource name: the ResourceList of the Kubernetes
// API, with its JSON form. Some readers distinguish an absent name from a quantity
// of 0, so no method here confuses the two.
type List map[Name]Quantity

// Names returns the names in l in sorted order.
func (l List) Names() []Name {
	return slices.Sorted(maps.Keys(l))
}

// Clone returns an independent copy of l, and nil for nil.
func (l List) Clone() List {
	return maps.Clone(l)
}

// Add returns a new list with every name of l and o. If both have a name, the
// quantity is the sum. Neither l nor o is changed.
func (l List) Add(o List) List {
	return l.join(o, Quantity.Add)
}

// Max returns a new list with every name of l and o. If both have a name, the
// greater quantity wins; if they are equal, the one from l. Neither l nor o is
// changed.
func (l List) Max(o List) List {
	return l.join(o, func(a, b Quantity) Quantity {
		if a.Cmp(b) < 0 {
			return b
		}
		return a
	})
}

// join returns the union of l and o, with both(a, b) for names in both.
func (l List) join(o List, both func(a, b Quantity) Quantity) List {
	sum := make(List, max(len(l), len(o)))
	maps.Copy(sum, l)
	for name, b := range o {
		if a, ok := sum[name]; ok {
			b = both(a, b)
		}
		sum[name] = b
	}
	return sum
}

// UnmarshalJSON reads an object whose values are quantities, each as
// [Quantity.UnmarshalJSON] reads it. As for any map, it adds the entries to *l and
// replaces equal names; null makes *l nil. If the object or an entry is malformed,
// *l is unchanged. The error then names the first bad entry in sorted order and
// unwraps to its [*SyntaxError].
func (l *List) UnmarshalJSON(data []byte) error {
	var read map[Name]Quantity
	if err := json.Unmarshal(data, &read); err != nil {
		return entryError(data, err)
	}
	if *l == nil || read == nil {
		*l = read
		return nil
	}
	maps.Copy(*l, read)
	return nil
}

// maxErrorName is the number of bytes of a resource's name that an error prints.
const maxErrorName = 512

// entryError adds the name of the bad entry to err, the error from decoding data.
func entryError(data []byte, err error) error {
	var entries map[Name]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("resource list: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		var q Quantity
		if err := q.UnmarshalJSON(entries[name]); err != nil {
			return fmt.Errorf("resource %q: %w", errtext.Cut(string(name), maxErrorName), err)
		}
	}
	// The bad entry came first, and a good one of the same name replaced it.
	return fmt.Errorf("resource list: %w", err)
}
