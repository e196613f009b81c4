package resource

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// List is a set of quantities by resource name, the ResourceList of the
// Kubernetes API and its JSON form. A name that is absent and one whose
// quantity is 0 are not the same to every reader; no method here confuses them.
type List map[Name]Quantity

// Names returns the names in l in sorted order.
func (l List) Names() []Name {
	return slices.Sorted(maps.Keys(l))
}

// Clone returns a copy of l that shares nothing with it, nil for nil.
func (l List) Clone() List {
	return maps.Clone(l)
}

// Add returns a new list with every name of l and o, and the sum of both where
// both have it. Neither l nor o is changed.
func (l List) Add(o List) List {
	return l.join(o, Quantity.Add)
}

// Max returns a new list with every name of l and o, and the greater quantity
// where both have it; of equal ones, that of l. Neither l nor o is changed.
func (l List) Max(o List) List {
	return l.join(o, func(a, b Quantity) Quantity {
		if a.Cmp(b) < 0 {
			return b
		}
		return a
	})
}

// join returns a new list of what l and o have, with both(a, b) for what both have.
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

// UnmarshalJSON reads an object whose values are quantities as
// [Quantity.UnmarshalJSON] reads them. Entries are added to those that *l
// already has, replacing equal names, as for any map; null makes it nil. If the
// object or an entry is malformed, *l stays as it was, and the error names the
// first bad entry in sorted order and unwraps to its [*SyntaxError].
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

// entryError returns err, the answer to the attempt to decode data, with the
// name of the entry that is to blame.
func entryError(data []byte, err error) error {
	var entries map[Name]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("resource list: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		var q Quantity
		if err := q.UnmarshalJSON(entries[name]); err != nil {
			return fmt.Errorf("resource %q: %w", name, err)
		}
	}
	// The bad entry was followed by a good one of the same name.
	return fmt.Errorf("resource list: %w", err)
}
