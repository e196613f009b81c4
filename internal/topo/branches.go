package topo

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// Changes since another snapshot. The tables of a fork go on counting time where those before it
// stopped, and keep the latest changes of that time. So they can tell what has changed since a moment
// of the snapshot that they were forked from: a branch and a time. Forks of one snapshot have the
// moment of their birth in common.
//
// incremental.ForkTracker speaks of states: a moment, and all that says which counts an answer is of.

// branches are the moments that are known.
type branches struct {
	branch uint64   // a version of the snapshot: no other tables have it
	born   uint64   // time when it began, 0 for that of the first snapshot
	past   []branch // those before it, oldest first
}

// A branch is one that was left at a time.
type branch struct{ number, until uint64 }

// pastMost is how many branches are known of a chain of forks.
const pastMost = 8

// fork returns the branches of a fork that is made at a time.
func (b *branches) fork(s *framework.Snapshot, at uint64) branches {
	past := b.past[max(0, len(b.past)+1-pastMost):]
	return branches{s.NewVersion(), at + 1, append(slices.Clone(past), branch{b.branch, at})}
}

// appendMoment appends a time of now.
func (b *branches) appendMoment(state []byte, at uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(state, b.branch), at)
}

// appendBirth appends the moment of the fork and what count appends; nothing if it is none.
func (b *branches) appendBirth(state []byte, count func([]byte) []byte) []byte {
	if len(b.past) == 0 {
		return state
	}
	x := b.past[len(b.past)-1]
	return count(binary.AppendUvarint(binary.AppendUvarint(state, x.number), x.until))
}

// at returns the time of a moment that a state begins with, and what follows; false if the moment
// is in no past of these.
func (b *branches) at(state []byte) (at uint64, rest []byte, ok bool) {
	number, n := binary.Uvarint(state)
	if n <= 0 {
		return 0, nil, false
	}
	at, m := binary.Uvarint(state[n:])
	if m <= 0 {
		return 0, nil, false
	}
	if rest = state[n+m:]; number == b.branch {
		return at, rest, true
	}
	i := slices.IndexFunc(b.past, func(x branch) bool { return x.number == number })
	return at, rest, i >= 0 && at <= b.past[i].until
}

// since is at for a state about the counts that are appended by count.
func (t *Tables) since(state []byte, count func([]byte) []byte) (at uint64, ok bool) {
	at, rest, ok := t.at(state)
	if !ok {
		return 0, false
	}
	t.text = count(t.text[:0])
	return at, bytes.Equal(rest, t.text)
}

// AppendFilterState appends the state of what FilterVersion is about.
func (a *Affinity) AppendFilterState(b []byte) []byte {
	return a.appendCounts(a.tables.appendMoment(b, a.FilterVersion()))
}

// AppendScoreState appends the state of what ScoreVersion is about.
func (a *Affinity) AppendScoreState(b []byte, demand bool) []byte {
	return a.appendCounts(a.tables.appendMoment(b, a.ScoreVersion(demand)))
}

// AppendOrigin appends the state in which the snapshot was forked, if it was.
func (a *Affinity) AppendOrigin(b []byte) []byte { return a.tables.appendBirth(b, a.appendCounts) }

// FilterChangedFrom is FilterChanged since a state of this snapshot, or of one that it was forked from.
func (a *Affinity) FilterChangedFrom(state []byte, dirty func(slot int)) bool {
	at, ok := a.tables.since(state, a.appendCounts)
	return ok && a.filterChanged(at, dirty)
}

// ScoreChangedFrom is to ScoreChanged what FilterChangedFrom is to FilterChanged.
func (a *Affinity) ScoreChangedFrom(demand bool, state []byte, dirty func(slot int)) bool {
	at, ok := a.tables.since(state, a.appendCounts)
	return ok && a.scoreChanged(demand, at, dirty)
}

// AppendHardState appends the state of what HardVersion is about.
func (s *Spread) AppendHardState(b []byte) []byte {
	return s.appendCounts(s.tables.appendMoment(b, s.HardVersion()))
}

// AppendHardOrigin appends the state in which the snapshot was forked, if it was.
func (s *Spread) AppendHardOrigin(b []byte) []byte { return s.tables.appendBirth(b, s.appendCounts) }

// HardChangedFrom is to HardChanged what FilterChangedFrom is to FilterChanged.
func (s *Spread) HardChangedFrom(state []byte, dirty func(slot int)) bool {
	at, ok := s.tables.since(state, s.appendCounts)
	return ok && s.hardChanged(at, dirty)
}

// AppendSoftState appends the state of a version of Sized.
func (s *Spread) AppendSoftState(b []byte, version uint64) []byte {
	return s.appendSized(s.tables.appendMoment(b, version/sizesLimit), version)
}

// AppendSoftOrigin appends the state in which the snapshot was forked, if it was, with the sizes of a
// version of Sized.
func (s *Spread) AppendSoftOrigin(b []byte, version uint64) []byte {
	return s.tables.appendBirth(b, func(b []byte) []byte { return s.appendSized(b, version) })
}

// SoftChangedFrom is to SoftChanged what FilterChangedFrom is to FilterChanged.
func (s *Spread) SoftChangedFrom(state []byte, now uint64, dirty func(slot int)) bool {
	at, ok := s.softFrom(state, now)
	return ok && s.softChanged(at, dirty)
}

// SoftExceptionsChangedFrom is to SoftExceptionsChanged what FilterChangedFrom is to FilterChanged.
func (s *Spread) SoftExceptionsChangedFrom(state []byte, now uint64, known []int32, visit func(slot int)) bool {
	at, ok := s.softFrom(state, now)
	return ok && s.softExceptionsChanged(at, known, visit)
}

func (s *Spread) softFrom(state []byte, now uint64) (at uint64, ok bool) {
	return s.tables.since(state, func(b []byte) []byte { return s.appendSized(b, now) })
}

// appendCounts appends which counts there are.
func (s *Spread) appendCounts(b []byte) []byte {
	for _, c := range s.Counts {
		b = binary.AppendUvarint(b, s.tables.counters[c.id].serial)
	}
	return b
}

// appendSized appends which counts there are, and the sizes of a version of Sized.
func (s *Spread) appendSized(b []byte, version uint64) []byte {
	b = s.appendCounts(b)
	for _, n := range s.sizes[version%sizesLimit] {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}
