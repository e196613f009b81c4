package framework

import (
	"errors"

	"github.com/berth-sched/berth/framework/api"
)

// noSnapshot is what is wrong with a snapshot that is nil or zero.
const noSnapshot = "is nil or zero: make one with NewSnapshot or SnapshotOf"

// check returns an error for a snapshot that is nil, zero or broken.
func (s *Snapshot) check() error {
	if s == nil || s.lineage == nil {
		return &api.InvalidError{Object: "snapshot", Err: errNoSnapshot}
	}
	return s.broken
}

// must panics for a snapshot that is nil or zero.
func (s *Snapshot) must() {
	if s == nil || s.lineage == nil {
		panic("framework: the snapshot " + noSnapshot)
	}
}

// startChange and endChange enclose what writes to the snapshot. A goroutine that
// starts a change while another one is in the middle of one panics, as with Go's maps:
// not always, but mostly before much is lost. What extensions do when they are told is
// outside, so they may Touch and Record.
func (s *Snapshot) startChange() {
	if s.changing {
		panic(concurrentUse)
	}
	s.changing = true
}

func (s *Snapshot) endChange() { s.changing = false }

const concurrentUse = "framework: a snapshot is changed while it is being changed: " +
	"two goroutines use it (give each its own Fork), or an earlier change panicked"

var errNoSnapshot = errors.New(noSnapshot)
