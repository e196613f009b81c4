package gang

import (
	"fmt"
	"slices"
	"strings"
)

// How a refusal is explained: by the domain closest to success.

// noDomain reports that no node has the labels of all levels.
func (a *attempt) noDomain() {
	o := a.out
	o.Status, o.Proved = NoDomain, true
	o.Text = "no node has the labels " + strings.Join(a.keys, ", ")
	a.leaveAll()
}

// refuseOwn reports that the group stands nowhere.
func (a *attempt) refuseOwn() error {
	o := a.out
	best := slices.MinFunc(o.Trials, byCloseness)
	o.Status, o.GaveUp = Short, a.gaveUp
	o.Proved = true
	for _, t := range o.Trials {
		o.Proved = o.Proved && (t.Bound != "" || t.searched)
	}
	if len(best.Left) == 0 && len(best.Placed) == 0 {
		if err := a.explore(best); err != nil {
			return err
		}
	}
	a.finish(best)
	o.Text = a.explain(best)
	return nil
}

// explore tries the pods of a group in a domain that a bound ruled out, to find the first
// one that is refused.
func (a *attempt) explore(t *Trial) error {
	mark := a.snap.Begin()
	defer a.snap.Rollback(mark)
	a.sched.Seek(a.position)
	tried := newTrial(t.domain)
	for i := range a.g.Pods {
		ok, err := a.try(t.domain, i, tried)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	t.Placed, t.Left = tried.Placed, tried.Left
	t.Pods = max(t.Pods, min(len(tried.Placed), a.g.need()))
	if a.room != nil {
		t.Pods = min(t.Capacity, len(a.g.Pods))
	}
	return nil
}

// explain is the text of a refusal: the domain closest to success, and what is missing.
func (a *attempt) explain(t *Trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s takes %d of %s", t.describe(), t.Pods, several(a.g.need(), "pod"))
	fmt.Fprintf(&b, "; %s", a.reason(t))
	if m := t.Missing; m != nil && m.Nodes > 0 {
		fmt.Fprintf(&b, " Missing room for %s: %s like its largest.", several(m.Pods, "pod"), several(m.Nodes, "empty node"))
	}
	for i, n := range a.root.lacking {
		if n == 0 {
			continue
		}
		if !strings.HasSuffix(b.String(), ".") {
			b.WriteByte('.')
		}
		verb := "have"
		if n == 1 {
			verb = "has"
		}
		fmt.Fprintf(&b, " %s %s no label %s.", several(n, "node"), verb, a.keys[i])
	}
	return b.String()
}

// reason says what keeps the group from standing in the domain: the first pod that was
// refused, or else what divides pods that fit each by itself.
func (a *attempt) reason(t *Trial) string {
	for _, l := range t.Left {
		if l.Err != nil {
			return fmt.Sprintf("%s: %s", l.Pod, l.Err)
		}
	}
	switch {
	case a.g.sliced():
	case t.Bound != "":
		return t.Bound
	default:
		return fmt.Sprintf("the search ended after %s", several(a.steps, "step"))
	}
	var parts []string
	for _, l := range a.g.Topology {
		if l.Slice > 0 {
			parts = append(parts, fmt.Sprintf("every slice of %s must be in one %s", several(l.Slice, "pod"), nameOfKey(l.Key)))
		}
	}
	return strings.Join(parts, ", ")
}

// several is a number of things, as text.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
