package volumes

import "github.com/berth-sched/berth/internal/cow"

// sharing lists the claims that name a volume. Users may have thousands of claims name one, and
// pods with all of them may come and go, so a claim joins and leaves in O(1). Forks share it.
//
// Invariant: a claim of a volume is the first, or before says which one it comes after.
type sharing struct {
	first  cow.Map[string, string] // by the volume
	beside cow.Map[string, beside] // by the claim, if its volume has others
}

// beside is which claims come before and after a claim, "" for none.
type beside struct{ before, after string }

func (l *sharing) fork() sharing { return sharing{l.first.Fork(), l.beside.Fork()} }

// add puts a claim, which is in no list, before the others of its volume.
func (l *sharing) add(claim, volume string) {
	if volume == "" {
		return
	}
	next, _ := l.first.Get(volume)
	l.first.Set(volume, claim)
	l.link(claim, next)
}

// remove takes a claim off the list of its volume.
func (l *sharing) remove(claim, volume string) {
	if volume == "" {
		return
	}
	x, _ := l.beside.Get(claim)
	switch {
	case x.before != "":
		l.link(x.before, x.after)
	case x.after != "":
		l.first.Set(volume, x.after)
		l.set(x.after, func(y *beside) { y.before = "" })
	default:
		l.first.Remove(volume)
	}
	l.beside.Remove(claim)
}

// link has one claim come right after another; "" for none.
func (l *sharing) link(claim, next string) {
	l.set(claim, func(x *beside) { x.after = next })
	if next != "" {
		l.set(next, func(x *beside) { x.before = claim })
	}
}

// set changes what is beside a claim.
func (l *sharing) set(claim string, change func(*beside)) {
	x, _ := l.beside.Get(claim)
	if change(&x); x == (beside{}) {
		l.beside.Remove(claim)
		return
	}
	l.beside.Set(claim, x)
}

// each calls f with each claim of a volume. f must not change the list.
func (l *sharing) each(volume string, f func(claim string)) {
	claim, _ := l.first.Get(volume)
	for claim != "" {
		x, _ := l.beside.Get(claim)
		f(claim)
		claim = x.after
	}
}
