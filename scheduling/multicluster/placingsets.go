package multicluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/estimator/capacity"
)

// runSets places a workload of components: a set on each chosen cluster that has
// none. Each round that is taken back found a cluster without room, so there are at
// most two more rounds than clusters.
func (p *placing) runSets() error {
	d, x, err := p.decideSets()
	switch {
	case isShortage(err):
		p.failed = err
		p.removeSets(nil) // a cluster with a set has room for it, so none may be chosen
		p.finish(p.workload.wanted())
		return nil
	case err != nil:
		return err
	}
	final := len(p.workload.Placement.SpreadConstraints) == 0
	for {
		marks := p.begin()
		p.removeSets(d.Targets)
		left, err := p.placeSets(d.Targets, x)
		if err != nil {
			return err // the caller takes everything back
		}
		if left == 0 || final {
			p.end(marks, true)
			p.finish(left)
			return nil
		}
		p.end(marks, false)
		p.restart()
		next, why, err := p.decideSets()
		var plugin *PluginError
		switch {
		case errors.As(err, &plugin), isTooMuchWork(err):
			return err
		case err != nil || slices.Equal(next.Targets, d.Targets):
			final, p.failed = true, err
			p.out.Rounds = p.out.Rounds[:len(p.out.Rounds)-1] // it comes again
		default:
			p.out.Rounds[len(p.out.Rounds)-1].TakenBack = true
			d, x = next, why
		}
	}
}

// decideSets chooses clusters. If spread constraints count, it leaves out those that are
// expected to be full. If too few are left, it asks the nodes and chooses again. If
// that does not help, full ones may be chosen, too, from now on.
func (p *placing) decideSets() (Decision, *Explanation, error) {
	d, x, err := p.decide(p.workload.Replicas)
	if isShortage(err) && p.askNodes() {
		d, x, err = p.decide(p.workload.Replicas)
	}
	if isShortage(err) && !p.takesFull {
		p.takesFull = true
		return p.decide(p.workload.Replicas)
	}
	return d, x, err
}

// removeSets records which clusters must give up their set.
func (p *placing) removeSets(targets []Target) {
	kept := make(map[string]bool, len(targets))
	for _, t := range targets {
		kept[t.Name] = true
	}
	for _, t := range p.now() {
		if !kept[t.Name] {
			p.out.Removed = append(p.out.Removed, t)
			delete(p.has, t.Name)
		}
	}
}

// placeSets places a set on each of the targets that has none, and returns how many
// found no room.
func (p *placing) placeSets(targets []Target, x *Explanation) (left int64, err error) {
	round := p.round(x)
	for _, t := range targets {
		if _, has := p.has[t.Name]; has {
			continue
		}
		share := Share{Cluster: t.Name, Given: 1, Estimated: x.find(t.Name).Available}
		if share.Reason, err = p.fillSet(t.Name); err != nil {
			return 0, err
		}
		if share.Reason == "" {
			share.Placed = 1
			p.has[t.Name] = 0
		} else {
			p.room[t.Name] = 0
			left++
		}
		round.Shares = append(round.Shares, share)
	}
	if len(round.Shares) > 0 {
		p.out.Rounds = append(p.out.Rounds, round)
	}
	return left, nil
}

// fillSet places one whole set on the nodes of a cluster. If that fails, it places
// nothing and returns the reason.
func (p *placing) fillSet(cluster string) (reason string, err error) {
	m := p.member(cluster)
	mark, pods := m.Snapshot.Begin(), len(p.out.Pods)
	for i := range p.workload.Components {
		k := &p.workload.Components[i]
		template := podOfComponent(k)
		for range k.Replicas {
			if reason, err = p.put(m, template, p.baseOf(i), k.Name); reason != "" || err != nil {
				break
			}
		}
		if reason != "" || err != nil {
			m.Snapshot.Rollback(mark)
			p.out.Pods = p.out.Pods[:pods]
			if reason != "" {
				reason = fmt.Sprintf("component %s: %s", nameOfComponent(k, i), reason)
			}
			return reason, err
		}
	}
	m.Snapshot.Commit(mark)
	return "", nil
}

func nameOfComponent(k *capacity.Component, i int) string {
	if k.Name == "" {
		return fmt.Sprint(i)
	}
	return k.Name
}

// baseOf returns the beginning of the names of a component's pods.
func (p *placing) baseOf(i int) string {
	k := &p.workload.Components[i]
	if k.Pod != nil && k.Pod.Name != "" {
		return k.Pod.Name
	}
	return p.base() + "-" + nameOfComponent(k, i)
}
