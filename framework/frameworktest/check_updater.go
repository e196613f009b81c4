package frameworktest

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// checkUpdater takes pods away from a node and puts them back, as preemption
// does, under a filter that was bound before. It must answer like one bound
// afterwards: from the NodeInfo alone or, if it is a FilterUpdater, because it
// is told.
func (k *kit) checkUpdater() *Failure {
	r := k.random()
	for _, p := range k.pods {
		f := k.snapshot.Fork()
		c := new(framework.Cycle)
		before := k.ask(c, f, p, nil)
		if before.bound == nil || f.Len() == 0 {
			continue
		}
		for range 3 {
			n := f.At(r.IntN(f.Len()))
			if len(n.Pods) == 0 {
				continue
			}
			victim := n.Pods[r.IntN(len(n.Pods))]
			if sharesPort(n, victim) {
				continue
			}
			if failure := k.withoutVictim(c, f, p, before, n, victim); failure != nil {
				return failure
			}
		}
	}
	return nil
}

// sharesPort reports whether another pod of the node has a host port of the
// pod's. Such nodes should not be, and kube-scheduler, which filters may want to
// equal, takes the port to be free when the first of the pods leaves.
func sharesPort(n *framework.NodeInfo, p *framework.PodInfo) bool {
	for _, port := range p.HostPorts {
		holders := 0
		for _, other := range n.Pods {
			if slices.Contains(other.HostPorts, port) {
				holders++
			}
		}
		if holders > 1 {
			return true
		}
	}
	return false
}

// withoutVictim compares the verdicts while the victim is gone and once it is
// back. c is the cycle in which the filter was bound.
func (k *kit) withoutVictim(c *framework.Cycle, f *framework.Snapshot, p *framework.PodInfo, before *answers, n *framework.NodeInfo, victim *framework.PodInfo) *Failure {
	node := n.Name()
	how := "with " + victim.Pod.Key() + " gone from " + node
	updater, updates := before.bound.(framework.FilterUpdater)
	bound := *before
	if updates {
		k.calling = "Fork"
		updater = updater.Fork()
		bound.bound = updater
		how += " and RemovePod of a Fork called,"
	} else {
		how += ", which it is not told as no FilterUpdater,"
	}
	m := f.Begin()
	defer f.Rollback(m)
	if err := f.RemovePod(victim, node); err != nil {
		return k.fail("the cluster without a pod", err.Error(), "no error")
	}
	if updates {
		k.node, k.calling = node, "RemovePod"
		if s := updater.RemovePod(c, victim, f.Node(node)); !s.IsSuccess() {
			return k.fail("RemovePod of "+victim.Pod.Key(), s.String(), "Success")
		}
	}
	afresh := k.ask(new(framework.Cycle), f, p, nil)
	if afresh.preFilter.String() == before.preFilter.String() && afresh.bound != nil {
		if failure := k.sameVerdicts(f, p, afresh, &bound, how); failure != nil {
			return failure
		}
	}
	f.Rollback(m)
	if !updates {
		return nil
	}
	if failure := k.sameVerdicts(f, p, before, before, "after RemovePod of a Fork"); failure != nil {
		return failure
	}
	k.node, k.calling = node, "AddPod"
	if s := updater.AddPod(c, victim, f.Node(node)); !s.IsSuccess() {
		return k.fail("AddPod of "+victim.Pod.Key(), s.String(), "Success")
	}
	return k.sameVerdicts(f, p, before, &bound, "with "+victim.Pod.Key()+" back on "+node+" and AddPod called,")
}

// sameVerdicts asks the bound filter of got anew for all nodes.
func (k *kit) sameVerdicts(f *framework.Snapshot, p *framework.PodInfo, want, got *answers, how string) *Failure {
	for _, n := range f.All() {
		w, v := want.verdicts[n.Name()], k.verdict(got, p, n)
		if w.String() != v.String() {
			return k.fail("verdict, "+how, v.String(), w.String())
		}
	}
	return nil
}
