package frameworktest_test

import (
	"time"

	"github.com/berth-sched/berth/framework"
)

// Small plugins for the tests of the kit: functions with a name. What a test
// does not name, it does not do.

type (
	filterFunc    func(p *framework.PodInfo, n *framework.NodeInfo) framework.Status
	scoreFunc     func(p *framework.PodInfo, n *framework.NodeInfo) int64
	preFilterFunc func(c *framework.Cycle) (framework.PreFiltered, framework.Status)
	preScoreFunc  func(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status)
	nameFunc      func() string
)

func (filterFunc) Name() string    { return "Filter" }
func (scoreFunc) Name() string     { return "Scorer" }
func (preFilterFunc) Name() string { return "PreFilter" }
func (preScoreFunc) Name() string  { return "PreScorer" }
func (f nameFunc) Name() string    { return f() }

func (f filterFunc) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	return f(p, n)
}
func (f scoreFunc) Score(p *framework.PodInfo, n *framework.NodeInfo) int64 { return f(p, n) }
func (f preFilterFunc) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return f(c)
}

func (f preScoreFunc) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return f(c, feasible)
}

// bind returns a plugin whose PreFilter binds what build makes of the cycle.
func bind(build func(c *framework.Cycle) framework.NodeFilter) preFilterFunc {
	return func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
		return framework.PreFiltered{Filter: build(c)}, framework.Status{}
	}
}

// bindScore returns a plugin whose PreScore binds what build makes.
func bindScore(build func(c *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer) preScoreFunc {
	return func(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
		return build(c, feasible), framework.Status{}
	}
}

// scoped wraps a plugin and declares a scope.
type scoped struct {
	framework.Plugin
	scope framework.Scope
}

func (s scoped) Unwrap() framework.Plugin                 { return s.Plugin }
func (s scoped) Scope(*framework.PodInfo) framework.Scope { return s.scope }

// declare wraps a plugin so that it reads the given parts.
func declare(p framework.Plugin, fields framework.PodFields, reads framework.Reads) framework.Plugin {
	return scoped{p, framework.Scope{Pod: fields, Reads: reads}}
}

// scopedBy wraps a plugin and declares a scope that depends on the pod.
type scopedBy struct {
	framework.Plugin
	scope func(p *framework.PodInfo) framework.Scope
}

func (s scopedBy) Unwrap() framework.Plugin                   { return s.Plugin }
func (s scopedBy) Scope(p *framework.PodInfo) framework.Scope { return s.scope(p) }

// ranged wraps a plugin and normalizes by range.
type ranged struct {
	framework.Plugin
	normalize func(raw, smallest, largest int64) int64
}

func (r ranged) Unwrap() framework.Plugin { return r.Plugin }
func (r ranged) NormalizeScore(raw, smallest, largest int64) int64 {
	return r.normalize(raw, smallest, largest)
}

// listed wraps a plugin and normalizes all scores at once.
type listed struct {
	framework.Plugin
	normalize func(nodes []*framework.NodeInfo, scores []int64)
}

func (l listed) Unwrap() framework.Plugin { return l.Plugin }
func (l listed) NormalizeScores(nodes []*framework.NodeInfo, scores []int64) {
	l.normalize(nodes, scores)
}

// expiring is a bound filter and scorer with a time.
type expiring struct {
	scoreFunc
	until func(n *framework.NodeInfo) time.Time
}

func (e expiring) ValidUntil(_ *framework.PodInfo, n *framework.NodeInfo) time.Time {
	return e.until(n)
}

// batching is a bound scorer with a batch.
type batching struct {
	scoreFunc
	batch func(p *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64)
}

func (b batching) ScoreNodes(p *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	b.batch(p, nodes, scores)
}

// alike is a bound scorer with keys of nodes.
type alike struct {
	scoreFunc
	key func(b []byte, n *framework.NodeInfo) []byte
}

func (a alike) AppendNodeKey(b []byte, _ *framework.PodInfo, n *framework.NodeInfo) []byte {
	return a.key(b, n)
}

// tracking is a bound scorer that tells what changed.
type tracking struct {
	scoreFunc
	version uint64
	changed func(since uint64, dirty func(slot int)) bool
}

func (t tracking) Version() uint64                                 { return t.version }
func (t tracking) Changed(since uint64, dirty func(slot int)) bool { return t.changed(since, dirty) }

// detailed is a filter that tells numbers.
type detailed struct {
	filterFunc
	details func() []framework.Detail
}

func (d detailed) Details(*framework.PodInfo, *framework.NodeInfo) []framework.Detail {
	return d.details()
}

func no(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("no")
}
