package frameworktest

import "github.com/berth-sched/berth/framework"

// kept is what a runner has that keeps answers, before Reserve or Unreserve.
type kept struct {
	generations map[string]uint64 // by node
	nodeSet     uint64
	objects     framework.ObjectVersions
	state       any
	answers     []keptAnswers
}

type keptAnswers struct {
	pod      *framework.PodInfo
	answers  *answers
	feasible map[string]bool
	trackers trackers
}

// keep asks about the pods of the trial.
func (t *trial) keep(s *framework.Snapshot) kept {
	k := t.k
	was := kept{generations: map[string]uint64{}, nodeSet: s.NodeSet(), objects: s.ObjectVersions(), state: k.state(s)}
	for _, p := range []*framework.PodInfo{t.pod, t.other} {
		a := k.ask(new(framework.Cycle), s, p, nil)
		was.answers = append(was.answers, keptAnswers{p, a, a.feasibleNames(), k.track(a)})
	}
	for _, n := range s.All() {
		was.generations[n.Name()] = n.Generation()
	}
	k.pod, k.node = t.pod, t.node
	return was
}

// checkRenewed asks again after a call. The answer for a node may differ only if
// a runner would ask again: the node, or the objects that the plugin reads, have
// another generation, or a DomainTracker calls the node. changed reports whether
// the call changed anything that can be seen.
func (t *trial) checkRenewed(s *framework.Snapshot, was kept, call string) (changed bool, f *Failure) {
	k := t.k
	differs := was.objects.Differ(s.ObjectVersions())
	changed = differs != 0 || !sameState(k.state(s), was.state)
	for _, before := range was.answers {
		p := before.pod
		now := k.ask(new(framework.Cycle), s, p, before.has)
		staleVerdict, staleScore := before.trackers.stale(k, now)
		reads := k.readsOf(p)
		for _, n := range s.All() {
			if n.Generation() != was.generations[n.Name()] {
				changed = true
				continue
			}
			if renewed(reads, n.Name() == t.node, s.NodeSet() != was.nodeSet, differs) {
				continue
			}
			a, b := *before.answers, *now
			if reads&framework.ReadsDomain != 0 && staleVerdict(n.Slot()) {
				b.verdicts = a.verdicts
			}
			// A scorer that reads the feasible nodes is bound anew in each decision.
			if reads&framework.ReadsFeasible != 0 || reads&framework.ReadsDomain != 0 && staleScore(n.Slot()) {
				a.raw, b.raw = nil, nil
			}
			k.pod = p
			if f := k.sameOn(n.Name(), &a, &b, "after "+call+", which has not renewed the node (Snapshot.Touch),"); f != nil {
				return true, f
			}
		}
	}
	k.pod, k.node = t.pod, t.node
	return changed, nil
}

func (b keptAnswers) has(n *framework.NodeInfo) bool { return b.feasible[n.Name()] }

// readsOf returns what the plugin declares for the pod: everything if it
// declares nothing.
func (k *kit) readsOf(p *framework.PodInfo) framework.Reads {
	if k.scoper == nil {
		return framework.ReadsCluster
	}
	k.calling = "Scope"
	return k.scoper.Scope(p).Reads
}

// renewed reports whether a runner asks again about a node of the same
// generation. Answers that read the cluster are never kept; still the node that
// Reserve is called for has to be renewed, because others may keep what they
// read from the same extension.
func renewed(reads framework.Reads, reservedOn, newNodeSet bool, newObjects framework.Reads) bool {
	switch {
	case reads&framework.ReadsCluster != 0:
		return !reservedOn || newNodeSet || newObjects != 0
	case reads&framework.ReadsNodeSet != 0 && newNodeSet:
		return true
	}
	return reads&newObjects != 0
}
