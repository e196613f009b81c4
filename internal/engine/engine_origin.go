package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// How an engine that is asked about snapshots of several origins turns from one to another.

// turns says when an engine turns to another origin: after some queries in a row about it. If queries
// are about several in turn, to turn to each costs more than its answers save.
type turns struct {
	schema  *resource.Schema // of the last snapshot of another origin
	queries int              // how many queries in a row were about that
	away    int              // how many in a row were about others than the engine's
	unpaid  int              // how many turns in a row have not paid so far, unpaidMost at most
	hits    uint64           // of the engine when it turned last
}

// The number of queries after which an engine turns is turnAfter. It doubles with each turn that has not
// paid: turnPays hits do. After awayMost queries about others, it turns to any: it must not keep a snapshot
// that nobody asks about any more.
const turnAfter, turnPays, unpaidMost, awayMost = 4, 16, 3, 64

// isAbout reports whether what the engine keeps is about snapshots of this one's origin, which
// share a schema. It turns to another origin, and forgets everything, if the last queries
// were about that, too: keys, generations and versions distinguish only what belongs to one origin.
func (e *Engine) isAbout(s *framework.Snapshot) bool {
	t, schema := &e.turns, s.Schema()
	switch {
	case e.schema == schema:
		t.queries, t.away = 0, 0
		return true
	case e.schema == nil || e.tracker.Snapshot == s: // the snapshot has another schema than before
		e.clear()
		e.schema = schema
		return true
	case t.schema != schema:
		t.schema, t.queries = schema, 0
	}
	if e.stats.Hits-t.hits >= turnPays {
		t.unpaid = 0
	}
	t.queries, t.away = t.queries+1, t.away+1
	if t.queries < turnAfter<<t.unpaid && t.away < awayMost {
		return false
	}
	unpaid := min(t.unpaid+1, unpaidMost)
	e.clear()
	e.schema, e.turns = schema, turns{unpaid: unpaid, hits: e.stats.Hits}
	return true
}
