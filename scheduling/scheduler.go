package scheduling

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/pick"
	"github.com/berth-sched/berth/internal/runner"
)

// A Scheduler places pods by one profile. It holds the decision counter, the start
// of the next sample, and memory that it reuses. Only one goroutine at a time may
// use it; give each goroutine its own, by New or Fork. A decision that finds another one under
// way panics. A nil or zero Scheduler decides nothing: it returns an error.
type Scheduler struct {
	profile     Profile
	plugins     plugins
	number      uint64
	start       int
	reference   referencePath
	incremental *incrementalPath // nil: always the reference path
	deferred    bool             // it is made when kept answers may begin
	work        int              // what decisions have cost since, while it is deferred
	classifier  *incrementalPath // finds classes if there is no incremental path
	events      []RegisteredEvent
	busy        bool // while it decides: a cheap guard, as Go's maps have

	lastParts      lastParts
	postFilterPath referencePath // the reference path for PostFilter
	failure        failure
	refusedRoom    refusedRoom
	dryRuns        runner.DryRuns
}

// New checks the profile and builds a scheduler for it. The error joins every fault
// of the profile, and what plugins with a method Validate() error say about their
// own configuration. New also returns an error if a plugin panics when it is asked
// for its events, for its name, or to check itself.
func New(p Profile) (*Scheduler, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Scheduler{profile: p}
	if err := s.resolve(); err != nil {
		return nil, err
	}
	s.reference = referencePath{plugins: &s.plugins, workers: max(1, p.Parallelism)}
	if !p.Cache.Off && s.plugins.largest() <= engine.MaxTotal {
		s.incremental = newIncremental(s)
	}
	s.dryRuns.Verify = p.Cache.Verify
	return s, nil
}

// resolve looks up what the plugins can do. A panic of one is an error.
func (s *Scheduler) resolve() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("profile %q: a plugin that is asked what it can do: %w", s.profile.Name, recovered(v))
		}
	}()
	s.plugins = resolve(&s.profile)
	s.events, err = s.register()
	return err
}

// largest is the largest total that the weights allow.
func (t *plugins) largest() int64 {
	var sum int64
	for i := range t.scorers {
		sum += t.scorers[i].weight * framework.MaxNodeScore
	}
	return sum
}

// A Decision says where a pod goes.
type Decision struct {
	// Node is the name of the chosen node.
	Node string
	// Score is its total; 0 if a single feasible node made scoring needless.
	Score int64
	// Feasible is how many feasible nodes were found, Evaluated how many nodes were
	// looked at.
	Feasible, Evaluated int
	// TiedNodes is how many nodes had the highest total, TieRule the rule that chose
	// among them.
	TiedNodes int
	TieRule   TieRule
	// Number counts the scheduler's decisions from 0.
	Number uint64
	// Reserved says what the pod gets of the node besides what the node counts, such as
	// "gpu 3", if a Reserve plugin says so ([framework.ReserveDetailer]).
	Reserved string

	start   int // where the search began
	advance int // by how much the next search begins later
	node    *framework.NodeInfo
}

// Schedule chooses a node for the pod and changes nothing but the scheduler's
// counters. It returns a [*FitError] if no node is feasible, a [*PluginError] or
// [*ExtenderError] if a plugin or an extender could not decide, and [ErrNoNodes] if
// there are none. A nil snapshot, a nil pod, or a pod made for another snapshot is
// an [*api.InvalidError]; that is not counted as a decision.
//
// Cost: O(log N) plus what changed since, for a pod of a class seen before, if all
// plugins declare a scope. Otherwise every plugin is asked about every node that is
// searched. Answers are kept for one snapshot and its forks. A scheduler that is asked
// about snapshots of different origins keeps those about one of them, until it was asked
// about another some times in a row, so use one scheduler for each. If many nodes are
// tied, some rules cost more: Custom lists the
// tied nodes, and Reservoir all feasible ones. Except for those two rules, a successful
// call allocates nothing in steady state.
func (s *Scheduler) Schedule(snap *framework.Snapshot, pod *framework.PodInfo) (Decision, error) {
	return s.ScheduleContext(context.Background(), snap, pod)
}

// ScheduleContext is Schedule with a context for the extenders; nothing else can
// block.
func (s *Scheduler) ScheduleContext(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo) (d Decision, err error) {
	if err = s.schedule(ctx, snap, pod, &d); err == nil {
		err = s.tellReserved(snap, pod, d.node, &d)
	}
	return d, err
}

// schedule is ScheduleContext without Decision.Reserved, and fills the caller's decision: a
// Decision is too large to be copied from function to function.
func (s *Scheduler) schedule(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) error {
	pod, err := s.accept(snap, pod)
	if err != nil {
		return err
	}
	return s.scheduleWithin(ctx, snap, pod, nil, d)
}

// scheduleWithin is schedule among the nodes of a set; nil means all.
func (s *Scheduler) scheduleWithin(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, within *NodeSet, d *Decision) error {
	if s.busy {
		panic("scheduling: a Scheduler is used by two goroutines at once, or an earlier decision panicked; make one per goroutine")
	}
	s.busy = true
	s.reference.begin(ctx)
	s.reference.within = within
	err := s.decideOnAPath(snap, pod, d)
	s.busy = false
	if err != nil || s.failure.fit != nil {
		s.noteFailure(snap, pod, d, err)
	}
	s.number++
	if n := within.lenIn(snap); n > 0 {
		s.start = remainder(d.start+d.advance, n)
	}
	return err
}

// remainder is i % n; in most calls it needs no division.
func remainder(i, n int) int {
	if i >= n {
		i -= n
	}
	if i >= n {
		return i % n
	}
	return i
}

// accept returns the pod as the snapshot reads it now. It refuses a scheduler that New did
// not make, and what current refuses.
func (s *Scheduler) accept(snap *framework.Snapshot, pod *framework.PodInfo) (*framework.PodInfo, error) {
	if s == nil || s.reference.plugins == nil {
		return nil, &api.InvalidError{Object: "scheduler", Err: errNotMade}
	}
	return current(snap, pod)
}

// current returns the pod as the snapshot reads it now. It rejects a snapshot and pod that
// no decision can be made about.
func current(snap *framework.Snapshot, pod *framework.PodInfo) (*framework.PodInfo, error) {
	if snap == nil {
		return nil, &api.InvalidError{Object: "snapshot", Err: errors.New("is nil")}
	}
	pod, err := snap.Current(pod)
	if err != nil {
		return nil, err
	}
	return pod.Fresh(), nil
}

var errNotMade = errors.New("is nil or the zero value; make one with scheduling.New")

// decideOnAPath takes the incremental path if it can, and both paths to verify.
func (s *Scheduler) decideOnAPath(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) error {
	if s.profile.Cache.Verify {
		return s.decideWatched(snap, pod, d)
	}
	if s.triesIncremental(snap, pod) {
		if err, ok := s.incremental.decide(snap, pod, d); ok {
			return err
		}
	}
	return s.decideByReference(snap, pod, d)
}

// decideByReference takes the reference path, and says so to the incremental one if it fails.
func (s *Scheduler) decideByReference(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error) {
	if *d, err = s.decide(&s.reference, snap, pod, s.number, s.start); err != nil && s.incremental != nil {
		s.incremental.failed(pod)
	}
	return err
}

// decideWatched is decideOnAPath with all that [CacheConfig.Verify] promises.
func (s *Scheduler) decideWatched(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) error {
	w := s.watch(snap, pod)
	err := s.decideCompared(snap, pod, d)
	if changed := s.mutation(w, s.number); changed != nil {
		return changed
	}
	return err
}

// decideCompared compares what the incremental path answers with the reference path.
func (s *Scheduler) decideCompared(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) error {
	if s.triesIncremental(snap, pod) {
		err, ok := s.incremental.decide(snap, pod, d)
		if fault := s.incremental.fault(snap, pod, d); fault != nil {
			return fault
		}
		if ok {
			if difference := s.incremental.verify(snap, pod, *d, err); difference != nil {
				return difference
			}
			return err
		}
	}
	return s.decideByReference(snap, pod, d)
}

// triesIncremental reports whether the incremental path is asked first.
func (s *Scheduler) triesIncremental(snap *framework.Snapshot, pod *framework.PodInfo) bool {
	few := s.reference.within.lenIn(snap) <= s.plugins.fewNodes()
	if s.deferred && !few {
		s.endDeferral(snap)
	}
	switch {
	case !s.mayUseIncremental(snap):
		return false
	case s.profile.Cache.Verify:
		return true
	case few:
		return false
	}
	f := s.incremental
	return s.reference.within != nil || f.rest.left == 0 || !f.rests(snap, pod)
}

// endDeferral makes the incremental path if kept answers may begin.
func (s *Scheduler) endDeferral(snap *framework.Snapshot) {
	x := extent{s.plugins.wanted(s.reference.within.lenIn(snap), s.profile.Percentage), snap.Len(), s.plugins.cost}
	if s.work += x.work(); beginsLate && s.work < workShare*x.classPrice() {
		return
	}
	s.incremental, s.deferred = s.classes(), false // it goes on where ClassKeysAt counts
	s.incremental.balances.addWork(x, s.work)
}

// mayUseIncremental reports whether the incremental path may have an answer.
func (s *Scheduler) mayUseIncremental(snap *framework.Snapshot) bool {
	return s.incremental != nil && snap.Len() > 0
}

// decide takes the reference path for the decision with that number and start.
func (s *Scheduler) decide(r *referencePath, snap *framework.Snapshot, pod *framework.PodInfo, number uint64, start int) (Decision, error) {
	d := Decision{TieRule: s.profile.TieRule, Number: number, start: start}
	if len(r.within.slotsOf(snap)) == 0 {
		return d, ErrNoNodes
	}
	seed := pick.Seed(s.profile.Seed, number)
	if !r.ready {
		r.cycle.Reset(pod, snap, number, seed)
	}
	err := r.search(snap, s.profile.Percentage, start)
	d.Evaluated, d.Feasible = r.visited, len(r.feasible)
	if d.advance = r.visited; r.nominated {
		d.advance = 0
	}
	if err != nil {
		return d, err
	}
	if len(r.feasible) == 0 {
		return d, r.fitError()
	}
	err = s.chooseFeasible(r, seed, &d)
	return d, err
}

// chooseFeasible chooses one of the feasible nodes. There must be some; a single one is not
// scored.
func (s *Scheduler) chooseFeasible(r *referencePath, seed uint64, d *Decision) error {
	if len(r.feasible) == 1 {
		d.TiedNodes = 1
		d.choose(r.feasible[0], 0)
		return nil
	}
	if err := r.score(); err != nil {
		return err
	}
	return s.chooseScored(r, seed, d)
}

// chooseScored chooses one of the nodes with the highest total.
func (s *Scheduler) chooseScored(r *referencePath, seed uint64, d *Decision) error {
	largest := r.best()
	d.TiedNodes = len(r.tied)
	place, err := r.choose(s.profile.TieRule, s.profile.TieBreak, seed)
	if err != nil {
		return err
	}
	d.choose(r.feasible[place], largest)
	return nil
}

func (d *Decision) choose(node *framework.NodeInfo, score int64) {
	d.Node, d.Score, d.node = node.Name(), score, node
}

// Place chooses a node, counts the pod on it and runs the Reserve plugins. If a
// Reserve plugin refuses, Place undoes everything in reverse order; the error is a
// [*FitError] for that node or a [*PluginError]. A pod that is placed twice counts twice,
// unless the snapshot was told to refuse that ([framework.Snapshot.RefuseDuplicates]).
func (s *Scheduler) Place(snap *framework.Snapshot, pod *framework.PodInfo) (d Decision, err error) {
	if err = s.schedule(context.Background(), snap, pod, &d); err != nil {
		return d, err
	}
	return d, s.assumeAndTell(snap, pod, &d)
}

// Assume is the second half of Place: it counts the pod on the node that Schedule
// has just chosen and runs the Reserve plugins, or changes nothing.
//
// A nil snapshot or pod, or a decision that names no node, is an
// [*api.InvalidError].
func (s *Scheduler) Assume(snap *framework.Snapshot, pod *framework.PodInfo, d Decision) error {
	pod, err := s.accept(snap, pod)
	if err != nil {
		return err
	}
	return s.assume(&s.reference.cycle, snap, pod, s.partsIn(snap, pod), d.node)
}

// assume counts the pod, which has the parts, on the node and runs the Reserve plugins, or
// changes nothing.
func (s *Scheduler) assume(c *framework.Cycle, snap *framework.Snapshot, pod *framework.PodInfo, parts podParts, node *framework.NodeInfo) error {
	if !s.plugins.reserving.in(parts) {
		return snap.AddPodAt(pod, node)
	}
	mark := snap.Begin()
	if _, err := s.assumeInside(c, snap, pod, parts, node); err != nil {
		snap.Rollback(mark)
		return err
	}
	snap.Commit(mark)
	return nil
}

// assumeInside is assume inside a transaction, which must end in a rollback after an error.
// It returns the node as it is now.
func (s *Scheduler) assumeInside(c *framework.Cycle, snap *framework.Snapshot, pod *framework.PodInfo, parts podParts, node *framework.NodeInfo) (*framework.NodeInfo, error) {
	if err := snap.AddPodAt(pod, node); err != nil {
		return nil, err
	}
	node = snap.AtSlot(node.Slot())
	if err := s.reserve(c, pod, parts, node); err != nil {
		return nil, s.plugins.takeBack(c, node, err)
	}
	return node, nil
}

func (s *Scheduler) reserve(c *framework.Cycle, pod *framework.PodInfo, parts podParts, node *framework.NodeInfo) (err error) {
	var at framework.ReservePlugin // nil once all have returned: recover is not free
	defer func() {
		if at == nil {
			return
		}
		if v := recover(); v != nil {
			err = &PluginError{Point: "Reserve", Plugin: nameOf(at), Node: node.Name(), Err: recovered(v)}
		}
	}()
	for i := range s.plugins.reserve {
		if !s.plugins.reserve[i].concern.in(parts) {
			continue
		}
		at = s.plugins.reserve[i].plugin
		switch status := at.Reserve(c, node); {
		case status.IsSuccess():
		case status.IsRejected():
			return rejection(pod, nameOf(at), status)
		default:
			return &PluginError{Point: "Reserve", Plugin: nameOf(at), Node: node.Name(), Err: status.Err()}
		}
	}
	at = nil
	return nil
}

// takeBack unreserves after an error, which it returns with what else failed.
func (t *plugins) takeBack(c *framework.Cycle, node *framework.NodeInfo, err error) error {
	if failed := t.unreserve(c, node); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// unreserve tells all Reserve plugins that the pod may concern, in reverse order, including
// those that have not reserved yet. A pod whose extended resources had a device class behind
// them when it was placed may have devices although the class has gone.
func (t *plugins) unreserve(c *framework.Cycle, node *framework.NodeInfo) error {
	var errs []error
	for i := len(t.reserve) - 1; i >= 0; i-- {
		if !t.reserve[i].concern.of(c.Pod) {
			continue
		}
		if err := callUnreserve(c, t.reserve[i].plugin, node); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func callUnreserve(c *framework.Cycle, p framework.ReservePlugin, node *framework.NodeInfo) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PluginError{Point: "Unreserve", Plugin: nameOf(p), Node: node.Name(), Err: recovered(v)}
		}
	}()
	p.Unreserve(c, node)
	return nil
}

// Profile returns the name of the scheduler's profile.
func (s *Scheduler) Profile() string { return s.profile.Name }

// Release takes a placed pod off its node again: it runs Unreserve in reverse order,
// then removes the pod from the snapshot. If either fails, the snapshot is as before. A snapshot or pod that Schedule
// rejects is an [*api.InvalidError]. A pod that is not on that node is one too, and then
// nothing is unreserved.
// To place a pod elsewhere that was running, use [framework.PodInfo.Pending]: its
// spec.nodeName still names this node.
func (s *Scheduler) Release(snap *framework.Snapshot, pod *framework.PodInfo, node string) error {
	pod, err := s.accept(snap, pod)
	if err != nil {
		return err
	}
	n := snap.NodeOf(pod, node)
	if !s.plugins.reserving.in(allOf(pod)) || !n.HasPod(pod) {
		return snap.RemovePod(pod, node)
	}
	mark := snap.Begin()
	defer snap.Rollback(mark)
	s.reference.cycle.Reset(pod, snap, s.number, pick.Seed(s.profile.Seed, s.number))
	if err := s.plugins.unreserve(&s.reference.cycle, n); err != nil {
		return err
	}
	if err := snap.RemovePod(pod, node); err != nil {
		return err
	}
	snap.Commit(mark)
	return nil
}
