package gang

import (
	"cmp"
	"slices"
	"strings"
)

// How pods of one class are divided among the domains of finer levels: by counts, before
// the first pod is placed.

// unit is how many pods belong together in a domain of the level: the slice of this level
// or of the next finer one that has slices.
func (a *attempt) unit(level int) int {
	for ; level >= 0 && level < len(a.g.Topology); level++ {
		if s := a.g.Topology[level].Slice; s > 0 {
			return s
		}
	}
	return 1
}

// inner reports whether levels below a domain guide where its pods go.
func (a *attempt) inner(d *domain) bool { return d.depth() < len(a.keys) && !a.allRequired() }

func (a *attempt) allRequired() bool { return a.required() == len(a.keys) && !a.g.sliced() }

// measure counts how many pods each domain takes with its slices whole.
func (a *attempt) measure() {
	a.takes = make([]int, a.root.size)
	if a.room != nil {
		a.measureIn(a.root)
	}
}

func (a *attempt) measureIn(d *domain) int {
	n := 0
	if d.depth() == len(a.keys) {
		n = a.room.sum(d.slots)
	} else {
		for _, c := range d.children {
			n += a.measureIn(c)
		}
		if !a.inner(d) {
			n = a.room.sum(d.slots)
		}
	}
	if d.depth() > 0 {
		unit := a.unit(d.depth() - 1)
		n -= n % unit
	}
	a.takes[d.id] = n
	return n
}

// fill places pods of one class in a domain that takes them, divided by the rule among
// the domains within. It returns false if one was refused although the counts let it
// pass: then nothing more is tried.
func (a *attempt) fill(d *domain, pods []int, t *Trial) (bool, error) {
	if !a.inner(d) {
		for _, i := range pods {
			if ok, err := a.try(d, i, t); !ok {
				return false, err
			}
		}
		return true, nil
	}
	unit := a.unit(d.depth())
	for _, s := range a.divide(d, len(pods)/unit, unit) {
		n := s.units * unit
		if ok, err := a.fill(s.d, pods[:n], t); !ok {
			return false, err
		}
		pods = pods[n:]
	}
	return true, nil
}

// A share is how many units of pods a domain gets.
type share struct {
	d     *domain
	units int
}

// divide divides units of pods among the children of a domain.
//
// Source: Kueue, Topology Aware Scheduling (KEP-2724), BestFit and LeastFreeCapacity.
func (a *attempt) divide(d *domain, units, unit int) (list []share) {
	rest := slices.Clone(d.children)
	most := a.rules.Choice != LeastFree
	slices.SortFunc(rest, func(x, y *domain) int {
		byUnits := cmp.Compare(a.takes[x.id]/unit, a.takes[y.id]/unit)
		if most {
			byUnits = -byUnits
		}
		return cmp.Or(byUnits, cmp.Compare(a.pods(x), a.pods(y)), strings.Compare(x.name, y.name))
	})
	for k := 0; k < len(rest) && units > 0; k++ {
		at := k
		if most { // the smallest that holds the rest, if one does
			for i := k; i < len(rest) && a.takes[rest[i].id]/unit >= units; i++ {
				if i == k || a.takes[rest[i].id]/unit < a.takes[rest[at].id]/unit {
					at = i
				}
			}
		}
		n := min(units, a.takes[rest[at].id]/unit)
		if n == 0 {
			continue
		}
		list = append(list, share{rest[at], n})
		units -= n
	}
	return list
}

// pods is how many pods the nodes of a domain take, whole slices or not.
func (a *attempt) pods(d *domain) int { return a.room.sum(d.slots) }
