package multicluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// placing is one call of Federation.Place.
type placing struct {
	federation *Federation
	workload   Workload         // Clusters is what was there before
	has        map[string]int64 // what is there now
	named      map[string]int64 // the number of the next pod, by cluster
	full       fullClusters
	out        *Placed
}

func newPlacing(f *Federation, w *Workload) *placing {
	return &placing{
		federation: f, workload: *w, has: byCluster(w.Clusters), named: byCluster(w.Clusters), full: fullClusters{}, out: &Placed{},
	}
}

// fullClusters is the estimator that knows which clusters turned out to be
// full.
type fullClusters map[string]bool

func (f fullClusters) Name() string { return "placing" }

func (f fullClusters) Estimate(c *framework.Cluster, _ *estimator.Replica) (estimator.Estimate, error) {
	return estimator.Estimate{NoOpinion: !f[c.Name]}, nil
}

func (p *placing) run() error {
	strategy, err := p.workload.Placement.Strategy()
	if err != nil {
		return ofWorkload(&p.workload, err)
	}
	d, x, err := p.decide(p.workload.Replicas)
	if err != nil {
		return err
	}
	if p.workload.Replicas == 0 {
		p.out.Targets = d.Targets
		return nil
	}
	p.remove(d.Targets)
	var given int64
	for _, t := range d.Targets {
		given += max(0, t.Replicas-p.has[t.Name])
	}
	left, err := p.place(d.Targets, x, given)
	if err != nil {
		return err
	}
	for left > 0 && strategy != Duplicated {
		var targets []Target
		var again *Explanation
		if strategy == StaticWeight {
			targets, err = p.divideStatic(left, x.Division.Weights)
		} else {
			targets, again, err = p.divideDynamic()
		}
		if err != nil {
			return err
		}
		before := len(p.out.Rounds)
		if left, err = p.place(targets, again, left); err != nil {
			return err
		}
		if len(p.out.Rounds) == before {
			break // no cluster was given anything
		}
	}
	p.out.Unplaced = left
	p.out.Targets = p.now()
	return nil
}

// decide decides for the workload as its replicas are spread now.
func (p *placing) decide(replicas int64) (Decision, *Explanation, error) {
	clusters := make([]*framework.Cluster, len(p.federation.members))
	for i, m := range p.federation.members {
		described, err := estimator.Summarize(m.Cluster, m.Snapshot, nil)
		if err != nil {
			return Decision{}, nil, err
		}
		clusters[i] = described
	}
	w := p.workload
	w.Replicas, w.Clusters = replicas, p.now()
	s := p.federation.scheduler
	s.Estimators = append(slices.Clone(s.Estimators), p.full)
	x := &Explanation{Workload: w.Name, Replicas: w.Replicas}
	d, err := s.decide(clusters, &w, x)
	x.Targets, x.Affinity = d.Targets, d.Affinity
	return d, x, err
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

// remove notes which replicas have to go according to the first decision.
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

// divideStatic divides what is left by the weights of the clusters that still
// have room, and returns what these should then have.
func (p *placing) divideStatic(left int64, weights []Weight) ([]Target, error) {
	open := slices.DeleteFunc(slices.Clone(weights), func(w Weight) bool { return p.full[w.Name] })
	shares, err := p.federation.scheduler.Method.Divide(left, open, nil, NameOrderOf(p.workload.UID))
	if err != nil {
		return nil, err
	}
	return sumOf(shares, p.now()), nil
}

// divideDynamic decides again. Where no clusters can take everything that is
// left, it decides for what they can.
func (p *placing) divideDynamic() ([]Target, *Explanation, error) {
	p.workload.Fresh = false
	d, x, err := p.decide(p.workload.Replicas)
	var short *ShortageError
	if errors.As(err, &short) && short.Available > 0 {
		d, x, err = p.decide(p.workload.Replicas - short.Wanted + short.Available)
	}
	if err == nil {
		return d.Targets, x, nil
	}
	var plugin *PluginError
	if errors.As(err, &plugin) {
		return nil, nil, err
	}
	return nil, nil, nil // nothing more fits
}

// place places what targets have more than is there, left replicas at most, and
// returns how many found no room.
func (p *placing) place(targets []Target, x *Explanation, left int64) (int64, error) {
	round := Round{Decision: x}
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
	i := slices.IndexFunc(p.federation.members, func(m branch) bool { return m.Cluster.Name == s.Cluster })
	m := &p.federation.members[i]
	template := podOf(p.workload.Replica)
	for ; s.Placed < s.Given; s.Placed++ {
		pod := *template
		pod.Name = fmt.Sprintf("%s-%s-%d", p.base(), s.Cluster, p.named[s.Cluster])
		pod.UID = ""
		info, err := m.Snapshot.NewPodInfo(&pod)
		if err != nil {
			return err
		}
		d, err := m.nodes.Place(m.Snapshot, info)
		var unfit *scheduling.FitError
		switch {
		case errors.As(err, &unfit), errors.Is(err, scheduling.ErrNoNodes):
			p.full[s.Cluster] = true
			s.Reason = err.Error()
			return nil
		case err != nil:
			return fmt.Errorf("cluster %s: %w", s.Cluster, err)
		}
		p.named[s.Cluster]++
		p.has[s.Cluster] = resource.SatAdd(p.has[s.Cluster], 1)
		p.out.Pods = append(p.out.Pods, PlacedPod{Cluster: s.Cluster, Node: d.Node, Name: pod.Name, Pod: info})
	}
	return nil
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
