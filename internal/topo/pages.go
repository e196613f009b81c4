package topo

import "github.com/berth-sched/berth/internal/cow"

// owner marks the parts that a fork of the tables may write to; all other parts are
// shared with another fork and copied first.
type owner = cow.Owner

// pages is a list of counts by domain. A copy shares the pages that it has not
// changed.
type pages = cow.Pages[int32]

// addAt changes one count and returns its new value.
func addAt(p *pages, o *owner, d, by int32) int32 {
	n := p.Own(o, int(d))
	*n += by
	return *n
}
