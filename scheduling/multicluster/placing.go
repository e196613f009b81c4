package multicluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// placing is one call of Federation.Place.
type placing struct {
	federation  *Federation
	workload    Workload         // Clusters holds the replicas before the call
	has         map[string]int64 // replicas now, by cluster
	named       map[string]int64 // the number of the next pod, by cluster
	room        knownRoom
	anew        bool // each round starts from the replicas before the call
	estimators  []capacity.ClusterEstimator
	remembering []capacity.ClusterEstimator // the same, see answers
	described   []described                 // by member
	asked       bool                        // whether the nodes were asked, see askNodes
	takesFull   bool                        // whether full clusters may be chosen for sets, see decideSets
	failed      error                       // error of the last decision for all replicas
	names       map[string]map[string]bool  // names of the pods of each cluster
	work        budget                      // of all decisions
	assumed     budget                      // the same, for assumed workloads
	placed      int                         // pods, with those that were taken back
	out         *Placed
}

// maxPlaced bounds how many pods one call places, with those that it takes back: 6 s and 1.4 GB.
const maxPlaced = 1_000_000

var errTooManyPods = fmt.Errorf("more than %d replicas would be placed on nodes, one by one; ask about fewer", maxPlaced)

func newPlacing(f *Federation, w *Workload) *placing {
	p := &placing{
		federation: f, workload: *w, room: knownRoom{}, estimators: f.scheduler.Estimators, names: map[string]map[string]bool{}, out: &Placed{},
	}
	p.work.most, p.assumed.most = maxPlaceWork, maxPlaceWork
	p.described = make([]described, len(f.members))
	p.remembering = remembering(p.estimators)
	p.restart()
	return p
}

// restart forgets placements and removals, but keeps what is known about room.
func (p *placing) restart() {
	p.has, p.named = byCluster(p.workload.Clusters), byCluster(p.workload.Clusters)
	p.out.Pods, p.out.Removed = nil, nil
}

// knownRoom is an estimator for the clusters that turned out to be full: it says how
// many more replicas they take.
type knownRoom map[string]int64

func (k knownRoom) Name() string { return "placing" }

func (k knownRoom) EstimateSets(c *api.Cluster, _ []capacity.Component) (capacity.Estimate, error) {
	return k.Estimate(c, nil)
}

func (k knownRoom) Estimate(c *api.Cluster, _ *capacity.Replica) (capacity.Estimate, error) {
	n, known := k[c.Name]
	return capacity.Estimate{Replicas: n, NoOpinion: !known}, nil
}

func (p *placing) run() error {
	if err := p.workload.check(); err != nil {
		return ofWorkload(&p.workload, err)
	}
	strategy, err := p.workload.Placement.Strategy()
	if err != nil {
		return ofWorkload(&p.workload, err)
	}
	if len(p.workload.Components) > 0 {
		return p.runSets()
	}
	d, x, err := p.decideOrAskNodes()
	switch {
	case err != nil:
		return err
	case x == nil && !isShortage(p.failed):
		return p.failed
	case x == nil:
		p.finish(p.lacking())
		return nil
	case p.workload.Replicas == 0:
		p.remove(d.Targets)
		p.out.Targets = d.Targets
		return nil
	case strategy == StaticWeight && x.Division == nil: // spread constraints count, and clusters lack room
		p.finish(p.lacking())
		return nil
	case p.choosesClusters() && (strategy == DynamicWeight || strategy == Aggregated):
		return p.runSpread(d, x)
	}
	p.remove(d.Targets)
	left, err := p.place(d.Targets, x, p.missing(d.Targets))
	if err != nil {
		return err
	}
	if strategy != Duplicated {
		left = p.giveBack(x, p.lacking())
	}
	for left > 0 && strategy != Duplicated {
		var targets []Target
		var again *Explanation
		if strategy == StaticWeight {
			targets, err = p.divideStatic(left, x.Division.Weights)
		} else {
			var d Decision
			d, again, err = p.decideWhatFits()
			targets = d.Targets
		}
		if err != nil {
			return err
		}
		before := len(p.out.Rounds)
		if left, err = p.place(targets, again, left); err != nil {
			return err
		}
		if len(p.out.Rounds) == before && (strategy == StaticWeight || !p.askNodes()) {
			break // no cluster was given anything
		}
	}
	p.finish(left)
	return nil
}

// choosesClusters reports whether a decision chooses some of the clusters: by spread constraints, or those of one
// affinity of several. Then replicas must not stay in the clusters of an earlier choice.
func (p *placing) choosesClusters() bool {
	return len(p.workload.Placement.SpreadConstraints) > 0 || len(p.workload.Placement.ClusterAffinities) > 1
}

// finish records where replicas are in the end.
func (p *placing) finish(unplaced int64) {
	p.out.Targets, p.out.Unplaced = p.now(), unplaced
	if unplaced > 0 && p.failed != nil {
		p.out.Reason = p.failed.Error()
	}
}

// lacking returns how many wanted replicas are missing.
func (p *placing) lacking() int64 {
	left := p.workload.Replicas
	for _, n := range p.has {
		left -= n
	}
	return max(0, left)
}

// isShortage reports whether a decision failed for lack of room.
func isShortage(err error) bool {
	var short *ShortageError
	var spread *SpreadError
	return errors.As(err, &short) || errors.As(err, &spread) && spread.Wanted > 0
}

// askNodes replaces the estimators that use cluster status by the accurate one. It
// does so once, and reports whether there were any.
func (p *placing) askNodes() bool {
	if p.asked {
		return false
	}
	p.asked = true
	changed := slices.Clone(p.estimators)
	found := false
	for i, e := range changed {
		g, ok := e.(capacity.General)
		if pointer, is := e.(*capacity.General); is && pointer != nil {
			g, ok = *pointer, true
		}
		if ok {
			nodes := p.federation.nodes
			nodes.Assumed = g.Assumed
			changed[i], found = nodes, true
		}
	}
	if found {
		p.estimators, p.remembering = changed, remembering(changed)
	}
	return found
}

// decideOrAskNodes decides for as many replicas as fit. If none are expected to fit,
// it asks the nodes and decides again.
func (p *placing) decideOrAskNodes() (Decision, *Explanation, error) {
	d, x, err := p.decideWhatFits()
	if err == nil && x == nil && isShortage(p.failed) && p.askNodes() {
		return p.decideWhatFits()
	}
	return d, x, err
}

// runSpread places under spread constraints or several affinities. A cluster with less room than expected
// may be the wrong choice. So runSpread takes back such a round and chooses clusters
// anew, now that it knows how many replicas these take. When no more is expected to
// fit, it asks the nodes. If they have room for more, it takes back the placements
// for that.
func (p *placing) runSpread(d Decision, x *Explanation) error {
	p.anew = true
	final := false
	for x != nil {
		rounds, marks := len(p.out.Rounds), p.begin()
		p.remove(d.Targets)
		short := maps.Clone(p.room)
		left, err := p.place(d.Targets, x, p.missing(d.Targets))
		if err != nil {
			return err // the caller takes everything back
		}
		settled := left == 0 || maps.Equal(short, p.room)
		lacking := p.lacking()
		if settled && (final || lacking == 0 || !p.askNodes()) {
			p.end(marks, true)
			break
		}
		p.end(marks, false)
		p.restart()
		next, why, err := p.decideOrAskNodes()
		if err != nil {
			return err
		}
		if settled && (why == nil || p.workload.Replicas-sumOfReplicas(next.Targets) >= lacking) {
			final = true
			p.out.Rounds = p.out.Rounds[:rounds] // it comes again
			continue
		}
		if len(p.out.Rounds) > rounds {
			p.out.Rounds[len(p.out.Rounds)-1].TakenBack = true
		}
		d, x = next, why
	}
	p.finish(p.lacking())
	return nil
}

func sumOfReplicas(targets []Target) int64 {
	var n int64
	for _, t := range targets {
		n = resource.SatAdd(n, t.Replicas)
	}
	return n
}

func (p *placing) begin() []framework.Mark {
	marks := make([]framework.Mark, len(p.federation.members))
	for i, m := range p.federation.members {
		marks[i] = m.Snapshot.Begin()
	}
	return marks
}

// end keeps or takes back all placements since begin.
func (p *placing) end(marks []framework.Mark, keep bool) {
	for i, m := range p.federation.members {
		if keep {
			m.Snapshot.Commit(marks[i])
		} else {
			m.Snapshot.Rollback(marks[i])
		}
	}
}

// missing returns how many replicas targets have beyond those now placed.
func (p *placing) missing(targets []Target) int64 {
	var n int64
	for _, t := range targets {
		n = resource.SatAdd(n, max(0, t.Replicas-p.has[t.Name]))
	}
	return n
}

// now returns where replicas are, by name.
func (p *placing) now() []Target {
	targets := make([]Target, 0, len(p.has))
	for name, n := range p.has {
		targets = append(targets, Target{name, n})
	}
	sortByName(targets)
	return targets
}

// remove records which replicas must leave according to the first decision.
func (p *placing) remove(targets []Target) {
	wanted := byCluster(targets)
	for _, t := range p.now() {
		if more := t.Replicas - wanted[t.Name]; more > 0 {
			p.out.Removed = append(p.out.Removed, Target{t.Name, more})
			p.has[t.Name] = wanted[t.Name]
		}
		if p.has[t.Name] == 0 {
			delete(p.has, t.Name)
		}
	}
}

// giveBack lets replicas stay that were to leave clusters of the decision, as far as others have no room for
// them. It returns how many are still missing.
func (p *placing) giveBack(x *Explanation, left int64) int64 {
	for i := range p.out.Removed {
		r := &p.out.Removed[i]
		if x.Selection == nil || !slices.Contains(x.Selection.Clusters, r.Name) {
			continue
		}
		n := min(r.Replicas, left)
		r.Replicas -= n
		left -= n
		if n > 0 {
			p.has[r.Name] = resource.SatAdd(p.has[r.Name], n)
		}
	}
	p.out.Removed = slices.DeleteFunc(p.out.Removed, func(t Target) bool { return t.Replicas == 0 })
	return left
}

func (p *placing) isFull(cluster string) bool {
	_, known := p.room[cluster]
	return known
}

// divideStatic divides left replicas by the weights of the clusters that still have
// room. It returns the totals that these should then have.
func (p *placing) divideStatic(left int64, weights []Weight) ([]Target, error) {
	open := slices.DeleteFunc(slices.Clone(weights), func(w Weight) bool { return p.isFull(w.Name) })
	shares, err := p.federation.scheduler.Method.Divide(left, open, nil, NameOrderOf(p.workload.UID))
	if err != nil {
		return nil, err
	}
	return sumOf(shares, p.now()), nil
}

// explainedRounds bounds the rounds whose explanations are kept: clusters may take a round each, and each
// explanation holds all of them.
const explainedRounds = 100

// round begins a round.
func (p *placing) round(x *Explanation) Round {
	if len(p.out.Rounds) >= explainedRounds {
		x = nil
	}
	return Round{Decision: x}
}

// place places the replicas that targets have beyond those now placed, at most left
// of them. It returns how many found no room.
func (p *placing) place(targets []Target, x *Explanation, left int64) (int64, error) {
	round := p.round(x)
	rest := left
	for _, t := range targets {
		share := Share{Cluster: t.Name, Given: min(t.Replicas-p.has[t.Name], rest), Estimated: -1}
		if share.Given <= 0 {
			continue
		}
		rest -= share.Given
		if x != nil {
			share.Estimated = x.find(t.Name).Available
		}
		if err := p.fill(&share); err != nil {
			return 0, err
		}
		left -= share.Placed
		round.Shares = append(round.Shares, share)
	}
	if len(round.Shares) > 0 {
		p.out.Rounds = append(p.out.Rounds, round)
	}
	return left, nil
}

// fill places a cluster's replicas on its nodes, until one does not fit.
func (p *placing) fill(s *Share) error {
	m := p.member(s.Cluster)
	template := podOf(p.workload.Replica)
	for ; s.Placed < s.Given; s.Placed++ {
		reason, err := p.put(m, template, p.base(), "")
		if err != nil {
			return err
		}
		if reason != "" {
			p.room[s.Cluster] = 0
			if p.anew {
				p.room[s.Cluster] = s.Placed
			}
			s.Reason = reason
			return nil
		}
		p.has[s.Cluster] = resource.SatAdd(p.has[s.Cluster], 1)
	}
	return nil
}

func (p *placing) member(cluster string) *branch {
	i := slices.IndexFunc(p.federation.members, func(m branch) bool { return m.Cluster.Name == cluster })
	return &p.federation.members[i]
}

// put places a copy of the template on a node of the cluster, or returns the reason
// if no node has room.
func (p *placing) put(m *branch, template *api.Pod, base, component string) (reason string, err error) {
	pod := *template
	pod.Name = p.nextName(m, base)
	pod.UID = ""
	info, err := m.Snapshot.NewPodInfo(&pod)
	if err != nil {
		return "", fmt.Errorf("cluster %s: %w", m.Cluster.Name, err)
	}
	d, err := m.nodes.Place(m.Snapshot, info)
	var unfit *scheduling.FitError
	switch {
	case errors.As(err, &unfit), errors.Is(err, scheduling.ErrNoNodes):
		return err.Error(), nil
	case err != nil:
		return "", fmt.Errorf("cluster %s: %w", m.Cluster.Name, err)
	}
	if p.placed++; p.placed > maxPlaced {
		return "", &api.InvalidError{Object: "workload " + p.workload.Name, Field: "spec.replicas", Value: fmt.Sprint(p.workload.Replicas), Err: errTooManyPods}
	}
	p.named[m.Cluster.Name]++
	p.out.Pods = append(p.out.Pods, PlacedPod{Cluster: m.Cluster.Name, Node: d.Node, Name: pod.Name, Component: component, Pod: info})
	return "", nil
}

// nextName returns the name of a cluster's next pod. Numbers continue from the
// replicas that are there. It skips names of existing pods of the cluster.
func (p *placing) nextName(m *branch, base string) string {
	cluster := m.Cluster.Name
	taken := p.names[cluster]
	if taken == nil {
		taken = map[string]bool{}
		for _, n := range m.Snapshot.All() {
			for _, q := range n.Pods {
				taken[q.Pod.Name] = true
			}
		}
		p.names[cluster] = taken
	}
	for {
		name := fmt.Sprintf("%s-%s-%d", base, cluster, p.named[cluster])
		if !taken[name] {
			return name
		}
		p.named[cluster]++
	}
}

// base returns the beginning of the names of new pods.
func (p *placing) base() string {
	if r := p.workload.Replica; r != nil && r.Pod != nil && r.Pod.Name != "" {
		return r.Pod.Name
	}
	name := p.workload.Name[strings.LastIndex(p.workload.Name, "/")+1:]
	if name == "" {
		return "replica"
	}
	return name
}
