package whatif

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/podsize"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/scheduling"
)

// A WhyNot says why a pod does not go to a node, and what would put it there.
type WhyNot struct {
	// Pod is "namespace/name".
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Gates are the scheduling gates of the pod, which waits until all are removed. The
	// rest of the answer is as without them.
	Gates []string `json:"gates,omitempty"`
	// Unseen is set if the scheduler does not look at the node, because it finds enough
	// others before: the profile looks at a sample (Percentage), or scores nothing.
	Unseen bool `json:"unseen,omitempty"`
	// Chosen is where the pod goes now, "" for nowhere.
	Chosen string `json:"chosen,omitempty"`
	// Rejections lists every filter that rejects the node, with its numbers.
	Rejections []scheduling.NodeRejection `json:"rejections"`
	// Scores compares a feasible node with the chosen one, plugin by plugin.
	Scores []ScoreGap `json:"scores,omitempty"`
	// Remedies are the smallest changes that were found, each enough on its own: those
	// of few steps first. Each was checked by deciding with it.
	Remedies []Remedy `json:"remedies"`
}

// A ScoreGap is what one plugin gives two nodes. Gap is how much more the chosen node
// gets, weighted; a negative one speaks for the other node.
type ScoreGap struct {
	Plugin string `json:"plugin"`
	Weight int64  `json:"weight"`
	Node   int64  `json:"node"`
	Chosen int64  `json:"chosen"`
	Gap    int64  `json:"gap"`
}

// A Remedy is a set of changes that together put the pod on the node. Without any one
// of them it goes elsewhere; one unit less of a lowered request or changed weight does
// not suffice either. No fewer pods of the node could be removed in place of those that
// are, unless Unproved is set.
type Remedy struct {
	Changes []Change `json:"changes"`
	// Unproved is set if fewer pods might be removed: the search for fewer came to its
	// bound, or the removal of some pods may harm the pod.
	Unproved bool `json:"unproved,omitempty"`
}

// String writes the remedy for people.
func (r Remedy) String() string {
	texts := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		texts[i] = c.String()
	}
	text := strings.Join(texts, ", and ")
	if r.Unproved {
		text += " (perhaps fewer pods suffice)"
	}
	return text
}

// WhyNot says why the pod does not go to the node: every filter that rejects it, the
// gap of scores to the chosen node, and changes that would put the pod there.
//
// If filters reject the node, remedies lower requests, tolerate taints, change labels
// of the node or the demands of the pod, drop constraints, or remove pods, and pin the
// pod if another node would still win. Lower requests are the highest that fit. Pods to
// remove are the fewest of the node or, if that does not help, of its topology domains; the
// least important ones if several sets are as small. If the node is feasible, remedies change one weight, or pin
// the pod. Other remedies may exist: the list is not complete, and a filter of your own
// that nothing of this helps has none.
//
// A pod that runs is asked about as it waited for its place: it is taken off its node
// for the question, so it does not count against itself.
//
// Under a profile with extenders, whose scores cannot be kept, it is an error for a node that all filters accept.
//
// It costs a few decisions on the reference path. The search for remedies is bounded: for
// a pod with many containers, ports or constraints, more than about fifty, it may be an
// error that says so.
func (p *Planner) WhyNot(pod *framework.PodInfo, name string) (*WhyNot, error) {
	if err := p.snapshot.CheckPod(pod); err != nil {
		return nil, err
	}
	n, err := node(p.snapshot, name)
	if err != nil {
		return nil, err
	}
	pod = p.asItWaits(pod)
	x := &whyNot{planner: p, pod: pod.Pod, node: n.Node, spread: p.sched.SpreadConstraints(pod), asked: map[string]bool{}, decided: map[string]string{}}
	if x.sched, err = p.plain(); err != nil {
		return nil, err
	}
	var w *WhyNot
	err = p.takenOff(pod, func() error {
		w, err = x.answer(pod)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// asItWaits returns a pod that waits, which may be nominated to a node, or the pending form of one that runs or
// has a place.
func (p *Planner) asItWaits(pod *framework.PodInfo) *framework.PodInfo {
	if placed, _ := p.snapshot.Pod(pod.Pod.Key()); placed == nil && pod.Pod.Spec.NodeName == "" {
		return pod
	}
	return pod.Pending()
}

// takenOff calls f with the pod off its node, if it has one, and with claims made for it.
func (p *Planner) takenOff(pod *framework.PodInfo, f func() error) error {
	mark := p.snapshot.Begin()
	defer p.snapshot.Rollback(mark)
	if running, n := p.snapshot.Pod(pod.Pod.Key()); running != nil {
		if err := p.release(p.snapshot, running, n.Name()); err != nil {
			return err
		}
	}
	if err := p.makeClaims(p.snapshot, pod); err != nil {
		return err
	}
	return f()
}

// answer answers for the pod, which is on no node.
func (x *whyNot) answer(pod *framework.PodInfo) (*WhyNot, error) {
	p, name := x.planner, x.node.Name
	w := &WhyNot{Pod: pod.Pod.Key(), Node: name, Gates: pod.Gates(), Remedies: []Remedy{}, Rejections: []scheduling.NodeRejection{}}
	err := p.try(func(s *framework.Snapshot) error {
		x.sched.Seek(p.start)
		f, err := p.filters(s, pod)
		if err != nil {
			return err
		}
		list, err := f.Rejections(s.Node(name))
		if err != nil || len(list) > 0 {
			w.Rejections = append(w.Rejections, list...)
			return err
		}
		if x.table, err = p.table(s, pod); err != nil {
			return err
		}
		w.Chosen, err = chosen(x.table, x.sched.Weights())
		return err
	})
	if len(w.Rejections) > 0 && err == nil {
		w.Chosen, err = x.decide(nil)
	}
	switch {
	case err != nil:
		return nil, err
	case w.Chosen == name:
		return w, nil
	case len(w.Rejections) == 0:
		w.Scores = x.gaps(w.Chosen)
		all := p.profile.Percentage == scheduling.AllNodes && len(p.profile.Score) > 0
		w.Unseen = w.Chosen != "" && w.Scores == nil && !all
		w.Remedies, err = x.preferred()
	default:
		w.Remedies, err = x.repaired(w.Rejections)
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// plain is a scheduler that keeps no answers: the pods of trials are seen once.
func (p *Planner) plain() (_ *scheduling.Scheduler, err error) {
	if p.keepless == nil {
		p.keepless, err = p.weighing(nil)
	}
	return p.keepless, err
}

// weighing is a new scheduler that keeps no answers, with other weights.
func (p *Planner) weighing(weights Weights) (*scheduling.Scheduler, error) {
	profile := p.profile
	profile.Cache.Off = true
	profile.Score = nil
	for _, w := range p.profile.Score {
		if weight, ok := weights[nameOf(w.Plugin)]; ok {
			if w.Weight = weight; weight == 0 {
				continue
			}
		}
		profile.Score = append(profile.Score, w)
	}
	return scheduling.New(profile)
}

// nameOf returns the name of a plugin, "" if the method Name panics, about which scheduling.New says more.
func nameOf(p framework.Plugin) (name string) {
	defer func() { _ = recover() }()
	return p.Name()
}

// Decide returns the node that the pod would go to with these changes, "" for none.
// Changes of the node and its pins are those of the named node. A pod that runs is taken
// off its node for the question. A change that would change nothing is an error: an index or
// name that the pod, the node or the profile does not have, or a request that is not lower.
func (p *Planner) Decide(pod *framework.PodInfo, name string, changes ...Change) (string, error) {
	if err := p.snapshot.CheckPod(pod); err != nil {
		return "", err
	}
	n, err := node(p.snapshot, name)
	if err != nil {
		return "", err
	}
	x := &whyNot{planner: p, pod: p.asItWaits(pod).Pod, node: n.Node, decided: map[string]string{}}
	if err := p.checkChanges(x.pod, x.node, changes); err != nil {
		return "", err
	}
	if x.sched, err = p.plain(); err != nil {
		return "", err
	}
	var chosen string
	err = p.takenOff(pod, func() error {
		chosen, err = x.decide(changes)
		return err
	})
	return chosen, err
}

// whyNot is the work on a WhyNot.
type whyNot struct {
	planner *Planner
	pod     *api.Pod
	node    *api.Node
	sched   *scheduling.Scheduler          // without kept answers
	table   *scheduling.ScoreTable         // of the pod as it is
	spread  []api.TopologySpreadConstraint // that may hold for the pod
	proofs  []proof
	forks   []*framework.Snapshot // each with other labels of the node
	removed *removed              // of the last trial that removed many pods
	asked   map[string]bool       // what feasible has found, by the changes
	decided map[string]string     // what decide has found, by the changes
	key     []byte                // memory of keyOf
	steps   int                   // what all trials took
}

// maxSteps bounds what the trials of one question take, 2 to 4 s. They are many, and each
// grows with the pod: without a bound, a pod with 2,000 host ports takes hours.
const maxSteps = 20_000_000

// trial is newTrial within the bound.
func (x *whyNot) trial(changes []Change) (*trial, error) {
	t, err := newTrial(x.pod, x.node, changes)
	if err := x.spend(t.steps + len(changes) + len(x.node.Spec.Taints)); err != nil {
		return nil, err
	}
	return t, err
}

// spend counts steps. It is an error if they are too many.
func (x *whyNot) spend(steps int) error {
	if x.steps += steps; x.steps <= maxSteps {
		return nil
	}
	return &api.InvalidError{
		Object: "pod " + x.pod.Key(), Field: "spec", Value: fmt.Sprintf("%d parts", podsize.Parts(x.pod)),
		Err: fmt.Errorf("the search for remedies took more than %d steps; ask about a pod with fewer containers, ports, constraints and claims, or a node with fewer taints", maxSteps),
	}
}

// remedy makes a remedy of changes.
func (x *whyNot) remedy(changes []Change) Remedy {
	return Remedy{Changes: changes, Unproved: !x.isProved(changes)}
}

// with calls f with the snapshot and the pod as the changes make them.
func (x *whyNot) with(changes []Change, f func(s *framework.Snapshot, pod *framework.PodInfo, t *trial) error) error {
	t, err := x.trial(changes)
	if err != nil {
		return err
	}
	pod, err := x.planner.snapshot.NewPodInfo(t.pod)
	if err != nil {
		return err
	}
	return x.in(t, func(s *framework.Snapshot) error {
		x.sched.Seek(x.planner.start)
		return f(s, pod, t)
	})
}

// in calls f with the snapshot in a transaction, as the trial changes it. What searches for volumes and
// devices take is known afterwards.
func (x *whyNot) in(t *trial, f func(s *framework.Snapshot) error) error {
	before := searched(x.planner.snapshot)
	defer func() { x.steps += searched(x.planner.snapshot) - before }()
	s, err := x.planner.snapshot, error(nil)
	if t.node != nil {
		if s, err = x.fork(t.node); err != nil {
			return err
		}
	}
	few := t.remove
	if len(few) >= manyRemoved {
		if s, err = x.without(s, few); err != nil {
			return err
		}
		few = nil
	}
	mark := s.Begin()
	defer s.Rollback(mark)
	for _, c := range few {
		if _, err := x.removePod(s, c); err != nil {
			return err
		}
	}
	return f(s)
}

// searched returns what searches for volumes and devices took in the snapshot and its forks. A step of one for
// devices takes a quarter of another step.
func searched(s *framework.Snapshot) int { return int(volumes.Spent(s) + devices.Spent(s)/4) }

// fork is a fork with the node changed. It is kept, because a change of a node's labels
// costs more than all else of a trial.
func (x *whyNot) fork(node *api.Node) (*framework.Snapshot, error) {
	x.steps += len(x.forks) * len(node.Labels) / 2
	for _, s := range x.forks {
		if maps.Equal(s.Node(node.Name).Node.Labels, node.Labels) {
			return s, nil
		}
	}
	s := x.planner.snapshot.Fork()
	if err := s.UpdateNode(node); err != nil {
		return nil, err
	}
	x.forks = append(x.forks, s)
	return s, nil
}

// feasible reports whether the node accepts the pod with the changes. It asks once: the
// search comes to many sets again.
func (x *whyNot) feasible(changes []Change) (ok bool, err error) {
	if ok, known := x.asked[string(x.keyOf(changes))]; known {
		return ok, nil
	}
	key := string(x.key)
	if ok, err = x.askFeasible(changes); err == nil {
		x.asked[key] = ok
	}
	return ok, err
}

// keyOf tells the changes from others.
func (x *whyNot) keyOf(changes []Change) []byte {
	x.key = x.key[:0]
	for i := range changes {
		x.key = changes[i].appendKey(x.key)
	}
	return x.key
}

func (x *whyNot) askFeasible(changes []Change) (ok bool, err error) {
	err = x.with(changes, func(s *framework.Snapshot, pod *framework.PodInfo, _ *trial) error {
		f, err := x.planner.filters(s, pod)
		if err != nil {
			return err
		}
		v, err := f.Node(s.Node(x.node.Name))
		ok = v.Status.IsSuccess()
		return err
	})
	return ok, err
}

// decide returns the node that the pod goes to with the changes, "" for none. It decides
// once, like feasible.
func (x *whyNot) decide(changes []Change) (name string, err error) {
	if name, known := x.decided[string(x.keyOf(changes))]; known {
		return name, nil
	}
	key := string(x.key)
	if name, err = x.askDecision(changes); err == nil {
		x.decided[key] = name
	}
	return name, err
}

func (x *whyNot) askDecision(changes []Change) (name string, err error) {
	err = x.with(changes, func(s *framework.Snapshot, pod *framework.PodInfo, t *trial) error {
		sched := x.sched
		if t.weights != nil {
			if sched, err = x.planner.weighing(t.weights); err != nil {
				return err
			}
			sched.Seek(x.planner.start)
		}
		d, err := sched.Schedule(s, pod)
		if err != nil {
			_, err = unplaced(pod, err)
			return err
		}
		name = d.Node
		return nil
	})
	return name, err
}

// gaps compares the node with the chosen one.
func (x *whyNot) gaps(chosen string) (list []ScoreGap) {
	here, there, weights := x.table.Scores(x.node.Name), x.table.Scores(chosen), x.sched.Weights()
	if here == nil || there == nil {
		return nil
	}
	at := map[string]int{}
	for i, w := range x.planner.profile.Score {
		at[nameOf(w.Plugin)] = i
	}
	for i, name := range x.table.Plugins() {
		w := weights[at[name]]
		list = append(list, ScoreGap{name, w, here[i], there[i], w * (there[i] - here[i])})
	}
	slices.SortStableFunc(list, func(a, b ScoreGap) int { return int(min(max(b.Gap-a.Gap, -1), 1)) })
	return list
}

// WriteTable writes the answer as text for people.
func (w *WhyNot) WriteTable(out io.Writer) error {
	var t table
	switch {
	case w.Chosen == w.Node:
		t.line("pod %s goes to %s", w.Pod, w.Node)
	case w.Chosen == "":
		t.line("pod %s goes nowhere, so not to %s", w.Pod, w.Node)
	default:
		t.line("pod %s goes to %s, not to %s", w.Pod, w.Chosen, w.Node)
	}
	writeGates(&t, w.Gates)
	if w.Unseen {
		t.line("%s was not looked at: the scheduler found enough other nodes before it", w.Node)
	}
	if len(w.Rejections) > 0 {
		t.row("REJECTED BY", "REASON", "NUMBERS")
	}
	for _, r := range w.Rejections {
		var details []string
		for _, d := range r.Details {
			details = append(details, d.String())
		}
		t.row(r.Plugin, strings.Join(r.Reasons, "; "), strings.Join(details, "; "))
	}
	t.end()
	if len(w.Scores) > 0 {
		t.row("SCORED BY", "WEIGHT", w.Node, w.Chosen, "GAP")
	}
	for _, s := range w.Scores {
		t.row(s.Plugin, s.Weight, s.Node, s.Chosen, s.Gap)
	}
	t.end()
	for i, r := range w.Remedies {
		if i == 0 {
			t.line("what would put it there, each alone:")
		}
		t.line("- %s", fmt.Sprint(r))
	}
	return t.write(out)
}
