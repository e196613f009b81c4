package frameworktest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// scope returns what the plugin declares for the pod; false if it declares
// nothing, or that anything may be read.
func (k *kit) scope(p *framework.PodInfo) (framework.Scope, bool) {
	if k.scoper == nil {
		return framework.Scope{}, false
	}
	k.calling = "Scope"
	s := k.scoper.Scope(p)
	return s, s.Reads&framework.ReadsCluster == 0 || s.Pod&framework.FieldsAll != framework.FieldsAll
}

// checkScope changes what the plugin says it does not read: the answers must
// stay as they are.
func (k *kit) checkScope() *Failure {
	r := k.random()
	for _, p := range k.pods {
		scope, ok := k.scope(p)
		if !ok {
			continue
		}
		k.calling = "Scope"
		if again := k.scoper.Scope(p); again != scope {
			k.pod = p
			return k.fail("Scope, asked again", fmt.Sprint(again), fmt.Sprint(scope))
		}
		if f := k.checkPodFields(p, scope, r); f != nil {
			return f
		}
		if f := k.checkReads(p, scope.Reads, r); f != nil {
			return f
		}
	}
	return nil
}

// checkPodFields asks about pods of the same class. A scope may depend on the
// pod, and a runner reads all parts that any plugin names: two pods are of one
// class if they are equal in the parts that are named for either.
func (k *kit) checkPodFields(p *framework.PodInfo, scope framework.Scope, r *rand.Rand) *Failure {
	want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
	all, key := shallow(p.Pod), k.classKey(k.snapshot, p)
	try := func(what string, twin *api.Pod) (f *Failure, ofTheClass bool) {
		if reflect.DeepEqual(twin, p.Pod) {
			return nil, false
		}
		info, err := k.snapshot.NewPodInfo(twin)
		if err != nil {
			return nil, false
		}
		k.calling = "Scope"
		of := k.scoper.Scope(info)
		if fields := scope.Pod | of.Pod; info.ClassKey(fields) != p.ClassKey(fields) || k.classKey(k.snapshot, info) != key {
			return nil, false
		}
		if of.Reads != scope.Reads {
			if k.keyer != nil {
				return nil, false // a key may leave out what Scope tells apart
			}
			k.pod = p
			return k.fail("Reads of Scope, for a pod that differs in "+what+", which Scope leaves out,", fmt.Sprintf("%b", of.Reads), fmt.Sprintf("%b", scope.Reads)), true
		}
		got := k.ask(new(framework.Cycle), k.snapshot, info, nil)
		got.forgiveErrors(want)
		k.pod = p
		return k.same(want, got, "for a pod that differs in "+what+", which Scope leaves out,"), true
	}
	for _, i := range r.Perm(len(podChanges)) {
		c := podChanges[i]
		twin := shallow(p.Pod)
		c.change(twin)
		f, ofTheClass := try(c.what, twin)
		if f != nil {
			return f
		}
		if ofTheClass {
			c.change(all)
		}
	}
	if f, _ := try("many parts", all); f != nil {
		return f
	}
	donor := k.pods[r.IntN(len(k.pods))].Pod
	if donor == p.Pod {
		donor = k.pods[0].Pod
	}
	const swaps = 7 // of all; over the pods of several clusters, each has its turn
	for _, i := range r.Perm(len(podSwaps))[:swaps] {
		s := podSwaps[i]
		twin := shallow(p.Pod)
		s.take(twin, donor)
		if f, _ := try("having the "+s.what+" of another pod", twin); f != nil {
			return f
		}
	}
	return nil
}

// forgiveErrors makes errors equal where both sides have one, and so rejections by PreFilter:
// neither is ever kept, and both may name the pod.
func (a *answers) forgiveErrors(want *answers) {
	if code := want.preFilter.Code(); a.preFilter.Code() == code && (code == framework.Error || want.preFilter.IsRejected()) {
		a.preFilter = want.preFilter
	}
	for name, v := range a.verdicts {
		if w := want.verdicts[name]; v.status.Code() == framework.Error && w.status.Code() == framework.Error {
			a.verdicts[name] = w
		}
	}
}

// shallow returns a copy of the pod that shares what the pod refers to.
func shallow(p *api.Pod) *api.Pod {
	twin := *p
	return &twin
}

// checkReads asks about the pod in forks of the cluster that differ.
func (k *kit) checkReads(p *framework.PodInfo, reads framework.Reads, r *rand.Rand) *Failure {
	want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
	names := want.feasibleNames()
	stay := func(n *framework.NodeInfo) bool { return names[n.Name()] }
	for _, c := range k.changes(r) {
		f := k.snapshot.Fork()
		if err := c.apply(f); err != nil {
			continue // such as a total beyond the largest int64
		}
		got := k.ask(new(framework.Cycle), f, p, stay)
		for _, n := range k.snapshot.All() {
			if c.excuses(reads, n.Name()) {
				continue
			}
			if failure := k.sameOn(n.Name(), want, got, "with "+c.what+", which Scope does not say it reads,"); failure != nil {
				return failure
			}
		}
	}
	if reads&framework.ReadsCluster != 0 {
		return nil
	}
	return k.checkRest(p, reads, want, stay)
}

// checkRest changes the cycle and the set of feasible nodes.
func (k *kit) checkRest(p *framework.PodInfo, reads framework.Reads, want *answers, stay func(*framework.NodeInfo) bool) *Failure {
	later := *k
	later.seed += 1000 // number and seed of the cycle
	got := later.ask(new(framework.Cycle), k.snapshot, p, stay)
	for _, n := range k.snapshot.All() {
		if f := k.sameOn(n.Name(), want, got, "with another number and seed of the cycle, which no Scope but ReadsCluster covers,"); f != nil {
			return f
		}
	}
	if reads&framework.ReadsFeasible != 0 || len(want.feasible) < 2 {
		return nil
	}
	for _, out := range []*framework.NodeInfo{want.feasible[0], slices.MaxFunc(want.feasible, func(a, b *framework.NodeInfo) int { return len(a.Pods) - len(b.Pods) })} {
		got := k.ask(new(framework.Cycle), k.snapshot, p, func(n *framework.NodeInfo) bool { return stay(n) && n != out })
		for _, n := range want.feasible {
			if f := k.sameOn(n.Name(), want, got, fmt.Sprintf("without %s among the feasible nodes, which Scope does not say it reads,", out.Name())); n != out && f != nil {
				return f
			}
		}
	}
	return nil
}
