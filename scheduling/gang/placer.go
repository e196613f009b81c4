package gang

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/podsize"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// A Placer places groups by one profile and one set of rules. It keeps the domains of the
// nodes and how many pods each node takes, so later groups of a known class cost less.
// Only one goroutine at a time may use it, together with its scheduler; see
// [Placer.Fork].
type Placer struct {
	sched  *scheduling.Scheduler
	rules  Rules
	forest forest
	rooms  roomByClass
	verify bool // counts are compared with trials
	tree   *treeWork

	workers []*Placer // forks; see [Rules.Workers]
}

// New returns a Placer that decides with the scheduler, whose kept answers it shares with
// single pods. Rules that make no sense, and a nil scheduler, are an [*api.InvalidError].
func New(sched *scheduling.Scheduler, rules Rules) (*Placer, error) {
	if sched == nil {
		return nil, &api.InvalidError{Object: "scheduler", Err: errors.New("is nil")}
	}
	if err := rules.check(); err != nil {
		return nil, err
	}
	return &Placer{sched: sched, rules: rules, verify: sched.Verifies()}, nil
}

// Fork returns a Placer for another goroutine, with a fork of the scheduler.
func (p *Placer) Fork() *Placer {
	return &Placer{sched: p.sched.Fork(), rules: p.rules, verify: p.verify}
}

// Rules returns the rules of the Placer.
func (p *Placer) Rules() Rules { return p.rules }

// Scheduler returns the scheduler that decides.
func (p *Placer) Scheduler() *scheduling.Scheduler { return p.sched }

// Place places the group, or nothing. If the outcome is Placed, the pods count on their
// nodes and the Reserve plugins have run. Otherwise the snapshot is exactly as before.
//
// A group without pods that wait is Placed if its minimum stands: nothing is to be done.
//
// "It does not fit" is an outcome. An error says that the attempt could not be decided: a
// malformed group is an [*api.InvalidError] with field and value, and a plugin may fail.
// The answer depends on the snapshot, the group, the rules with their seed, and where the
// scheduler's next search begins; the scheduler is then where it was before.
func (p *Placer) Place(snap *framework.Snapshot, g *Group) (*Outcome, error) {
	if err := p.check(snap, g); err != nil {
		return nil, err
	}
	return p.place(snap, g, true)
}

// Try is Place, taken back: the snapshot is exactly as before, whatever the outcome.
func (p *Placer) Try(snap *framework.Snapshot, g *Group) (*Outcome, error) {
	if err := p.check(snap, g); err != nil {
		return nil, err
	}
	return p.place(snap, g, false)
}

// place is Place for a group that was checked. Unless keep is set, all is taken back.
func (p *Placer) place(snap *framework.Snapshot, g *Group, keep bool) (*Outcome, error) {
	return p.placeWithin(snap, g, nil, keep)
}

// placeWithin is place among the nodes of a domain of another group's levels; nil means
// all nodes. A group whose pods are nominated, and that does not stand, is tried once more without that: its own
// nominations may count where it cannot be, as where its pods must be spread.
func (p *Placer) placeWithin(snap *framework.Snapshot, g *Group, outer *domain, keep bool) (*Outcome, error) {
	out, err := p.attemptWithin(snap, g, outer, keep)
	if err != nil || out.Status == Placed || p.rules.kubernetes() {
		return out, err
	}
	mark := snap.Begin()
	defer snap.Rollback(mark)
	withdrawn := withdraw(snap, g)
	if len(withdrawn) == 0 {
		return out, nil
	}
	again, err := p.attemptWithin(snap, g, outer, keep)
	switch {
	case err != nil:
		return nil, err
	case again.Status != Placed:
		return out, nil
	case keep:
		if err := renominate(snap, withdrawn); err != nil {
			return nil, err
		}
		snap.Commit(mark)
	}
	return again, nil
}

// attemptWithin is one attempt of placeWithin.
func (p *Placer) attemptWithin(snap *framework.Snapshot, g *Group, outer *domain, keep bool) (out *Outcome, err error) {
	a := attempt{Placer: p, snap: snap, g: g, position: p.sched.Position()}
	a.out = &Outcome{Group: g.Key()}
	a.hash = newHash(p.rules.Seed).add(g.Key())
	mark := snap.Begin()
	defer func() {
		a.spend()
		if keep && out != nil && out.Status == Placed { // out is nil on an error, and in a panic
			snap.Commit(mark)
		}
		snap.Rollback(mark)
		p.sched.Seek(a.position)
	}()
	if a.keys = g.labels(); p.rules.ignoresLevels() {
		a.keys = nil
	}
	a.root = p.treeWithin(snap, outer, a.keys)
	if err := a.count(a.worth()); err != nil {
		return nil, err
	}
	if p.rules.kubernetes() {
		err = a.kubernetes()
	} else {
		err = a.own()
	}
	if err != nil {
		return nil, err
	}
	if outer != nil && a.out.Status != Placed {
		a.out.Proved = false // elsewhere it might stand
	}
	return a.out, nil
}

// treeWithin returns the root of the domains by the labels, among the nodes of a domain of
// another group's levels; nil means all nodes.
func (p *Placer) treeWithin(snap *framework.Snapshot, outer *domain, keys []string) *domain {
	if outer == nil || outer.parent == nil && len(outer.slots) == snap.Len() {
		return p.forest.of(snap, keys)
	}
	return rootOf(snap, outer.slots, keys)
}

// attempt is the state of one call.
type attempt struct {
	*Placer
	snap     *framework.Snapshot
	g        *Group
	keys     []string
	root     *domain
	out      *Outcome
	position scheduling.Position
	hash     hash
	room     *room // if the pods are of one class whose filters read one node only
	steps    int
	decided  int   // pods that were tried in domains; see givenUpCost
	takes    []int // by id of the domain; see fits
	gaveUp   bool
	fewer    []*candidate    // domains of Preferred levels that take the minimum, but not all
	mean     resource.Vector // what a pod asks for on average, for estimates
}

// count finds out whether counts tell how many pods of the group a domain takes. Where pods have to be placed to count, it
// places at most so many.
func (a *attempt) count(placements int) (err error) {
	a.room, err = a.rooms.of(a.sched, a.snap, a.g.Pods, placements)
	return err
}

// worth is how many placements counts are worth: as many as there are decisions in all domains without them. If these are more
// than an attempt may make, only counts help. Placements of pods with many parts take longer, so they are fewer.
func (a *attempt) worth() int {
	if len(a.g.Pods) == 0 {
		return placementsLeast
	}
	most := max(a.root.size*len(a.g.Pods), placementsLeast)
	if most > a.decisions() {
		most = max(most, placementsMost)
	}
	return most / (1 + podsize.Parts(a.g.Pods[0].Pod)/partsOfAPlacement)
}

// progress is how many members stand and how many remain to be tried.
type progress struct{ least, scheduled, remaining int }

func (p progress) impossible() bool { return p.scheduled+p.remaining < p.least }
func (p progress) done() bool       { return p.scheduled >= p.least }

// String is kube-scheduler's text for a group that does not stand yet.
func (p progress) String() string {
	verb := "is not yet satisfied"
	if p.impossible() {
		verb = "cannot be satisfied"
	}
	return fmt.Sprintf("minCount (%d) %s: %d scheduled, %d remaining", p.least, verb, p.scheduled, p.remaining)
}

// progress returns what stands before the first pod is tried.
func (a *attempt) progress() progress {
	return progress{a.g.least(), len(a.g.Present), len(a.g.Pods)}
}

// try tries one pod of the group among the nodes of a domain. It reports whether the pod
// stands now; it is an error if that could not be decided.
func (a *attempt) try(d *domain, i int, t *Trial) (bool, error) {
	pod := a.g.Pods[i]
	if a.decided++; a.decided > a.decisions() {
		return false, a.tooMany()
	}
	set, err := d.nodes(a.snap)
	if err != nil {
		return false, err
	}
	a.sched.Seek(a.sched.Position().Numbered(uint64(a.hash.add(d.name).word(i))))
	var decision scheduling.Decision
	if set == nil {
		decision, err = a.sched.Place(a.snap, pod)
	} else {
		decision, err = a.sched.PlaceWithin(a.snap, pod, set)
	}
	var fit *scheduling.FitError
	switch {
	case err == nil:
		a.snap.ClearNominations(pod)
		t.Placed = append(t.Placed, Placement{pod.Pod.Key(), decision.Node, decision.Score, i})
		return true, nil
	case errors.As(err, &fit), errors.Is(err, scheduling.ErrNoNodes):
		if fit != nil && slices.ContainsFunc(fit.Rejections, givenUp) {
			a.decided += givenUpCost
		}
		t.Left = append(t.Left, Left{pod.Pod.Key(), err, i})
		return false, nil
	}
	return false, fmt.Errorf("failed to schedule other pod from a pod group: %w", err)
}

// givenUpCost is as how many decisions one counts for which searches for devices were given up: it takes
// about a quarter of a second.
const givenUpCost = 50_000

func givenUp(r scheduling.Rejection) bool { return r.Status.Is(filter.SearchGivenUp) }

// decisions is how many decisions the attempt may make.
func (a *attempt) decisions() int { return a.rules.decisions(len(a.g.Pods)) }

// decisions is how many decisions an attempt for so many pods may make.
func (r *Rules) decisions(pods int) int {
	switch most := r.Decisions; {
	case most < 0:
		return math.MaxInt
	case most == 0:
		return max(300_000, pods)
	default:
		return max(most, pods)
	}
}

// tooMany says that an attempt has made all its decisions.
func (a *attempt) tooMany() error {
	return a.g.invalid("pods", strconv.Itoa(len(a.g.Pods)), fmt.Sprintf("are too many to try in each domain, or ask for devices that are too hard to find: more than %d decisions, see Rules.Decisions", a.decisions()))
}

// newTrial returns an empty trial of the domain.
func newTrial(d *domain) *Trial {
	return &Trial{Domain: d.path, Nodes: len(d.slots), Capacity: -1, domain: d}
}

// finish fills in the outcome from the trial that was kept, or that a refusal tells of.
func (a *attempt) finish(t *Trial) {
	o := a.out
	o.best, o.Domain, o.Steps = t, t.Domain, a.steps
	if o.Status != Placed {
		o.Domain = nil
		t.Missing = a.missing(t)
	} else {
		o.Proved, o.Placed = true, t.Placed
	}
	stands := make([]bool, len(a.g.Pods))
	errs := make([]error, len(a.g.Pods))
	for _, p := range o.Placed {
		stands[p.index] = true
	}
	for _, l := range t.Left {
		errs[l.index] = l.Err
	}
	for i, pod := range a.g.Pods {
		if !stands[i] {
			o.Left = append(o.Left, Left{pod.Pod.Key(), errs[i], i})
		}
	}
}

// A hash gives words that depend on texts and numbers: FNV-1a of 64 bits.
type hash uint64

func newHash(seed uint64) hash {
	h := hash(14695981039346656037)
	return h.word64(seed)
}

func (h hash) byte(b byte) hash { return (h ^ hash(b)) * 1099511628211 }

func (h hash) add(text string) hash {
	for i := range len(text) {
		h = h.byte(text[i])
	}
	return h.byte(0xff)
}

func (h hash) word64(x uint64) hash {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	for _, c := range b {
		h = h.byte(c)
	}
	return h
}

func (h hash) word(i int) hash { return h.word64(uint64(i)) }
