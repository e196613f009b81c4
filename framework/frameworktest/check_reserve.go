package frameworktest

import (
	"fmt"
	"math/rand/v2"
	"reflect"

	"github.com/berth-sched/berth/framework"
)

// checkReserve reserves, as a runner does after it has assumed the pod, and
// takes it back in each of the ways in which that can happen.
func (k *kit) checkReserve() *Failure {
	r := k.random()
	for i := range k.pods {
		if k.snapshot.Len() == 0 {
			return nil
		}
		t := k.newTrial(i, r)
		t.before = t.content(t.snapshot)
		for _, try := range []func() *Failure{t.unreserve, t.unreserveOnly, t.fork, t.rollback, t.renew, t.details} {
			if f := try(); f != nil {
				return f
			}
		}
	}
	return nil
}

// trial is one pod on its way to one node.
type trial struct {
	k          *kit
	snapshot   *framework.Snapshot
	pod, other *framework.PodInfo
	node       string
	before     content // of the snapshot, to which every try has to return
	reserved   bool    // the last Reserve succeeded
}

// newTrial returns a trial of the pod of that index on a random node.
func (k *kit) newTrial(i int, r *rand.Rand) trial {
	s := k.snapshot.Fork()
	return trial{k: k, snapshot: s, pod: k.pods[i], node: s.At(r.IntN(s.Len())).Name(), other: k.pods[(i+1)%len(k.pods)]}
}

// content is what there is to see: facts, the plugin's own state, and what it
// answers.
type content struct {
	facts    []fact
	state    any
	answers  [2]*answers
	snapshot *framework.Snapshot
}

func (t *trial) content(s *framework.Snapshot) content {
	c := content{facts: t.k.facts(s), snapshot: s, state: t.k.state(s)}
	for i, p := range []*framework.PodInfo{t.pod, t.other} {
		c.answers[i] = t.k.ask(new(framework.Cycle), s, p, nil)
	}
	return c
}

// state returns what Config.State shows.
func (k *kit) state(s *framework.Snapshot) any {
	if k.config.State == nil {
		return nil
	}
	k.calling = "Config.State"
	return k.config.State(s)
}

func sameState(a, b any) bool { return reflect.DeepEqual(a, b) }

// same compares the content now with what it was.
func (t *trial) same(want content, how string) *Failure {
	k := t.k
	got := t.content(want.snapshot)
	k.pod, k.node = t.pod, t.node
	if !sameState(got.state, want.state) {
		return k.fail("state, "+how, fmt.Sprint(got.state), fmt.Sprint(want.state))
	}
	if f := k.sameFacts(want.facts, got.facts, how); f != nil {
		return f
	}
	for i, p := range []*framework.PodInfo{t.pod, t.other} {
		k.pod = p
		if f := k.same(want.answers[i], got.answers[i], how); f != nil {
			return f
		}
	}
	return nil
}

// begin assumes the pod and reserves; false if the pod cannot be assumed.
func (t *trial) begin(s *framework.Snapshot, c *framework.Cycle) (ok bool, f *Failure) {
	t.k.ask(c, s, t.pod, nil)
	if s.AddPodAt(t.pod, s.Node(t.node)) != nil {
		return false, nil
	}
	return true, t.reserve(s, c)
}

// reserve calls Reserve.
func (t *trial) reserve(s *framework.Snapshot, c *framework.Cycle) *Failure {
	t.k.node, t.k.calling = t.node, "Reserve"
	status := t.k.reserve.Reserve(c, s.Node(t.node))
	if code := status.Code(); !status.IsSuccess() && !status.IsRejected() && code != framework.Error {
		return t.k.fail("code of Reserve", code.String(), "Success, a rejection or Error")
	}
	t.reserved = status.IsSuccess()
	return nil
}

// renew reserves and unreserves, and wants each call to renew the nodes whose
// answers it changes.
func (t *trial) renew() *Failure {
	s, c := t.snapshot.Fork(), new(framework.Cycle)
	t.k.ask(c, s, t.pod, nil)
	if s.AddPodAt(t.pod, s.Node(t.node)) != nil {
		return nil
	}
	was := t.keep(s)
	if f := t.reserve(s, c); f != nil {
		return f
	}
	if _, f := t.checkRenewed(s, was, "Reserve"); f != nil {
		return f
	}
	was = t.keep(s)
	t.k.calling = "Unreserve"
	t.k.reserve.Unreserve(c, s.Node(t.node))
	_, f := t.checkRenewed(s, was, "Unreserve")
	return f
}

func (t *trial) unreserve() *Failure {
	c := new(framework.Cycle)
	ok, f := t.begin(t.snapshot, c)
	if !ok || f != nil {
		return f
	}
	for _, how := range []string{"after Reserve and Unreserve", "after a second Unreserve"} {
		n := t.snapshot.Node(t.node)
		t.k.calling = "Unreserve"
		t.k.reserve.Unreserve(c, n)
		if how == "after Reserve and Unreserve" {
			if err := t.snapshot.RemovePodAt(t.pod, n); err != nil {
				return t.k.fail("forgetting the pod, "+how, err.Error(), "no error")
			}
		}
		if f := t.same(t.before, how); f != nil {
			return f
		}
	}
	return nil
}

// unreserveOnly is what happens when the Reserve of an earlier plugin failed.
func (t *trial) unreserveOnly() *Failure {
	c := new(framework.Cycle)
	t.k.ask(c, t.snapshot, t.pod, nil)
	t.k.node, t.k.calling = t.node, "Unreserve"
	t.k.reserve.Unreserve(c, t.snapshot.Node(t.node))
	return t.same(t.before, "after Unreserve without Reserve")
}

func (t *trial) rollback() *Failure {
	m := t.snapshot.Begin()
	_, f := t.begin(t.snapshot, new(framework.Cycle))
	t.snapshot.Rollback(m)
	if f != nil {
		return f
	}
	return t.same(t.before, "after Reserve in a transaction that was rolled back")
}

func (t *trial) fork() *Failure {
	if _, f := t.begin(t.snapshot.Fork(), new(framework.Cycle)); f != nil {
		return f
	}
	return t.same(t.before, "after Reserve in a fork")
}

// details wants the same words about what the pod gets before and after it is counted, if
// the plugin accepts the node.
func (t *trial) details() *Failure {
	d, ok := framework.As[framework.ReserveDetailer](t.k.plugin)
	if !ok || !t.before.answers[0].verdicts[t.node].passes() {
		return nil
	}
	s, c := t.snapshot.Fork(), new(framework.Cycle)
	t.k.ask(c, s, t.pod, nil)
	t.k.calling = "Reserves"
	would := d.Reserves(s, t.pod, s.Node(t.node))
	if s.AddPodAt(t.pod, s.Node(t.node)) != nil {
		return nil
	}
	if f := t.reserve(s, c); f != nil || !t.reserved {
		return f
	}
	t.k.calling = "Reserves"
	if has := d.Reserves(s, t.pod, s.Node(t.node)); has != would {
		return t.k.fail("Reserves, after Reserve", has, would+", as before it")
	}
	return nil
}
