package scheduling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A DifferenceError says that the two paths disagreed: a defect of this library, or
// a plugin whose declared scope is wrong. It holds what is needed to decide the same
// pod again.
type DifferenceError struct {
	// What differs: the decision, an error, the answer about one node, or the
	// proposal of PostFilter.
	What string
	// Reference is the answer of the reference path, Incremental that of the other one.
	Reference, Incremental string
	// Replay is the state at the decision as JSON: seed, number, start, the pod, and
	// the snapshot's nodes in order with their pods.
	Replay []byte
}

// Error names the difference.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("the paths differ in %s: reference %s, incremental %s", e.What, e.Reference, e.Incremental)
}

// verify takes the reference path and compares every node, the decision and the error.
// Now and then it checks the invariants of the engine.
func (f *incrementalPath) verify(snap *framework.Snapshot, pod *framework.PodInfo, d Decision, err error) error {
	var wrong error
	if f.by == byView || f.by == byExtenders || f.by == byWithin || f.by == byNamedSet {
		wrong = f.checkInvariants(snap) // right after the engine was asked
	}
	if fault := f.fault(snap, pod, &d); fault != nil {
		return fault
	}
	if wrong != nil {
		return &FaultError{Fault: "the snapshot: " + wrong.Error(), Replay: f.replay(snap, pod, d)}
	}
	f.reference.extended = extended{ctx: f.s.reference.extended.ctx, replay: &f.s.reference.extended.answer}
	f.reference.within = f.s.reference.within
	plain, plainErr := f.s.decide(f.reference, snap, pod, d.Number, d.start)
	differ := func(what string, a, b any) error {
		return &DifferenceError{What: what, Reference: fmt.Sprint(a), Incremental: fmt.Sprint(b), Replay: f.replay(snap, pod, d)}
	}
	if a, b := fmt.Sprint(plainErr), fmt.Sprint(err); a != b {
		return differ("the error", a, b)
	}
	if a, b := rejectionsOf(plainErr), rejectionsOf(err); a != b {
		return differ("the rejections of the error", a, b)
	}
	if a, b := describe(plain), describe(d); a != b {
		return differ("the decision", a, b)
	}
	if plain.advance != d.advance {
		return differ("how much later the next search begins", plain.advance, d.advance)
	}
	switch f.by {
	case byView, byExtenders:
		return f.verifyNodes(snap, differ)
	case byNames:
		return f.verifyNamed(snap, differ)
	case byWithin:
		return f.verifyWithin(snap, differ)
	case byNamedSet:
		return f.verifyNamedSet(snap, differ)
	}
	return nil
}

// verifyPostFilter asks the PostFilter plugins again, after the reference path and
// without memory of earlier attempts. It compares their proposals and what they were
// told about the nodes.
func (f *incrementalPath) verifyPostFilter(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, d Decision, fast proposal) error {
	plain := f.s.makeRoom(ctx, snap, pod, d, false)
	differ := func(what, a, b string) error {
		return &DifferenceError{What: what, Reference: a, Incremental: b, Replay: f.replay(snap, pod, d)}
	}
	if a, b := plain.String(), fast.String(); a != b {
		return differ("what PostFilter proposes", a, b)
	}
	if fast.answers == nil {
		return nil // it was not asked about any node
	}
	for _, n := range snap.All() {
		if a, b := verdictOn(plain.answers, n), verdictOn(fast.answers, n); a != b {
			return differ("what PostFilter is told of node "+n.Name(), a, b)
		}
	}
	return nil
}

// verdictOn is the whole answer about a node.
func verdictOn(answers framework.Verdicts, n *framework.NodeInfo) string {
	if answers == nil {
		return "nothing"
	}
	plugin, status := answers.Verdict(n)
	return fmt.Sprintf("%s: %s", plugin, status)
}

// String shows everything in a proposal.
func (p proposal) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{node %q, override %t, plugin %q, %s, error %v, victims [", p.result.Nominated, p.result.Override, p.plugin, p.status, p.err)
	for i, v := range p.result.Victims {
		if i > 0 {
			b.WriteString(", ")
		}
		if v.Pod != nil && v.Pod.Pod != nil {
			b.WriteString(v.Pod.Pod.Key())
		}
		if v.ViolatesBudget {
			b.WriteByte('!')
		}
	}
	b.WriteString("]}")
	return b.String()
}

// rejectionsOf shows the data of a FitError, which its text sums up.
func rejectionsOf(err error) string {
	var fit *FitError
	if !errors.As(err, &fit) {
		return ""
	}
	return fmt.Sprintf("%v of %d nodes, PreFilter %q, restricting %v", fit.Rejections, fit.Nodes, fit.PreFilter, fit.Restricting)
}

func describe(d Decision) string {
	return fmt.Sprintf("{node %q, score %d, feasible %d, evaluated %d, tied %d}", d.Node, d.Score, d.Feasible, d.Evaluated, d.TiedNodes)
}

// verifyNodes compares verdicts and reasons of all nodes that the reference path
// visited. It also compares totals, if both paths scored the same set of nodes.
func (f *incrementalPath) verifyNodes(snap *framework.Snapshot, differ func(string, any, any) error) error {
	r, v := f.reference, f.engine.View()
	totals := map[int]int64{}
	switch {
	case len(r.feasible) <= 1:
	case f.by == byExtenders:
		if a, b := fmt.Sprint(r.totals), fmt.Sprint(f.s.reference.totals); a != b {
			return differ("totals with extenders", a, b)
		}
	default:
		if len(r.feasible) == v.AllFeasible() {
			for k, n := range r.feasible {
				totals[n.Slot()] = r.totals[k]
			}
		}
		if err := f.verifyTotals(differ); err != nil {
			return err
		}
	}
	for place := range r.verdicts {
		want := r.verdicts[place]
		if want.filter == unvisited {
			continue
		}
		node, got := snap.At(place), v.State(place)
		if want.filter == byExtender {
			if why, ok := f.refusal(node.Slot()); !ok || why.String() != want.status.String() {
				return differ("the extenders' verdict on node "+node.Name(), want.status, why)
			}
			continue
		}
		if got.Feasible != (want.filter == passed) {
			return differ("the verdict on node "+node.Name(), want.status, got.Status)
		}
		if !got.Feasible && (got.At != int(want.filter) || got.Status.String() != want.status.String()) {
			return differ("the reason on node "+node.Name(), want.status, got.Status)
		}
		if total, ok := totals[node.Slot()]; ok && total != got.Total {
			return differ("the total of node "+node.Name(), total, got.Total)
		}
	}
	return nil
}

// refusal is why the extenders do not take a node, if they do not.
func (f *incrementalPath) refusal(slot int) (framework.Status, bool) {
	for _, x := range f.s.reference.extended.answer.refused {
		if x.slot == slot {
			return x.status, true // the last reason counts, as of a node that was asked about alone before
		}
	}
	if f.early.known && f.early.slot == slot && f.early.verdict.filter == byExtender {
		return f.early.verdict.status, true
	}
	return framework.Status{}, false
}

// verifyNamed compares verdicts and totals of the nodes that PreFilters named, and that
// there are no others.
func (f *incrementalPath) verifyNamed(snap *framework.Snapshot, differ func(string, any, any) error) error {
	named := map[int]verdict{}
	for _, x := range f.named {
		named[x.place] = x.verdict
	}
	for place, want := range f.reference.verdicts {
		got, ok := named[place]
		if !ok {
			got.filter = excluded
		}
		if got.filter != want.filter || want.filter >= 0 && got.status.String() != want.status.String() {
			return differ("the verdict on node "+snap.At(place).Name(), want, got)
		}
	}
	if r := f.reference; len(r.feasible) > 1 {
		if a, b := fmt.Sprint(r.totals), fmt.Sprint(f.s.reference.totals); a != b {
			return differ("the totals of the named nodes", a, b)
		}
	}
	return nil
}

// verifyTotals compares the totals of all nodes that the search found, also of a
// sample, in the order of the search.
func (f *incrementalPath) verifyTotals(differ func(string, any, any) error) (err error) {
	r, k := f.reference, 0
	f.engine.View().Totals(func(n *framework.NodeInfo, total int64) bool {
		switch {
		case k >= len(r.feasible):
			err = differ("the number of feasible nodes", len(r.feasible), k+1)
		case n.Slot() != r.feasible[k].Slot():
			err = differ(fmt.Sprintf("feasible node %d", k), r.feasible[k].Name(), n.Name())
		case total != r.totals[k]:
			err = differ("the total of node "+n.Name(), r.totals[k], total)
		}
		k++
		return err == nil
	})
	return err
}

// replay writes down the state at a decision.
func (f *incrementalPath) replay(snap *framework.Snapshot, pod *framework.PodInfo, d Decision) []byte {
	type nodeAndPods struct {
		Node *api.Node  `json:"node"`
		Pods []*api.Pod `json:"pods"`
	}
	moment := struct {
		Profile string        `json:"profile"`
		Seed    uint64        `json:"seed"`
		Number  uint64        `json:"number"`
		Start   int           `json:"start"`
		Pod     *api.Pod      `json:"pod"`
		Nodes   []nodeAndPods `json:"nodes"`
	}{f.s.profile.Name, f.s.profile.Seed, d.Number, d.start, pod.Pod, nil}
	for _, n := range snap.All() {
		entry := nodeAndPods{Node: n.Node}
		for _, p := range n.Pods {
			entry.Pods = append(entry.Pods, p.Pod)
		}
		moment.Nodes = append(moment.Nodes, entry)
	}
	text, err := json.Marshal(moment)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}
