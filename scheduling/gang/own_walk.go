package gang

import (
	"cmp"
	"slices"
	"strings"
)

// How pods are placed that counts say nothing about: slice by slice, or one after the
// other, where estimates say that there is most room or just enough.

// walk places pods that counts say nothing about: slice by slice, or one after the other.
func (a *attempt) walk(d *domain, pods []int, t *Trial) error {
	level, size := a.outermost(0)
	if size == 0 {
		return a.each(d, pods, t)
	}
	stand := 0
	for len(pods) > 0 {
		slice := pods[:size]
		pods = pods[size:]
		ok, err := a.slice(d, level, slice, t)
		if err != nil {
			return err
		}
		if ok {
			stand += size
		} else {
			for _, i := range slice {
				t.Left = append(t.Left, Left{Pod: a.g.Pods[i].Pod.Key(), index: i})
			}
		}
		if stand+len(pods) < a.g.need() || a.rules.Exact && stand >= a.g.need() {
			break
		}
	}
	return nil
}

// outermost returns the coarsest level from one on that has slices, and their size; 0 if
// none has.
func (a *attempt) outermost(level int) (at, size int) {
	for ; level < len(a.g.Topology); level++ {
		if s := a.g.Topology[level].Slice; s > 0 {
			return level, s
		}
	}
	return 0, 0
}

// each places pods one after the other, child by child if a level below guides where they
// go, or anywhere in the domain.
func (a *attempt) each(d *domain, pods []int, t *Trial) error {
	if !a.inner(d) {
		return a.eachIn(d, pods, t, nil)
	}
	children := slices.Clone(d.children)
	most := a.rules.Choice != LeastFree
	estimates := map[*domain]int{}
	for _, c := range children {
		estimates[c] = a.estimate(c)
	}
	slices.SortFunc(children, func(x, y *domain) int {
		byRoom := cmp.Compare(estimates[x], estimates[y])
		if most {
			byRoom = -byRoom
		}
		return cmp.Or(byRoom, strings.Compare(x.name, y.name))
	})
	for k, c := range children {
		var left *[]int
		var rest []int
		if k < len(children)-1 {
			left = &rest
		}
		if err := a.eachIn(c, pods, t, left); err != nil {
			return err
		}
		if pods = rest; len(pods) == 0 {
			break
		}
	}
	return nil
}

// eachIn places pods one after the other. Pods that are refused go to left, or, if that is
// nil, are noted, and too many of them end the walk.
func (a *attempt) eachIn(d *domain, pods []int, t *Trial, left *[]int) error {
	for k, i := range pods {
		if a.rules.Exact && len(t.Placed) >= a.g.need() {
			break
		}
		refused := len(t.Left)
		ok, err := a.try(d, i, t)
		switch {
		case err != nil:
			return err
		case ok:
		case left != nil:
			*left, t.Left = append(*left, i), t.Left[:refused]
		case len(t.Placed)+len(pods)-k-1 < a.g.need():
			return nil
		}
	}
	return nil
}

// slice places the pods of a slice in one domain of the level, or none of them. That is d
// or within it, or around it if the level is coarser: then all of d will do.
func (a *attempt) slice(d *domain, level int, pods []int, t *Trial) (bool, error) {
	list := d.at(max(level+1, d.depth()), nil)
	estimates := map[*domain]int{}
	for _, x := range list {
		estimates[x] = a.estimate(x)
	}
	slices.SortFunc(list, func(x, y *domain) int {
		small := func(d *domain) int {
			if estimates[d] < len(pods) {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(small(x), small(y)), cmp.Compare(estimates[x], estimates[y]), strings.Compare(x.name, y.name))
	})
	for _, x := range list {
		mark := a.snap.Begin()
		placed, left := len(t.Placed), len(t.Left)
		ok, err := a.sliceIn(x, pods, t)
		if ok && err == nil {
			a.snap.Commit(mark)
			return true, nil
		}
		a.snap.Rollback(mark)
		t.Placed, t.Left = t.Placed[:placed], t.Left[:left]
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// sliceIn places all pods of a slice in the domain, slice by slice of finer levels.
func (a *attempt) sliceIn(d *domain, pods []int, t *Trial) (bool, error) {
	if level, size := a.outermost(d.depth()); size > 0 {
		for len(pods) > 0 {
			if ok, err := a.slice(d, level, pods[:size], t); !ok || err != nil {
				return false, err
			}
			pods = pods[size:]
		}
		return true, nil
	}
	for _, i := range pods {
		if ok, err := a.try(d, i, t); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
